"""Tests of redacting stored text again."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from told.redact.engine import Redactor
from told.redact.rescan import (
    Rescanner,
    changed_texts,
    find_removed,
    make_excerpt,
    remove_copies,
    remove_cut_secret,
)
from told.text import clean

SECRET = "hunter-471108"
MARKER = "[secret:own:1a2b]"


def redact(text: str) -> str:
    return re.sub(r"hunter-\d+", MARKER, clean(text))


RESCANNER = Rescanner(redact)
texts = st.lists(
    st.text(max_size=12) | st.sampled_from([SECRET, " ", "[", "]", MARKER, "[private]", "…"]), max_size=8
).map("".join)


def test_keep_text_without_secret_unchanged() -> None:
    for text in ("", "plain", "with\x1b[1m escapes\u200b", f"known {MARKER} before"):
        assert RESCANNER.redact_text(text) == text


def test_redact_until_no_rule_finds_more() -> None:
    rounds = Rescanner(lambda text: text.replace("abc", "b").replace("xbx", "c"))
    assert rounds.redact_text("xabcx") == "c"


@given(st.lists(texts, min_size=1, max_size=4))
@example(["\x98", "hunter-471108\x9c"])
def test_batch_equals_single_rescan(given: list[str]) -> None:
    assert RESCANNER.redact_texts(given) == [RESCANNER.redact_text(one) for one in given]


@given(texts)
def test_removed_secrets_were_in_the_text(text: str) -> None:
    new = RESCANNER.redact_text(text)
    for secret, marker in find_removed(text, new).items():
        assert secret in clean(text)
        assert RESCANNER.redact_text(secret) == marker
        assert marker in new


def test_find_removed_secrets_with_placeholders() -> None:
    other = "hunter-9"
    text = f"{MARKER}: first {SECRET}, then {other}"
    new = text.replace(SECRET, MARKER).replace(other, "[secret:own:ffff]")
    assert find_removed(text, new) == {SECRET: MARKER, other: "[secret:own:ffff]"}
    assert find_removed(SECRET, MARKER) == {SECRET: MARKER}
    assert find_removed("nothing", "nothing") == {}
    assert find_removed(f"{SECRET}hunter-9 rest", f"{MARKER}{MARKER} rest") == {}


def test_remove_copies_of_secrets() -> None:
    value = {"names": ["gate", "Hunter-471108", "471108", "47"], "at": 7, "session": SECRET, "text": "a hun…"}
    assert remove_copies(value, {SECRET: MARKER}, frozenset(("session",))) == {
        "names": ["gate", MARKER, MARKER, "47"], "at": 7, "session": SECRET, "text": "a hun…",
    }  # fmt: skip
    assert remove_copies(f"so {SECRET.upper()}!", {SECRET: MARKER}) == f"so {MARKER}!"


def test_remove_cut_secret_at_end() -> None:
    assert remove_cut_secret("it is hunter-47…", {SECRET: MARKER}) == f"it is {MARKER}…"
    assert remove_cut_secret("it is hunter-47", {SECRET: MARKER}) == "it is hunter-47"
    assert remove_cut_secret("a hunt…", {SECRET: MARKER}) == "a hunt…"


def test_changed_texts_of_json_values() -> None:
    old = {"a": ["x", {"b": "y"}], "c": 1}
    assert list(changed_texts(old, {"a": ["x", {"b": "z"}], "c": 1})) == [("y", "z")]
    assert list(changed_texts(old, old)) == []


@given(texts, texts)
def test_excerpt_never_contains_the_secret(before: str, behind: str) -> None:
    text = clean(f"{before} {SECRET}{behind}")
    shown = make_excerpt(text, RESCANNER.redact_text(text))
    assert SECRET not in shown
    assert len(shown) <= 110


def test_excerpt_shows_place_without_copies() -> None:
    text = "word " * 50 + f"the password is Tr0ub4dor-9x4 and again Tr0ub4dor-9x4 {'more ' * 50}"
    shown = make_excerpt(text, text.replace("is Tr0ub4dor-9x4", f"is {MARKER}"))
    assert "Tr0ub4dor" not in shown
    assert f"the password is {MARKER} and again {MARKER}" in shown


@pytest.mark.parametrize(
    "text",
    [
        "password: hunter2xyz9Q and password: hunter2xyz9Q",
        "ghp_q7Zk2Vw9Xn4Tb6Rm1Hs8Jd3Lf5Gp0Yc2Ke9A in https://me:Zx81kQv0pLm@host/x",
        "<private>the plan</private> for me@example.org",
        "Authorization: Bearer q7Zk2Vw9Xn4Tb6Rm1Hs8Jd3Lf5Gp0Yc2Ke9A",
    ],
)
def test_rescan_with_builtin_rules_is_stable(text: str) -> None:
    rescanner = Rescanner(Redactor(b"k" * 32).redact)
    new = rescanner.redact_text(text)
    assert new != text
    assert rescanner.redact_text(new) == new
