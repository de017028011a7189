"""Writes and reads when a checkpoint was written, without what `datetime` costs a hook."""

from __future__ import annotations

import time

_LAST = 253_402_300_799_999  # of the year 9999
_DAY = 86_400_000
_DIGITS = frozenset("0123456789")


def storable(at: int) -> int:
    """Return a time that can be written; 0, unknown, if it cannot."""
    return at if 0 < at <= _LAST else 0


def written(at: int) -> str:
    """Return a time in milliseconds since 1970 as text.

    >>> written(1_794_828_243_007)
    '2026-11-16T11:24:03.007Z'
    """
    seconds, left = divmod(at, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{left:03}Z"


def read(text: str) -> int:
    """Return the time that a text says, as told or a person wrote it; 0 if it says none.

    >>> read("2026-11-16T11:24:03.007Z")
    1794828243007
    >>> read("2026-11-16 13:24 +02:00") == read("2026-11-16T11:24Z")
    True
    >>> read("soon")
    0
    """
    text = text.strip().strip("\"'").upper()
    date, rest = text[:10], text[10:].lstrip("T ")
    year, month, day = (_number(part) for part in (*date.split("-"), "", "", "")[:3])
    if not (1970 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= _days_in(year, month)):
        return 0
    clock, shift = _clock_and_shift(rest.replace(" ", ""))
    at = _days(year, month, day) * _DAY + clock - shift if clock >= 0 else -1
    return storable(at)


def _clock_and_shift(text: str) -> tuple[int, int]:
    """Return the milliseconds since midnight and to UTC; (-1, 0) if it is no time of day."""
    clock, sign, zone = text.removesuffix("Z"), 0, ""
    for mark in "+-":
        if mark in clock:
            clock, _, zone = clock.partition(mark)
            sign = 1 if mark == "+" else -1
    hours, minutes, seconds = (_seconds(part) for part in (*clock.split(":"), "", "", "")[:3])
    if hours > 23_000 or minutes > 59_000 or seconds > 59_999 or min(hours, minutes, seconds) < 0:
        return -1, 0
    zone = zone.replace(":", "")
    shift = (_number(zone[:2]) * 60 + _number(zone[2:4])) * 60_000 if zone else 0
    return hours * 3600 + minutes * 60 + seconds, sign * shift


def _seconds(part: str) -> int:
    """Return a number with up to three decimals, times 1000; -1 if it is none."""
    whole, _, parts = part.partition(".")
    if not (_DIGITS.issuperset(whole) and _DIGITS.issuperset(parts)) or len(whole) > 2:
        return -1
    return _number(whole) * 1000 + _number((parts + "000")[:3])


def _number(text: str) -> int:
    return int(text) if text and len(text) < 5 and _DIGITS.issuperset(text) else 0


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days(year: int, month: int, day: int) -> int:
    """Return how many days a date is after the first of January 1970."""
    year -= month < 3
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
