"""Tests of cleaning, shortening and measuring text."""

from __future__ import annotations

import math
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.soak import thinned
from told.text import clean, count_tokens, remove_placeholders, shorten

PIECES = [
    "\x1b[31m",
    "\x1b]0;t",
    "\x07",
    "\x1b\\",
    "\x9b",
    "\x9d",
    "\x9c",
    "\x1bP",
    "\r",
    "\n",
    "\ud83d",
    "\ude00",
    "a",
    "é",
]
hostile = st.one_of(
    st.text(st.characters(codec=None)),
    st.binary().map(lambda raw: raw.decode("latin-1")),
    st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")),
    st.lists(st.sampled_from(PIECES)).map("".join),
)
FORBIDDEN = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x200B, 0x2010), 0x2060, 0xFEFF}


@given(hostile)
@example("\x1b]0;unclosed")
@example("\x9d\x9d\x1b[")
def test_clean_keeps_only_line_feeds_and_tabs(text: str) -> None:
    cleaned = clean(text)
    assert not [c for c in cleaned if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"]
    assert not [c for c in cleaned if ord(c) in FORBIDDEN or 0xE0000 <= ord(c) <= 0xE007F]
    assert clean(cleaned) == cleaned
    cleaned.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], include_characters="\n\t")))
def test_clean_keeps_visible_text(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("dirty", "expected"),
    [
        ("a\x1b[31mred\x1b[0mb", "aredb"),
        ("a\x9b1;31mred\x9b0mb", "aredb"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://e.example/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1bPq#0~~\x1b\\after", "after"),
        ("\x1b(Bplain\x1bcreset", "plainreset"),
        ("\x1b]52;c;never closed", "52;c;never closed"),
        ("a\x1b[31", "a"),
        ("ends with \x1b[0m", "ends with "),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\u2028b", "a\nb"),
        ("nul\x00 bell\x07 del\x7f", "nul bell del"),
        ("\ud83d\ude00 \ud83d \ude00", "😀 \ufffd \ufffd"),
        ("ad\u202emin\u202c \u2066x\u2069", "admin x"),
        ("pass\u200bword\ufeff", "password"),
        ("hi\U000e0069\U000e0067", "hi"),
        (
            "\u00e2\u0080\u009cquoted\u00e2\u0080\u009d and \u00e2\u0080\u009cmore\u00e2\u0080\u009d",
            "âquotedâ and âmoreâ",
        ),
    ],
)
def test_clean_removes_hidden_text(dirty: str, expected: str) -> None:
    assert clean(dirty) == expected


@pytest.mark.parametrize(
    "piece", thinned(["\x1b]", "\x9d", "\x1b[1;", "\x1b", "\x1bP\x1b\\", "\x90x", "\x9b0", "\x1b( "], 4)
)
def test_clean_terminates_on_many_openers(piece: str) -> None:
    assert "\x1b" not in clean(piece * (1_000_000 // len(piece)))


def test_clean_returns_plain_text_itself() -> None:
    text = "ordinary text\n\twith lines" * 1000
    assert clean(text) is text


@given(st.text(), st.integers(-2, 60))
def test_shorten_fits_one_line(text: str, width: int) -> None:
    line = shorten(text, width)
    assert len(line) <= max(width, 0)
    assert len(line.splitlines()) <= 1
    assert "  " not in line


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("  two\n\n words ", 20, "two words"),
        ("exactly ten", 11, "exactly ten"),
        ("cut between the words", 15, "cut between…"),
        ("averyveryverylongword", 10, "averyvery…"),
        ("a averyveryverylongword", 10, "a averyve…"),
        ("word", 0, ""),
        ("word", 1, "…"),
    ],
)
def test_shorten_cuts_between_words(text: str, width: int, expected: str) -> None:
    assert shorten(text, width) == expected


def test_shorten_huge_text() -> None:
    assert shorten("word " * 2_000_000, 20) == "word word word word…"


@given(st.text(st.characters(codec=None)))
def test_count_tokens(text: str) -> None:
    assert count_tokens(text) == math.ceil(len(text.encode("utf-8", "surrogatepass")) / 3.5)


def test_remove_placeholders() -> None:
    assert remove_placeholders("Mail [secret:email:07b2] and [private], not x") == "Mail  and , not x"
    assert remove_placeholders("the secret: plain [secret") == "the secret: plain [secret"
    assert remove_placeholders("cut [secret:email") == "cut "
