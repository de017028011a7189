"""Find the time that a question names: "yesterday", "last week", "in October", "3 Nov 2025"."""

from __future__ import annotations

import time
from typing import NamedTuple

from told.tables import load_table

DAY = 86_400_000  # ms
NO_END = 1 << 52
_EARLIEST, _LATEST = 10**11, 4 * 10**12  # 1973 and 2096: other times overflow some platforms

_LENGTH = {"h": DAY // 24, "d": DAY, "w": 7 * DAY, "m": 30 * DAY, "y": 365 * DAY}
# "3 weeks ago" is rarely exact.
_TOLERANCE = {"h": DAY // 12, "d": DAY, "w": 3 * DAY, "m": 10 * DAY, "y": 45 * DAY}
# People mention what happened on a day in the week after it.
_BEFORE_DAY, _AFTER_DAY = DAY, 8 * DAY
_AFTER_MONTH = 7 * DAY
_NIGHT = DAY // 4  # a working day ends after midnight

_PUNCTUATION = {ord(char): " " for char in ',;:?!()[]{}<>"“”«»`=*|'} | {0x2019: "'"}

_WORDS = load_table(__file__, "data/dates")
MONTHS = [names.split()[0] for names in _WORDS["months"]]
WEEKDAYS = [names.split()[0] for names in _WORDS["weekdays"]]
_MONTH = {name: number for number, names in enumerate(_WORDS["months"], 1) for name in names.split()}
_WEEKDAY = {name: number for number, names in enumerate(_WORDS["weekdays"]) for name in names.split()}
_DAYS_BACK = {word: int(days) for days, words in _WORDS["days_back"].items() for word in words.split()}
_UNIT = {word: unit for unit, words in _WORDS["units"].items() for word in words.split()}
_COUNT = {word: int(count) for count, words in _WORDS["counts"].items() for word in words.split()}
_LAST, _THIS, _LAST_AFTER, _AGO, _AGO_BEFORE, _SINCE, _BEFORE, _IN, _FRENCH = (
    frozenset(_WORDS[name].split())
    for name in ("last", "this", "last_after", "ago", "ago_before", "since", "before", "in", "french")
)
_IN_TIME = _IN | _SINCE | _BEFORE | _THIS | _LAST


class NamedTime(NamedTuple):
    """The time that a question names."""

    window: tuple[int, int] | None = None  # ms; from, up to
    drop: tuple[str, ...] = ()  # words that only name the time: not searched
    add: str = ""  # the index word of an explicit day
    phrase: str = ""  # the words that name it


class _Span(NamedTuple):
    """A time named by some words of the question."""

    size: int  # words
    start: int
    end: int
    day: str = ""  # the index word of an explicit day
    dated: bool = False  # a date, whose words are indexed with the turns
    margin: int = 0  # ms by which `start` precedes the named time


def day_word(year: int, month: int, day: int) -> str:
    """Return the word under which the turns of a day are indexed."""
    return f"{year:04}{month:02}{day:02}"


def find_time(text: str, now: int) -> NamedTime:
    """Find the time that a question names, relative to `now` (ms)."""
    words, spans = _find_spans(text, now)
    if not spans:
        return NamedTime()
    at, span = spans[0]
    drop = tuple(
        word for word in words[at : at + span.size] if not span.dated or word in _LAST or word in _THIS
    )
    before = _word_before(words, at)
    phrase = " ".join(words[at : at + span.size])
    if len(spans) > 1 and before in ("between", "from", "zwischen", "entre", "von"):
        return NamedTime((span.start, max(span.end, spans[1][1].end)), drop, phrase=phrase)
    if before in _SINCE:
        return NamedTime((span.start, NO_END), (*drop, before), phrase=f"{before} {phrase}")
    if before in _BEFORE:
        return NamedTime((0, span.start + DAY), (*drop, before), phrase=f"{before} {phrase}")
    return NamedTime((span.start, span.end), drop, span.day, phrase)


def find_start(text: str, now: int) -> int | None:
    """Return when the named time starts, without margin; None if none is named."""
    words, spans = _find_spans(text, now)
    if not spans or _word_before(words, spans[0][0]) in _BEFORE:
        return None
    return spans[0][1].start + spans[0][1].margin


def _find_spans(text: str, now: int) -> tuple[list[str], list[tuple[int, _Span]]]:
    """Return the words of a text and its first two times by position."""
    words = [word.strip("'-_/.") for word in text[:1000].lower().translate(_PUNCTUATION).split()]
    clock = Clock(now)
    spans: list[tuple[int, _Span]] = []
    at = 0
    while at < len(words) and len(spans) < 2:
        span = _read_span(words, at, clock)
        if span:
            spans.append((at, span))
        at += span.size if span else 1
    return words, spans


def list_day_words(window: tuple[int, int], now: int, most: int = 40) -> list[str]:
    """Return the index words of a window's days, newest first."""
    start, at = max(window[0], 0), min(window[1], now + DAY, _LATEST) - 1
    days: list[str] = []
    while at >= start and len(days) < most:
        day = time.localtime(at // 1000)
        days.append(day_word(day.tm_year, day.tm_mon, day.tm_mday))
        at = _day_start(day.tm_year, day.tm_mon, day.tm_mday) - 1
    return days


def find_weekday(name: str) -> int | None:
    """Return the number of a weekday, from Monday; None if it is none."""
    return _WEEKDAY.get(name)


def find_month(name: str) -> int | None:
    """Return the number of a month; None if it is none."""
    return _MONTH.get(name)


class Clock:
    """The local calendar at the time of the question."""

    def __init__(self, now: int) -> None:
        now = min(max(now, _EARLIEST), _LATEST)
        local = time.localtime(now // 1000)
        self.now = now
        self.year, self.month, self.date = local.tm_year, local.tm_mon, local.tm_mday
        self.weekday = local.tm_wday

    def day(self, offset: int) -> int:
        """Return the start of the day `offset` days from today."""
        return _day_start(self.year, self.month, self.date + offset)

    @staticmethod
    def start_of(year: int, month: int, date: int) -> int:
        """Return the start of a day; overflowing dates roll over."""
        return _day_start(year, month, date)


def _day_start(year: int, month: int, date: int) -> int:
    """Return the start of a local day; overflowing dates roll over."""
    return int(time.mktime((year, month, date, 0, 0, 0, 0, 0, -1))) * 1000


def _word_before(words: list[str], at: int) -> str:
    """Return the previous word, skipping articles."""
    at -= 1
    while at > 0 and words[at] in ("the", "dem", "der", "den", "le", "la", "el", "o", "a"):
        at -= 1
    return words[at] if at >= 0 else ""


def _read_span(words: list[str], at: int, clock: Clock) -> _Span | None:
    """Read the time that starts at a word."""
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    if word in _DAYS_BACK:
        if word == "hier" and not _FRENCH.intersection(words):  # German for "here"
            return None
        back = _DAYS_BACK[word]
        return _Span(1, clock.day(-back), clock.day(1 - back) + _NIGHT)
    if word in _LAST:
        return _read_last(words, at, clock)
    if word in _THIS:
        return _read_this(after, clock)
    if word in _UNIT and after in _LAST_AFTER:
        return _make_last_unit(_UNIT[word], 2, clock)
    if word in _WEEKDAY and (_word_before(words, at) in _IN_TIME or len(words) == 1):
        start = clock.day(-((clock.weekday - _WEEKDAY[word]) % 7))
        return _Span(1, start, start + DAY + _NIGHT)
    return _read_ago(words, at, clock) or _read_date(words, at, clock)


def _read_last(words: list[str], at: int, clock: Clock) -> _Span | None:
    """Read "last week", "last Monday", "last October", "past 3 days"."""
    after = words[at + 1] if at + 1 < len(words) else ""
    if after in _UNIT:
        return _make_last_unit(_UNIT[after], 2, clock)
    if after in _WEEKDAY:
        start = clock.day(-((clock.weekday - _WEEKDAY[after] - 1) % 7 + 1))
        return _Span(2, start, start + DAY + _NIGHT)
    if after in _MONTH:
        month = _MONTH[after]
        span = _make_month_span(clock.year - (month >= clock.month), month)
        return _Span(2, span.start, span.end, dated=True)
    count = _read_count(after)
    unit = _UNIT.get(words[at + 2], "") if count and at + 2 < len(words) else ""
    if unit not in _LENGTH:
        return None
    margin = _TOLERANCE[unit] // 3
    return _Span(3, clock.now - count * _LENGTH[unit] - margin, NO_END, margin=margin)


def _make_last_unit(unit: str, size: int, clock: Clock) -> _Span | None:
    """Return the last week, month, year, weekend or night."""
    week = clock.day(-clock.weekday)
    if unit == "w":
        return _Span(size, clock.day(-clock.weekday - 7), week + DAY)
    if unit == "m":
        return _Span(size, _day_start(clock.year, clock.month - 1, 1), _day_start(clock.year, clock.month, 4))
    if unit == "y":
        return _Span(size, _day_start(clock.year - 1, 1, 1), _day_start(clock.year, 1, 8))
    if unit == "e":
        saturday = clock.day(-clock.weekday - 2)
        return _Span(size, saturday, saturday + 3 * DAY)
    if unit == "n":
        return _Span(size, clock.day(0) - _NIGHT - DAY // 24, clock.day(0) + _NIGHT)
    return _Span(size, clock.now - 2 * _LENGTH[unit], NO_END, margin=_LENGTH[unit])


def _read_this(after: str, clock: Clock) -> _Span | None:
    """Read "this week", "this month", "this morning", "this Friday"."""
    if after in ("morning", "afternoon", "evening"):
        return _Span(2, clock.day(0), NO_END)
    if after in _WEEKDAY:
        start = clock.day(_WEEKDAY[after] - clock.weekday)
        return _Span(2, start, start + DAY + _NIGHT)
    if after in _MONTH:
        span = _make_month_span(clock.year, _MONTH[after])
        return _Span(2, span.start, span.end, dated=True)
    starts = {
        "w": clock.day(-clock.weekday),
        "m": clock.day(1 - clock.date),
        "y": _day_start(clock.year, 1, 1),
    }
    starts["e"] = clock.day(5 - clock.weekday)
    unit = _UNIT.get(after, "")
    return _Span(2, starts[unit], NO_END) if unit in starts else None


def _read_ago(words: list[str], at: int, clock: Clock) -> _Span | None:
    """Read "3 days ago", "a couple of weeks ago", "vor 3 Tagen", "hace 3 días", "il y a 3 jours"."""
    first = at
    is_before = words[at] in _AGO_BEFORE or (words[at] == "a" and words[max(at - 2, 0) : at] == ["il", "y"])
    if is_before:
        at += 1
    while at + 1 < len(words) and words[at] in ("a", "about") and words[at + 1] in _COUNT:
        at += 1
    count = _read_count(words[at]) if at < len(words) else 0
    at += 1
    if at < len(words) and words[at] == "of":
        at += 1
    unit = _UNIT.get(words[at], "") if count and at < len(words) else ""
    if unit not in _LENGTH:
        return None
    at += 1
    if not is_before:
        if at >= len(words) or words[at] not in _AGO:
            return None
        at += 1
    then = clock.now - count * _LENGTH[unit]
    return _Span(at - first, then - _TOLERANCE[unit], then + _TOLERANCE[unit], margin=_TOLERANCE[unit])


def _read_date(words: list[str], at: int, clock: Clock) -> _Span | None:
    """Read "3 Nov", "Nov 3rd 2025", "October 2025", "in October", "in 2025", "2025-11-03"."""
    word = words[at]
    if not (word in _MONTH or word[0:1].isdigit()):
        return None
    numeric = _read_numeric_day(word)
    if numeric:
        return _make_day_span(1, *numeric)
    after = [*words[at + 1 : at + 4], "", "", ""]
    if word in _MONTH:
        month, day, size = _MONTH[word], _read_ordinal(after[0]), 2
    else:
        of = after[0] in ("of", "de", "do")
        month, day, size = _MONTH.get(after[of], 0), _read_ordinal(word), 2 + of
    if month and day:
        year = _read_year(after[size - 1])
        if year:
            return _make_day_span(size + 1, year, month, day)
        return _make_day_span(size, clock.year - ((month, day) > (clock.month, clock.date)), month, day)
    if word in _MONTH:
        year = _read_year(after[0])
        if year:
            return _make_month_span(year, month, 2)
        if _word_before(words, at) in _IN_TIME or len(words) == 1:
            return _make_month_span(clock.year - (month > clock.month), month)
    elif _read_year(word) and _word_before(words, at) in _IN_TIME:
        year = _read_year(word)
        return _Span(1, _day_start(year, 1, 1), _day_start(year + 1, 1, 8), dated=True)
    return None


def _make_day_span(size: int, year: int, month: int, day: int) -> _Span:
    """Return the span of an explicit day with margins."""
    start, word = _day_start(year, month, day), day_word(year, month, day)
    return _Span(size, start - _BEFORE_DAY, start + _AFTER_DAY, word, dated=True, margin=_BEFORE_DAY)


def _make_month_span(year: int, month: int, size: int = 1) -> _Span:
    """Return a month with its margin."""
    return _Span(size, _day_start(year, month, 1), _day_start(year, month + 1, 1) + _AFTER_MONTH, dated=True)


def _read_count(word: str) -> int:
    """Read a small number in digits or letters; 0 if it is none."""
    return int(word) if word.isdecimal() and len(word) < 4 else _COUNT.get(word, 0)


def _read_year(word: str) -> int:
    """Read a year; 0 if it is none."""
    return int(word) if len(word) == 4 and word.isdecimal() and "1971" <= word <= "2099" else 0


def _read_ordinal(word: str) -> int:
    """Read "3", "3rd" or "3." as a day of a month; 0 if it is none."""
    digits = word[:-2] if word[-2:] in ("st", "nd", "rd", "th") else word
    day = int(digits) if digits.isdecimal() and len(digits) < 3 else 0
    return day if day <= 31 else 0


def _read_numeric_day(word: str) -> tuple[int, int, int] | None:
    """Read 2025-11-03, 2025/11/03, 2025-11-03T10:00 or 3.11.2025."""
    parts = word.partition("t")[0].replace("/", "-").split("-")
    if len(parts) != 3:
        parts = word.split(".")[::-1]
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 5 for part in parts):
        return None
    year, month, day = _read_year(parts[0]), int(parts[1]), int(parts[2])
    return (year, month, day) if year and 1 <= month <= 12 and 1 <= day <= 31 else None
