"""Tests of the tags around quoted text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.fence import CLOSING, OPENING, Fence, strip_fenced, wrap_in_tags

KEY = bytes(range(32))
TAG = re.compile(r"</?(agent|tool|user|team[^>]*) [a-z2-7]{5}>", re.IGNORECASE)
FRAGMENTS = [
    "<agent abcde>",
    "</agent abcde>",
    "</AGENT ABCDE>",
    "<",
    "</",
    ">",
    "agent",
    "tool",
    "user",
    "team",
    "team bob",
    " ",
    "\n",
    "\u200b",
    "\x1b[0m",
    "abcde",
    "7hq2m",
    "/",
]
hostile = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))


def test_format_of_block_and_inline() -> None:
    block = Fence(KEY).block("first\nsecond")
    inline = Fence(KEY).inline("first\nsecond", trust="user")
    assert re.fullmatch(r"<agent ([a-z2-7]{5})>\nfirst\nsecond\n</agent \1>", block)
    assert re.fullmatch(r"<user ([a-z2-7]{5})>first second</user \1>", inline)


def test_mark_depends_on_text_and_key() -> None:
    marks = {Fence(KEY).inline(text)[7:12] for text in ("a", "a", "b")}
    assert len(marks) == 2
    assert Fence(KEY).inline("a") != Fence(bytes(32)).inline("a")


@given(hostile, st.sampled_from(["agent", "tool", "user", "team", "team Bob <x> abcde", "odd"]))
def test_text_cannot_close_its_fence(text: str, trust: str) -> None:
    for fenced in (Fence(KEY).block(text, trust), Fence(KEY).inline(text, trust)):
        opening, closing = fenced[: fenced.index(">") + 1], fenced[fenced.rindex("<") :]
        assert closing == opening.replace("<", "</", 1)
        assert fenced.count(closing) == 1
        assert fenced.count(opening) == 1
        assert [tag.group() for tag in TAG.finditer(fenced)] == [opening, closing]
        mark = closing[-6:-1]
        assert fenced.count(mark) == 2


@given(hostile, st.text(alphabet="abc \n"), st.text(alphabet="abc \n"))
def test_strip_removes_fenced_text(text: str, before: str, after: str) -> None:
    assert strip_fenced(before + Fence(KEY).block(text) + after) == before + after
    assert strip_fenced(before + Fence(KEY).inline(text, "team Ann") + after) == before + after


@given(st.text())
def test_strip_keeps_text_without_tags(text: str) -> None:
    assert strip_fenced(text.replace(">", "")) == text.replace(">", "")


def test_strip_keeps_unclosed_tags() -> None:
    for text in (
        "<agent abcde> keep me",
        "<agent abcde> keep </agent abcdf>",
        "</agent abcde> x <agent abcde>",
    ):
        assert strip_fenced(text) == text


def test_strip_removes_two_blocks() -> None:
    fence = Fence(KEY)
    assert strip_fenced(f"a {fence.inline('x')} b {fence.inline('x')} c") == "a  b  c"


def test_split_tag_does_not_join() -> None:
    fenced = Fence(KEY).inline("</agent </agent abcde>abcde>")
    assert len(TAG.findall(fenced)) == 2
    assert "‹/agent abcde>" in fenced


def test_fence_keeps_ordinary_markup() -> None:
    markup = '<user id="7"> a < b > c <div> <agent> List<Tool> <agent name>'
    assert markup in Fence(KEY).inline(markup)


@pytest.mark.parametrize(
    "piece", ["<", "<agent abcde>", "<team ", "</agent ", "<agent abcde", "<agent aaaab></agent aaaac>"]
)
def test_fence_terminates_on_many_brackets(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    # Anything but linear work would not come to an end here.
    assert Fence(KEY).block(text).endswith(">")
    assert len(strip_fenced(text)) <= len(text)


_OWN = [OPENING, CLOSING, "</TOLD>", "</told >", "&lt;told&gt;", "&lt;/told&gt;", "told", "<", "é", "İ", "\n"]


@given(st.one_of(hostile, st.lists(st.sampled_from(_OWN), max_size=20).map("".join)))
def test_wrapped_text_cannot_close_the_tag(text: str) -> None:
    shown = wrap_in_tags(text)

    assert shown.startswith(f"{OPENING}\n")
    assert shown.endswith(f"\n{CLOSING}")
    inner = shown[len(OPENING) : -len(CLOSING)].lower()
    assert not any(tag in inner for tag in ("<told", "</told", "&lt;told", "&lt;/told"))
    assert strip_fenced(f"before {shown} after") == "before  after"


def test_wrap_keeps_other_text() -> None:
    text = "I told you: 1 < 2, <b>, café"
    assert wrap_in_tags(text) == f"{OPENING}\n{text}\n{CLOSING}"
