"""Find the day that a statement itself gives as its end: "Until Friday, use the mirror"."""

from __future__ import annotations

import re

from told.pattern import lazy_pattern
from told.search.dates import Clock, find_month, find_weekday

_WORD = r"(?:until|till|bis(?: zum)?|jusqu['’](?:au|à)|hasta(?: el)?)"  # noqa: RUF001 - an apostrophe
_NAME = r"[^\W\d]{3,10}"  # of a month or a weekday
_DAY = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}\.? {_NAME}(?: \d{{4}})?"
    rf"|{_NAME} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|{_NAME})"
)
_NEXT = r"(?:(?:next|this|the|nächsten|kommenden|diesen) )?"
# Only at the start or the end: elsewhere it is a part of what the statement says.
_END = lazy_pattern(
    rf"^{_WORD} {_NEXT}({_DAY})(?=,| \w)|\b{_WORD} {_NEXT}({_DAY})(?: only)?\s*[.!]*$", re.IGNORECASE
)
_PARTS = lazy_pattern(r"\d+|[^\W\d]+")


def find_end(text: str, said_at: int) -> int:
    """Return when a statement ends by its own words, in ms; 0 if it names no later day.

    Args:
        text: The statement.
        said_at: When it was said, in ms.
    """
    found = _END.search(" ".join(text.split()))
    if found is None:
        return 0
    named = (found.group(1) or found.group(2)).lower()
    clock = Clock(said_at)
    try:
        end = _read_day(named, clock)
    except (OverflowError, ValueError):
        return 0
    return end if end > said_at else 0


def _read_day(named: str, clock: Clock) -> int:
    """Return the end of a named day; 0 if it is none."""
    parts = _PARTS.findall(named)
    numbers = [int(part) for part in parts if part.isdigit()]
    names = [part for part in parts if not part.isdigit() and part not in ("st", "nd", "rd", "th")]
    if not names and len(numbers) == 3:
        year, month, day = numbers
        return clock.start_of(year, month, day + 1) if 1 <= month <= 12 and 1 <= day <= 31 else 0
    if len(names) != 1:
        return 0
    weekday, named_month = find_weekday(names[0]), find_month(names[0])
    if weekday is not None and not numbers:
        return clock.day(((weekday - clock.weekday - 1) % 7) + 2)
    if named_month is None or not numbers or not 1 <= numbers[0] <= 31:
        return 0
    after = numbers[0] + 1
    if len(numbers) > 1:
        return clock.start_of(numbers[1], named_month, after)
    end = clock.start_of(clock.year, named_month, after)
    return end if end > clock.now else clock.start_of(clock.year + 1, named_month, after)
