"""Excerpts of search results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.search.excerpt import highlight, make_excerpt

LONG = "Nothing here. " * 60 + "Then the Redis cache timed out under load.\n\nMore. " + "Nothing there. " * 60


def marked(text: str, *words: str, width: int = 60) -> str:
    part, ranges = make_excerpt(text, words, width)
    return highlight(part, ranges, "[", "]")


def test_excerpt_shows_part_with_most_words() -> None:
    shown = marked(f"redis {LONG}", "redis", "cache", "load")
    assert "[Redis] [cache] timed out under [load]." in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "\n" not in shown


@pytest.mark.parametrize(
    ("text", "word", "shown"),
    [
        ("we cached it", "caching", "we [cached] it"),
        ("the policies", "policy", "the [policies]"),
        ("configuration", "configured", "[configuration]"),
        ("a command", "commit", "a command"),
        ("strict", "string", "strict"),
        ("cat category", "cat", "[cat] category"),
        ("call getUserToken now", "token", "call getUser[Token] now"),
        ("the HTTPServer", "server", "the HTTP[Server]"),
        ("foo_bar", "bar", "foo_[bar]"),
        ("a Résumé", "resume", "a [Résumé]"),
        ("今日は東京都に行く", "東京", "今日は[東京]都に行く"),
        ("İstanbul redis", "redis", "İstanbul [redis]"),
        ("redis", "", "redis"),
    ],
)
def test_excerpt_marks_other_word_forms(text: str, word: str, shown: str) -> None:
    assert marked(text, word) == shown


def test_excerpt_without_match_shows_start() -> None:
    assert marked("First words of a long text " * 9, "redis", width=24) == "First words of a long…"


def test_excerpt_removes_terminal_codes() -> None:
    assert marked("a \x1b[31m redis\x1b[0m\x07 b", "redis") == "a [31m [redis][0m b"


@given(
    st.text(max_size=400),
    st.lists(st.text(min_size=1, max_size=8).map(str.lower), max_size=4),
    st.integers(min_value=1, max_value=80),
)
def test_excerpt_of_any_text_is_short_with_valid_marks(text: str, words: list[str], width: int) -> None:
    part, ranges = make_excerpt(text, words, width)
    assert len(part) <= width + 2
    assert "\n" not in part
    assert all(0 <= start < end <= len(part) for start, end in ranges)
    assert ranges == sorted(ranges)
    assert highlight(part, ranges, "", "") == part
