"""Extra words of the full-text index."""

from __future__ import annotations

import time

import pytest

from told.search.index_text import make_extra_words, make_near_words

MAY_8 = int(time.mktime((2023, 5, 8, 13, 56, 0, 0, 0, -1))) * 1000
DATE = "8 may 2023 monday 20230508"


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("Plain prose. It has Names, ACRONYMS and numbers 42.", ""),
        ("call getUserToken(id)", "get user token"),
        ("class HTTPServer2Factory", "http server2 factory"),
        ("getUserToken gets the user a token", "get"),
        ("fooBar then fooBar and fooBaz", "foo bar baz"),
        ("東京都に行く", "東京 京都 都に に行 行く く"),
        ("猫", "猫"),
        ("Redisを使う", "redis を使 使う う"),
        ("한국어 문서", "한국 국어 어 문서 서"),
        ("สวัสดี", "สว วส สด ด"),
        ("café – “naïve”", ""),
    ],
)
def test_extra_words(text: str, extra: str) -> None:
    assert make_extra_words(text, MAY_8) == f"{DATE} {extra}".strip()


def test_unknown_time_adds_no_date_words() -> None:
    assert make_extra_words("plain", 0) == ""


def test_identifier_parts_are_limited() -> None:
    many = " ".join(f"alpha{chr(97 + n // 26)}{chr(97 + n % 26)}Beta" for n in range(600))
    assert len(make_extra_words(many, 0).split()) <= 120
    assert make_extra_words("aB" * 5000, 0) == ""


def test_near_words_are_not_cut() -> None:
    near = make_near_words("start " + "before " * 100, "after " * 100 + "end")
    assert set(near.split()) == {"before", "after"}
    assert len(near) <= 401
    assert make_near_words("", "next") == "next"
    assert make_near_words("", "") == ""
