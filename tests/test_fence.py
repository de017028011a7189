"""Tests of the tags around quoted text."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.soak import points, thinned
from told import fence
from told.fence import (
    CLOSING,
    OPENING,
    Fence,
    defuse_tags,
    defuse_values,
    strip_fenced,
    wrap_in_tags,
)
from told.tables import load_table
from told.text import clean

DATA = Path(__file__).parent / "data" / "fence"

TABLES = load_table(fence.__file__)
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


def load_examples(name: str) -> list[str]:
    """Read one text a line, with Python's escapes."""
    lines = (DATA / f"{name}.txt").read_text(encoding="ascii").splitlines()
    return [codecs.decode(line, "unicode_escape") for line in lines if not line.startswith("# ")]


@pytest.mark.parametrize("text", load_examples("attacks"), ids=ascii)
def test_no_tag_of_a_protocol_passes(text: str) -> None:
    fence = Fence(KEY)
    line = " ".join(clean(text).split())
    assert line not in fence.inline(text)
    assert line not in fence.plain(f"Done. {text}")
    assert clean(text).strip("\n") not in fence.block(text)


@pytest.mark.parametrize("text", load_examples("harmless"), ids=ascii)
def test_ordinary_code_stays_as_it_is(text: str) -> None:
    assert f">{' '.join(text.split())}<" in Fence(KEY).inline(text)
    assert Fence(KEY).plain(text) == " ".join(text.split())


@pytest.mark.parametrize("agent", [*TABLES["agents"], *TABLES["models"]])
def test_every_listed_tag_is_defused(agent: str) -> None:
    tables = TABLES["agents"] | TABLES["models"]
    for name in tables[agent].replace("#", "7").replace("*", "x").split():
        for tag in (f"<{name}>", f"</{name}>", f"<{name.upper()}>") if name[0] != "|" else (f"<{name}|>",):
            assert Fence(KEY).plain(f"a {tag} b") == f"a \u2039{tag[1:]} b"


_TAGS = st.lists(
    st.sampled_from([
        "<", "</", ">", "&lt;", "&amp;", "lt;", "\\u003c", "\\", "%3c", "|", "/", " ", "\uff1c", "\u2039",
        "[", "]", "INST", "system", "-", "_", "reminder", "system-reminder", "task", "s", "agent", "im_end",
        "\u200b", "\ufe0f", "abcde", "x", "=", "told", "ctrl99", "\ud800", "\n",
    ]), max_size=14,
).map("".join)  # fmt: skip


@given(st.one_of(_TAGS, hostile))
def test_defusing_twice_changes_nothing(text: str) -> None:
    fence = Fence(KEY)
    once = fence.defuse(text)
    assert fence.defuse(once) == once
    assert defuse_tags(once) == once
    assert fence.plain(fence.plain(text)) == fence.plain(text)
    assert "\n" not in fence.plain(text)


@given(_TAGS)
def test_defusing_replaces_brackets_only(text: str) -> None:
    made = defuse_tags(text, own=True)
    assert made.count("\u2039") >= text.count("\u2039")
    if made.count("\u2039") == text.count("\u2039"):
        assert made == text


def test_defusing_keeps_values_that_are_not_text() -> None:
    value = {"<task>": ["</system-reminder>", 1, None, {"x": "</agent>"}]}
    assert defuse_values(value) == {"<task>": ["\u2039/system-reminder>", 1, None, {"x": "</agent>"}]}


@pytest.mark.parametrize(
    "piece",
    thinned(
        [
            "<",
            "<agent abcde>",
            "<team ",
            "</agent ",
            "<agent abcde",
            "<agent aaaab></agent aaaac>",
            "&amp;",
            "<system-",
            "<task ",
            "\\u003c",
            "< /",
        ],
        4,
    ),
)
def test_fence_terminates_on_many_brackets(piece: str) -> None:
    text = piece * (points(everyday=60_000, soak=200_000) // len(piece))
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
