"""What the formats have in common: ids, times and tags."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from told.pattern import lazy_pattern

ID = lazy_pattern(r"m[a-z2-7]{4,40}")  # of a memory
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TIME = 253_402_300_799_999  # the end of the year 9999


def format_time(at: int) -> str:
    """Format a time in ms as ISO text in UTC."""
    then = _EPOCH + timedelta(milliseconds=min(max(at, 0), _MAX_TIME))
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: object) -> int:
    """Parse ISO text to ms since 1970; 0 if it is none."""
    try:
        then = datetime.fromisoformat(text) if isinstance(text, str) else _EPOCH
    except ValueError:
        return 0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0, (then - _EPOCH) // timedelta(milliseconds=1))


def make_tag(name: str) -> str:
    """Return a tag of lower case letters, digits and hyphens; empty if nothing is left."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
