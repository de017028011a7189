"""Run something when the tests of this process have ended, before Python does."""

from __future__ import annotations

from collections.abc import Callable

_ends: list[Callable[[], object]] = []


def at_end(end: Callable[[], object]) -> None:
    """Run a function after the last test."""
    _ends.append(end)


def end_all() -> None:
    """Run what was registered, the latest first."""
    while _ends:
        _ends.pop()()
