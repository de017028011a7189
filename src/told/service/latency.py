"""Record how long agents waited for hooks: the latest calls, in one small file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from told.agents.wiring import END, STOP
from told.files import append_lines, read_last_lines
from told.service.calls import HookCall
from told.service.state import make_private_folder, run_file, run_folder

_FILE = "latency"
_MOST = 500  # calls
_TRIM_AT = 32_768  # bytes


@dataclass(frozen=True, slots=True)
class Waited:
    """How long an agent waited for one answer; its name is not kept, since it may be anything."""

    at: int  # ms since 1970
    event: str
    milliseconds: float


def measure(hook: HookCall, read_at: float) -> list[Waited]:
    """Return how long a call took since the client had read it; empty if no agent waited for it."""
    # A call without a session is a test of `told status`.
    if hook.call.event in (STOP, END) or not hook.call.session:
        return []
    milliseconds = round((time.monotonic() - read_at) * 1000, 1)
    return [Waited(time.time_ns() // 1_000_000, hook.call.event, milliseconds)]


def append_waited(home: str, rows: Iterable[Waited]) -> None:
    """Append calls to the file; ignore errors."""
    lines = "".join(f"{one.at} {one.event} {one.milliseconds}\n" for one in rows)
    if not lines or not os.path.isdir(home) or not make_private_folder(run_folder(home)):
        return
    with suppress(OSError):
        append_lines(run_file(home, _FILE), lines, _MOST, _TRIM_AT)


def read_waited(home: str, since: int = 0) -> list[Waited]:
    """Return the latest calls, oldest first; damaged lines are skipped."""
    found = []
    for line in read_last_lines(run_file(home, _FILE), _MOST):
        with suppress(ValueError):
            at, event, milliseconds = line.split()
            found.append(Waited(int(at), event, float(milliseconds)))
    return [one for one in found if one.at >= since]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least a share of all values do not exceed.

    >>> percentile([30, 10, 20, 40], 0.5), percentile([30, 10, 20, 40], 0.95)
    (20, 40)
    """
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]
