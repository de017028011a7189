"""Get typed values from foreign JSON; a value of another type counts as missing."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from told.jsontext import as_dict, as_list, as_millis, as_text, parse_json

__all__ = [
    "as_count", "as_dict", "as_list", "as_millis", "as_text", "get_dict", "get_dicts", "get_list", "get_text",
    "local_millis", "parse_object",
]  # fmt: skip


def get_text(record: Any, *names: str) -> str:
    """Return the first non-empty text among the named values of a record."""
    if isinstance(record, dict):
        for name in names:
            value = record.get(name)
            if isinstance(value, str) and value:
                return value
    return ""


def get_dict(record: Any, name: str) -> dict[str, Any]:
    """Return a JSON object in a record, else an empty one."""
    return as_dict(as_dict(record).get(name))


def get_list(record: Any, name: str) -> list[Any]:
    """Return a JSON array in a record, else an empty one."""
    return as_list(as_dict(record).get(name))


def get_dicts(record: Any, name: str) -> list[dict[str, Any]]:
    """Return the items of a JSON array in a record, each as an object."""
    return [as_dict(item) for item in get_list(record, name)]


def as_count(value: Any) -> int:
    """Return a number that is not negative; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def local_millis(value: str) -> int:
    """Parse an ISO time in this machine's time zone, or return 0."""
    try:
        return max(0, int(datetime.fromisoformat(value).astimezone().timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0


def parse_object(value: Any) -> dict[str, Any]:
    """Parse a JSON object or its text; return {} for others."""
    return as_dict(parse_json(value) if isinstance(value, (str, bytes)) else value)
