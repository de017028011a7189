"""Tests of redacting texts in batches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from told.redact.engine import SEPARATOR, Redactor, redact_all

REDACT = Redactor(bytes(32)).redact
TOKEN = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
texts = st.sampled_from(
    ["", "plain words", TOKEN, f"token: {TOKEN}", "<private>never closed", "</private>", SEPARATOR,
     "password:", "hunter22 is it", "a\rb", "a\r", "x" * 40_000,
     f"-----BEGIN {'PRIVATE'} KEY-----\nMIIEowIBAAKCAQEAk3J9"]
)  # fmt: skip


@given(st.lists(texts, max_size=9))
def test_batch_equals_single_redaction(given: list[str]) -> None:
    assert redact_all(REDACT, given) == [REDACT(text) for text in given]


def test_batch_redacts_many_texts_in_one_call() -> None:
    calls: list[str] = []

    def counted(text: str) -> str:
        calls.append(text)
        return text

    many = [f"text {number}" for number in range(500)]
    assert redact_all(counted, many) == many
    assert len(calls) == 1
