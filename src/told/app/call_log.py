"""Log the recent calls of told, for `told health`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from told.files import append_lines, read_last_lines

_LOGGED_CALLS = 100
_TRIM_AT = 16_384  # bytes


class Call(NamedTuple):
    """One logged command."""

    at: int
    command: str
    milliseconds: float
    rows: int
    code: int
    tier: int
    retries: int


def log_call(home: str, call: Call) -> None:
    """Append a call to the log of recent calls."""
    with suppress(OSError):
        append_lines(_path(home), " ".join(map(str, call)) + "\n", _LOGGED_CALLS, _TRIM_AT)


def read_calls(home: str) -> list[Call]:
    """Return the recent calls, oldest first; damaged lines are skipped."""
    calls = []
    for line in read_last_lines(_path(home), _LOGGED_CALLS):
        with suppress(ValueError):
            at, command, took, *numbers = line.split()
            rows, code, tier, retries = map(int, numbers)
            calls.append(Call(int(at), command, float(took), rows, code, tier, retries))
    return calls


def _path(home: str) -> str:
    return os.path.join(home, "calls")
