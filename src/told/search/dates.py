"""The time a question speaks of: "yesterday", "last week", "in October", "since Monday", "3 Nov 2025"."""

from __future__ import annotations

import time

from told.record import record
from told.search import date_words as say

DAY = 86_400_000
FAR = 1 << 52  # the end of a window that has none
_EARLIEST, _LATEST = 10**11, 4 * 10**12  # 1973 and 2096: no clock is asked about other times

_LENGTH = {"h": DAY // 24, "d": DAY, "w": 7 * DAY, "m": 30 * DAY, "y": 365 * DAY}
# "3 weeks ago" is rarely meant to the day.
_ROUGH = {"h": DAY // 12, "d": DAY, "w": 3 * DAY, "m": 10 * DAY, "y": 45 * DAY}
# What happened on a day is often spoken of in the week after it.
_BEFORE_DAY, _AFTER_DAY = DAY, 8 * DAY
_AFTER_MONTH = 7 * DAY
# A working day ends when one goes to bed.
_NIGHT = DAY // 4

_PUNCTUATION = {ord(char): " " for char in ',;:?!()[]{}<>"“”«»`=*|'} | {0x2019: "'"}


@record
class Moment:
    """The time that a question names."""

    window: tuple[int, int] | None = None  # ms; from, up to
    drop: tuple[str, ...] = ()  # words that say only this, and are not to be looked for
    add: str = ""  # the word under which the turns of the day it names are indexed


@record
class _Span:
    """A time named by some words of the question."""

    size: int  # how many words
    start: int
    end: int
    day: str = ""  # the word of an explicit day
    dated: bool = False  # the words are those of a date, which turns are indexed under
    early: int = 0  # how long before the named time itself it starts, for those who remember roughly


def moment(text: str, now: int) -> Moment:
    """Find the time that a question names, as local time seen from `now` (ms)."""
    words, spans = _spans(text, now)
    if not spans:
        return Moment()
    at, span = spans[0]
    drop = tuple(
        word for word in words[at : at + span.size] if not span.dated or word in say.LAST or word in say.THIS
    )
    before = _word_before(words, at)
    if len(spans) > 1 and before in ("between", "from", "zwischen", "entre", "von"):
        return Moment((span.start, max(span.end, spans[1][1].end)), drop)
    if before in say.SINCE:
        return Moment((span.start, FAR), (*drop, before))
    if before in say.BEFORE:
        return Moment((0, span.start + DAY), (*drop, before))
    return Moment((span.start, span.end), drop, span.day)


def beginning(text: str, now: int) -> int | None:
    """Return when the time that a text names begins, with no margin before it; None if it names none.

    For who says since when, and means it: what is of the day before is not asked for.
    """
    words, spans = _spans(text, now)
    if not spans or _word_before(words, spans[0][0]) in say.BEFORE:
        return None
    return spans[0][1].start + spans[0][1].early


def _spans(text: str, now: int) -> tuple[list[str], list[tuple[int, _Span]]]:
    """Return the words of a text, and the first two times in them with where they begin."""
    words = [word.strip("'-_/.") for word in text[:1000].lower().translate(_PUNCTUATION).split()]
    clock = _Clock(now)
    spans: list[tuple[int, _Span]] = []
    at = 0
    while at < len(words) and len(spans) < 2:
        span = _span(words, at, clock)
        if span:
            spans.append((at, span))
        at += span.size if span else 1
    return words, spans


def days_of(window: tuple[int, int], now: int, most: int = 40) -> list[str]:
    """Return the words under which the days of a window are indexed, the newest `most` of them."""
    start, at = max(window[0], 0), min(window[1], now + DAY, _LATEST) - 1
    days: list[str] = []
    while at >= start and len(days) < most:
        day = time.localtime(at // 1000)
        days.append(say.day_word(day.tm_year, day.tm_mon, day.tm_mday))
        at = _day(day.tm_year, day.tm_mon, day.tm_mday) - 1
    return days


class _Clock:
    """The local calendar around the moment of asking."""

    def __init__(self, now: int) -> None:
        now = min(max(now, _EARLIEST), _LATEST)
        local = time.localtime(now // 1000)
        self.now = now
        self.year, self.month, self.date = local.tm_year, local.tm_mon, local.tm_mday
        self.weekday = local.tm_wday

    def day(self, offset: int) -> int:
        """Return when the day `offset` days from today begins."""
        return _day(self.year, self.month, self.date + offset)


def _day(year: int, month: int, date: int) -> int:
    """Return when a local day begins; months and days beyond the end roll over."""
    return int(time.mktime((year, month, date, 0, 0, 0, 0, 0, -1))) * 1000


def _word_before(words: list[str], at: int) -> str:
    """Return the word before a place, passing over articles."""
    at -= 1
    while at > 0 and words[at] in ("the", "dem", "der", "den", "le", "la", "el", "o", "a"):
        at -= 1
    return words[at] if at >= 0 else ""


def _span(words: list[str], at: int, clock: _Clock) -> _Span | None:
    """Read the time that begins at a word, if one does."""
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in say.DAYS_BACK:
        if word == "hier" and not say.FRENCH.intersection(words):  # German for "here"
            return None
        back = say.DAYS_BACK[word]
        return _Span(1, clock.day(-back), clock.day(1 - back) + _NIGHT)
    if word in say.LAST:
        return _last(words, at, clock)
    if word in say.THIS:
        return _this(after, clock)
    if word in say.UNIT and after in say.LAST_BEHIND:
        return _last_unit(say.UNIT[word], 2, clock)
    if word in say.WEEKDAY and (_word_before(words, at) in say.IN or len(words) == 1):
        start = clock.day(-((clock.weekday - say.WEEKDAY[word]) % 7))
        return _Span(1, start, start + DAY + _NIGHT)
    return _ago(words, at, clock) or _date(words, at, clock)


def _last(words: list[str], at: int, clock: _Clock) -> _Span | None:
    """Read "last week", "last Monday", "last October", "past 3 days"."""
    after = words[at + 1] if at + 1 < len(words) else ""
    if after in say.UNIT:
        return _last_unit(say.UNIT[after], 2, clock)
    if after in say.WEEKDAY:
        start = clock.day(-((clock.weekday - say.WEEKDAY[after] - 1) % 7 + 1))
        return _Span(2, start, start + DAY + _NIGHT)
    if after in say.MONTH:
        month = say.MONTH[after]
        span = _month(clock.year - (month >= clock.month), month)
        return _Span(2, span.start, span.end, dated=True)
    count = _count(after)
    unit = say.UNIT.get(words[at + 2], "") if count and at + 2 < len(words) else ""
    if unit not in _LENGTH:
        return None
    early = _ROUGH[unit] // 3
    return _Span(3, clock.now - count * _LENGTH[unit] - early, FAR, early=early)


def _last_unit(unit: str, size: int, clock: _Clock) -> _Span | None:
    """Return the last week, month, year, weekend or night."""
    week = clock.day(-clock.weekday)
    if unit == "w":
        return _Span(size, clock.day(-clock.weekday - 7), week + DAY)
    if unit == "m":
        return _Span(size, _day(clock.year, clock.month - 1, 1), _day(clock.year, clock.month, 4))
    if unit == "y":
        return _Span(size, _day(clock.year - 1, 1, 1), _day(clock.year, 1, 8))
    if unit == "e":
        saturday = clock.day(-clock.weekday - 2)
        return _Span(size, saturday, saturday + 3 * DAY)
    if unit == "n":
        return _Span(size, clock.day(0) - _NIGHT - DAY // 24, clock.day(0) + _NIGHT)
    return _Span(size, clock.now - 2 * _LENGTH[unit], FAR, early=_LENGTH[unit])


def _this(after: str, clock: _Clock) -> _Span | None:
    """Read "this week", "this month", "this morning", "this Friday"."""
    if after in ("morning", "afternoon", "evening"):
        return _Span(2, clock.day(0), FAR)
    if after in say.WEEKDAY:
        start = clock.day(say.WEEKDAY[after] - clock.weekday)
        return _Span(2, start, start + DAY + _NIGHT)
    if after in say.MONTH:
        span = _month(clock.year, say.MONTH[after])
        return _Span(2, span.start, span.end, dated=True)
    starts = {"w": clock.day(-clock.weekday), "m": clock.day(1 - clock.date), "y": _day(clock.year, 1, 1)}
    starts["e"] = clock.day(5 - clock.weekday)
    unit = say.UNIT.get(after, "")
    return _Span(2, starts[unit], FAR) if unit in starts else None


def _ago(words: list[str], at: int, clock: _Clock) -> _Span | None:
    """Read "3 days ago", "a couple of weeks ago", "vor 3 Tagen", "hace 3 días", "il y a 3 jours"."""
    first = at
    spoken_before = words[at] in say.AGO_BEFORE or (
        words[at] == "a" and words[max(at - 2, 0) : at] == ["il", "y"]
    )
    if spoken_before:
        at += 1
    while at + 1 < len(words) and words[at] in ("a", "about") and words[at + 1] in say.COUNT:
        at += 1
    count = _count(words[at]) if at < len(words) else 0
    at += 1
    if at < len(words) and words[at] == "of":
        at += 1
    unit = say.UNIT.get(words[at], "") if count and at < len(words) else ""
    if unit not in _LENGTH:
        return None
    at += 1
    if not spoken_before:
        if at >= len(words) or words[at] not in say.AGO:
            return None
        at += 1
    then = clock.now - count * _LENGTH[unit]
    return _Span(at - first, then - _ROUGH[unit], then + _ROUGH[unit], early=_ROUGH[unit])


def _date(words: list[str], at: int, clock: _Clock) -> _Span | None:
    """Read "3 Nov", "Nov 3rd 2025", "October 2025", "in October", "in 2025", "2025-11-03"."""
    word = words[at]
    if not (word in say.MONTH or word[0:1].isdigit()):
        return None
    numeric = _numeric_day(word)
    if numeric:
        return _explicit(1, *numeric)
    after = [*words[at + 1 : at + 4], "", "", ""]
    if word in say.MONTH:
        month, day, size = say.MONTH[word], _ordinal(after[0]), 2
    else:
        of = after[0] in ("of", "de", "do")
        month, day, size = say.MONTH.get(after[of], 0), _ordinal(word), 2 + of
    if month and day:
        year = _year(after[size - 1])
        if year:
            return _explicit(size + 1, year, month, day)
        return _explicit(size, clock.year - ((month, day) > (clock.month, clock.date)), month, day)
    if word in say.MONTH:
        year = _year(after[0])
        if year:
            return _month(year, month, 2)
        if _word_before(words, at) in say.IN or len(words) == 1:
            return _month(clock.year - (month > clock.month), month)
    elif _year(word) and _word_before(words, at) in say.IN:
        year = _year(word)
        return _Span(1, _day(year, 1, 1), _day(year + 1, 1, 8), dated=True)
    return None


def _explicit(size: int, year: int, month: int, day: int) -> _Span:
    """Return an explicit day with its margins."""
    start, word = _day(year, month, day), say.day_word(year, month, day)
    return _Span(size, start - _BEFORE_DAY, start + _AFTER_DAY, word, dated=True, early=_BEFORE_DAY)


def _month(year: int, month: int, size: int = 1) -> _Span:
    """Return a month with its margin."""
    return _Span(size, _day(year, month, 1), _day(year, month + 1, 1) + _AFTER_MONTH, dated=True)


def _count(word: str) -> int:
    """Read a small number in digits or letters; 0 when it is none."""
    return int(word) if word.isdecimal() and len(word) < 4 else say.COUNT.get(word, 0)


def _year(word: str) -> int:
    """Read a year; 0 when it is none."""
    return int(word) if len(word) == 4 and word.isdecimal() and "1971" <= word <= "2099" else 0


def _ordinal(word: str) -> int:
    """Read "3", "3rd" or "3." as a day of a month; 0 when it is none."""
    digits = word[:-2] if word[-2:] in ("st", "nd", "rd", "th") else word
    day = int(digits) if digits.isdecimal() and len(digits) < 3 else 0
    return day if day <= 31 else 0


def _numeric_day(word: str) -> tuple[int, int, int] | None:
    """Read 2025-11-03, 2025/11/03, 2025-11-03T10:00 or 3.11.2025."""
    parts = word.partition("t")[0].replace("/", "-").split("-")
    if len(parts) != 3:
        parts = word.split(".")[::-1]
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 5 for part in parts):
        return None
    year, month, day = _year(parts[0]), int(parts[1]), int(parts[2])
    return (year, month, day) if year and 1 <= month <= 12 and 1 <= day <= 31 else None
