"""Waits until the machine has time to spare: a hook that others keep from working says nothing."""

from __future__ import annotations

import time

_SPARE = 0.35  # of all cores
_LOOK = 0.4  # seconds
_PATIENCE = 12.0


def wait_for_quiet() -> None:
    """Wait until there is some time to spare, but not for ever; only Linux can say."""
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        idle, total = _times()
        time.sleep(_LOOK)
        later_idle, later_total = _times()
        if total == later_total or (later_idle - idle) / (later_total - total) >= _SPARE:
            return


def _times() -> tuple[int, int]:
    try:
        with open("/proc/stat", encoding="ascii") as file:
            numbers = [int(word) for word in file.readline().split()[1:]]
    except OSError:
        return 0, 0
    return numbers[3], sum(numbers[:8])
