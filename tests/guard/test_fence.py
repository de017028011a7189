"""What is fenced stays inside its fence, whatever it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import told
from told.guard.fence import CLOSING, OPENING, Fence, enclosed, strip_fenced

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


def test_a_block_and_a_line_look_as_documented() -> None:
    block = Fence(KEY).block("first\nsecond")
    inline = Fence(KEY).inline("first\nsecond", trust="user")
    assert re.fullmatch(r"<agent ([a-z2-7]{5})>\nfirst\nsecond\n</agent \1>", block)
    assert re.fullmatch(r"<user ([a-z2-7]{5})>first second</user \1>", inline)


def test_the_mark_is_the_same_for_the_same_text_and_depends_on_text_and_key() -> None:
    marks = {Fence(KEY).inline(text)[7:12] for text in ("a", "a", "b")}
    assert len(marks) == 2
    assert Fence(KEY).inline("a") != Fence(bytes(32)).inline("a")


@given(hostile, st.sampled_from(["agent", "tool", "user", "team", "team Bob <x> abcde", "odd"]))
def test_hostile_text_cannot_close_its_fence(text: str, trust: str) -> None:
    for fenced in (Fence(KEY).block(text, trust), Fence(KEY).inline(text, trust)):
        opening, closing = fenced[: fenced.index(">") + 1], fenced[fenced.rindex("<") :]
        assert closing == opening.replace("<", "</", 1)
        assert fenced.count(closing) == 1
        assert fenced.count(opening) == 1
        assert [tag.group() for tag in TAG.finditer(fenced)] == [opening, closing]
        mark = closing[-6:-1]
        assert fenced.count(mark) == 2


@given(hostile, st.text(alphabet="abc \n"), st.text(alphabet="abc \n"))
def test_own_output_is_recognised_and_leaves_only_what_was_around_it(
    text: str, before: str, after: str
) -> None:
    assert strip_fenced(before + Fence(KEY).block(text) + after) == before + after
    assert strip_fenced(before + Fence(KEY).inline(text, "team Ann") + after) == before + after


@given(st.text())
def test_text_without_tags_is_not_stripped(text: str) -> None:
    assert strip_fenced(text.replace(">", "")) == text.replace(">", "")


def test_an_unclosed_or_wrongly_closed_tag_hides_nothing() -> None:
    for text in (
        "<agent abcde> keep me",
        "<agent abcde> keep </agent abcdf>",
        "</agent abcde> x <agent abcde>",
    ):
        assert strip_fenced(text) == text


def test_two_blocks_are_both_stripped() -> None:
    fence = Fence(KEY)
    assert strip_fenced(f"a {fence.inline('x')} b {fence.inline('x')} c") == "a  b  c"


def test_a_marker_split_around_another_marker_does_not_re_form() -> None:
    fenced = Fence(KEY).inline("</agent </agent abcde>abcde>")
    assert len(TAG.findall(fenced)) == 2
    assert "‹/agent abcde>" in fenced


def test_ordinary_markup_is_left_as_it_was_written() -> None:
    markup = '<user id="7"> a < b > c <div> <agent> List<Tool> <agent name>'
    assert markup in Fence(KEY).inline(markup)


@pytest.mark.parametrize(
    "piece", ["<", "<agent abcde>", "<team ", "</agent ", "<agent abcde", "<agent aaaab></agent aaaac>"]
)
def test_a_megabyte_of_brackets_is_fenced_and_stripped(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    # Anything but linear work would not come to an end here.
    assert Fence(KEY).block(text).endswith(">")
    assert len(strip_fenced(text)) <= len(text)


def test_importing_it_does_not_load_slow_modules() -> None:
    program = "import sys; import told.guard.fence; print(*sys.modules)"
    source = os.path.dirname(os.path.dirname(told.__file__))
    output = subprocess.check_output(
        [sys.executable, "-S", "-c", program], text=True, env={"PYTHONPATH": source}
    )
    assert "told.guard.text" in output.split()
    assert not {"re", "json", "typing", "dataclasses", "hashlib", "pathlib"} & set(output.split())


_OWN = [OPENING, CLOSING, "</TOLD>", "</told >", "&lt;told&gt;", "&lt;/told&gt;", "told", "<", "é", "İ", "\n"]


@given(st.one_of(hostile, st.lists(st.sampled_from(_OWN), max_size=20).map("".join)))
def test_nothing_within_what_told_says_ends_it(text: str) -> None:
    shown = enclosed(text)

    assert shown.startswith(f"{OPENING}\n")
    assert shown.endswith(f"\n{CLOSING}")
    inner = shown[len(OPENING) : -len(CLOSING)].lower()
    assert not any(tag in inner for tag in ("<told", "</told", "&lt;told", "&lt;/told"))
    assert strip_fenced(f"before {shown} after") == "before  after"


def test_what_told_says_is_left_as_it_is_otherwise() -> None:
    assert enclosed("I told you: 1 < 2, <b>, café") == f"{OPENING}\nI told you: 1 < 2, <b>, café\n{CLOSING}"
