"""Text that was stored before a rule existed: what a second look takes out, and what it shows of that."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from told.guard.redact import Redactor
from told.guard.second_look import (
    SecondLook,
    changes,
    excerpt,
    taken_out,
    without_copies,
    without_end,
)
from told.guard.text import clean

SECRET = "hunter-471108"
MARKER = "[secret:own:1a2b]"


def redact(text: str) -> str:
    return re.sub(r"hunter-\d+", MARKER, clean(text))


LOOK = SecondLook(redact)
texts = st.lists(
    st.text(max_size=12) | st.sampled_from([SECRET, " ", "[", "]", MARKER, "[private]", "…"]), max_size=8
).map("".join)


def test_a_text_without_anything_stays_as_it_is_to_the_byte() -> None:
    for text in ("", "plain", "with\x1b[1m escapes\u200b", f"known {MARKER} before"):
        assert LOOK.text(text) == text


def test_it_is_taken_out_until_no_rule_finds_more() -> None:
    rounds = SecondLook(lambda text: text.replace("abc", "b").replace("xbx", "c"))
    assert rounds.text("xabcx") == "c"


@given(st.lists(texts, min_size=1, max_size=4))
@example(["\x98", "hunter-471108\x9c"])
def test_texts_that_are_looked_at_together_give_the_same_as_one_by_one(given: list[str]) -> None:
    assert LOOK.texts(given) == [LOOK.text(one) for one in given]


@given(texts)
def test_what_was_taken_out_stood_there(text: str) -> None:
    new = LOOK.text(text)
    for secret, marker in taken_out(text, new).items():
        assert secret in clean(text)
        assert LOOK.text(secret) == marker
        assert marker in new


def test_what_was_taken_out_is_told_with_what_stands_for_it() -> None:
    other = "hunter-9"
    text = f"{MARKER}: first {SECRET}, then {other}"
    new = text.replace(SECRET, MARKER).replace(other, "[secret:own:ffff]")
    assert taken_out(text, new) == {SECRET: MARKER, other: "[secret:own:ffff]"}
    assert taken_out(SECRET, MARKER) == {SECRET: MARKER}
    assert taken_out("nothing", "nothing") == {}
    assert taken_out(f"{SECRET}hunter-9 rest", f"{MARKER}{MARKER} rest") == {}  # where one ends is not known


def test_copies_that_no_rule_sees_go_with_it() -> None:
    value = {"names": ["gate", "Hunter-471108", "471108", "47"], "at": 7, "session": SECRET, "text": "a hun…"}
    assert without_copies(value, {SECRET: MARKER}, frozenset(("session",))) == {
        "names": ["gate", MARKER, MARKER, "47"], "at": 7, "session": SECRET, "text": "a hun…",
    }  # fmt: skip
    assert without_copies(f"so {SECRET.upper()}!", {SECRET: MARKER}) == f"so {MARKER}!"


def test_half_of_a_secret_at_the_end_of_a_text_that_was_cut() -> None:
    assert without_end("it is hunter-47…", {SECRET: MARKER}) == f"it is {MARKER}…"
    assert without_end("it is hunter-47", {SECRET: MARKER}) == "it is hunter-47"
    assert without_end("a hunt…", {SECRET: MARKER}) == "a hunt…"


def test_what_differs_between_two_values() -> None:
    old = {"a": ["x", {"b": "y"}], "c": 1}
    assert list(changes(old, {"a": ["x", {"b": "z"}], "c": 1})) == [("y", "z")]
    assert list(changes(old, old)) == []


@given(texts, texts)
def test_what_is_shown_never_has_the_secret(before: str, behind: str) -> None:
    text = clean(f"{before} {SECRET}{behind}")
    shown = excerpt(text, LOOK.text(text))
    assert SECRET not in shown
    assert len(shown) <= 110


def test_what_is_shown_has_the_place_and_no_other_copy() -> None:
    text = "word " * 50 + f"the password is Tr0ub4dor-9x4 and again Tr0ub4dor-9x4 {'more ' * 50}"
    shown = excerpt(text, text.replace("is Tr0ub4dor-9x4", f"is {MARKER}"))
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
def test_with_the_real_rules_a_second_look_at_the_result_finds_nothing(text: str) -> None:
    look = SecondLook(Redactor(b"k" * 32).redact)
    new = look.text(text)
    assert new != text
    assert look.text(new) == new
