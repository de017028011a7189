"""Texts that are redacted together come out as if each had been redacted by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from told.guard.redact import Redactor
from told.guard.together import BETWEEN, together

REDACT = Redactor(bytes(32)).redact
TOKEN = "ghp_" + "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"
texts = st.sampled_from(
    ["", "plain words", TOKEN, f"token: {TOKEN}", "<private>never closed", "</private>", BETWEEN, "password:",
     "hunter22 is it", "a\rb", "a\r", "x" * 40_000, f"-----BEGIN {'PRIVATE'} KEY-----\nMIIEowIBAAKCAQEAk3J9"]
)  # fmt: skip


@given(st.lists(texts, max_size=9))
def test_each_text_comes_out_as_if_it_were_alone(given: list[str]) -> None:
    assert together(REDACT, given) == [REDACT(text) for text in given]


def test_many_texts_take_few_calls() -> None:
    calls: list[str] = []

    def counted(text: str) -> str:
        calls.append(text)
        return text

    many = [f"text {number}" for number in range(500)]
    assert together(counted, many) == many
    assert len(calls) == 1
