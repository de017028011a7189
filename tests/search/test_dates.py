"""Times that a question names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.search.dates import NO_END, find_start, find_time, list_day_words

# Wednesday.
NOW = int(time.mktime((2026, 11, 11, 15, 0, 0, 0, 0, -1))) * 1000


def window(text: str) -> tuple[str, str] | None:
    """Return the first and the last day of the window that a text names."""
    found = find_time(text, NOW).window
    if found is None:
        return None
    first, last = (
        time.strftime("%Y-%m-%d", time.localtime(at / 1000)) for at in (found[0], min(found[1], NOW * 2) - 1)
    )
    return first, "open" if found[1] == NO_END else last


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what broke today", "2026-11-11", "2026-11-12"),
        ("what did we do yesterday?", "2026-11-10", "2026-11-11"),
        ("last week", "2026-11-02", "2026-11-09"),
        ("the release last month", "2026-10-01", "2026-11-03"),
        ("last weekend", "2026-11-07", "2026-11-09"),
        ("last night", "2026-11-10", "2026-11-11"),
        ("last year", "2025-01-01", "2026-01-07"),
        ("last Monday", "2026-11-09", "2026-11-10"),
        ("last Wednesday", "2026-11-04", "2026-11-05"),
        ("on Friday", "2026-11-06", "2026-11-07"),
        ("since Monday", "2026-11-09", "open"),
        ("since last week", "2026-11-02", "open"),
        ("this week", "2026-11-09", "open"),
        ("this month", "2026-11-01", "open"),
        ("this morning", "2026-11-11", "open"),
        ("in the past 3 days", "2026-11-08", "open"),
        ("3 days ago", "2026-11-07", "2026-11-09"),
        ("two weeks ago", "2026-10-25", "2026-10-31"),
        ("a couple of weeks ago", "2026-10-25", "2026-10-31"),
        ("2 months ago", "2026-09-02", "2026-09-22"),
        ("in October", "2026-10-01", "2026-11-07"),
        ("in December", "2025-12-01", "2026-01-07"),
        ("last november", "2025-11-01", "2025-12-07"),
        ("October 2025", "2025-10-01", "2025-11-07"),
        ("in 2025", "2025-01-01", "2026-01-07"),
        ("2026-11-03", "2026-11-02", "2026-11-10"),
        ("on 3.11.2025", "2025-11-02", "2025-11-10"),
        ("3 Nov", "2026-11-02", "2026-11-10"),
        ("the 3rd of December", "2025-12-02", "2025-12-10"),
        ("Nov 3rd, 2025", "2025-11-02", "2025-11-10"),
        ("before October", "1970-01-01", "2026-10-01"),
        ("between 3 May and 8 June", "2026-05-02", "2026-06-15"),
        ("was war gestern", "2026-11-10", "2026-11-11"),
        ("letzte Woche", "2026-11-02", "2026-11-09"),
        ("vor 3 Tagen", "2026-11-07", "2026-11-09"),
        ("ce que nous avons fait hier", "2026-11-10", "2026-11-11"),
        ("la semaine dernière", "2026-11-02", "2026-11-09"),
        ("il y a 3 jours", "2026-11-07", "2026-11-09"),
        ("la semana pasada", "2026-11-02", "2026-11-09"),
        ("ayer", "2026-11-10", "2026-11-11"),
    ],
)
def test_find_time_returns_window(text: str, first: str, last: str) -> None:
    if text == "before October":
        found = find_time(text, NOW).window
        assert found is not None
        assert found[0] == 0
        first = (window(text) or ("", ""))[0]
    assert window(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("2026-11-03", "2026-11-03 00:00"),
        ("since 3 Nov", "2026-11-03 00:00"),
        ("on 3.11.2025", "2025-11-03 00:00"),
        ("between 3 May and 8 June", "2026-05-03 00:00"),
        ("today", "2026-11-11 00:00"),
        ("yesterday", "2026-11-10 00:00"),
        ("last week", "2026-11-02 00:00"),
        ("last month", "2026-10-01 00:00"),
        ("in October", "2026-10-01 00:00"),
        ("3 days ago", "2026-11-08 15:00"),
        ("two weeks ago", "2026-10-28 15:00"),
        ("past 3 days", "2026-11-08 15:00"),
        ("last hour", "2026-11-11 14:00"),
        ("vor 3 Tagen", "2026-11-08 15:00"),
        ("before October", None),
        ("whenever", None),
    ],
)
def test_find_start_has_no_margin(text: str, begins: str | None) -> None:
    """A question is answered with a margin around the time it names; a limit has none."""
    found = find_start(text, NOW)
    assert begins == (found and time.strftime("%Y-%m-%d %H:%M", time.localtime(found / 1000)))


@pytest.mark.parametrize(
    "text",
    [
        "may I march on",
        "redis timeout",
        "the last commit",
        "was ist hier los",
        "port 8080",
        "2026-13-45",
        "3 errors",
    ],
)
def test_find_time_ignores_ordinary_words(text: str) -> None:
    assert window(text) is None


def test_find_time_adds_index_word_of_explicit_day() -> None:
    assert find_time("2026-11-03", NOW).add == "20261103"
    assert find_time("yesterday", NOW).add == ""


def test_find_time_drops_words_of_relative_time_only() -> None:
    assert find_time("redis 3 days ago", NOW).drop == ("3", "days", "ago")
    assert find_time("redis in October 2025", NOW).drop == ()


def test_list_day_words_starts_with_newest() -> None:
    found = find_time("since Monday", NOW).window
    assert found is not None
    assert list_day_words(found, NOW) == ["20261112", "20261111", "20261110", "20261109"]


@given(st.text(max_size=80), st.integers(min_value=-(10**15), max_value=10**18))
def test_find_time_accepts_any_text(text: str, now: int) -> None:
    for asked in (text, f"last {text}", "3 months ago", "1 jan", "in december"):
        found = find_time(asked, now).window
        assert found is None or found[0] <= found[1]
        begins = find_start(asked, now)
        assert begins is None or (found is not None and found[0] <= begins)
