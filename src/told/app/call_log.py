"""Log the recent calls of told, for `told health`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from told.files import write_private

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
    path = os.path.join(home, "calls")
    with suppress(OSError):
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write((" ".join(map(str, call)) + "\n").encode())
            size = file.tell()
        if size > _TRIM_AT:
            with open(path, "rb") as file:
                recent = file.read().splitlines(keepends=True)[-_LOGGED_CALLS:]
            write_private(path, b"".join(recent))


def read_calls(home: str) -> list[Call]:
    """Return the recent calls, oldest first; damaged lines are skipped."""
    try:
        with open(os.path.join(home, "calls"), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()[-_LOGGED_CALLS:]
    except OSError:
        return []
    calls = []
    for line in lines:
        with suppress(ValueError):
            at, command, took, *numbers = line.split()
            rows, code, tier, retries = map(int, numbers)
            calls.append(Call(int(at), command, float(took), rows, code, tier, retries))
    return calls
