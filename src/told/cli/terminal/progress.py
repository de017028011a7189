"""A progress bar with counts and the time left, on standard error."""

from __future__ import annotations

import shutil
import sys
import time

_BAR = 24  # characters; none on a narrow terminal
_NARROW = 60  # columns
_EVERY_SECONDS = 0.1
_LINE_SECONDS = 10.0  # between lines in a pipe
_GUESS_AFTER = 1.0  # seconds; earlier guesses jump


class ProgressBar:
    """Draws on the terminal's current line; in a pipe, prints a line now and then."""

    def __init__(self) -> None:
        self._is_on = sys.stderr.isatty()
        self._printed = time.monotonic()
        self._began = time.monotonic()
        self._first: float | None = None  # the share already done at the start
        self._drawn = 0.0

    def draw(self, done: float, total: int, text: str) -> None:
        """Draw how much is done, unless that was just drawn."""
        share = min(1.0, done / total) if total else 1.0
        self._first = share if self._first is None else self._first
        now = time.monotonic()
        if not self._is_on:
            if now - self._printed >= _LINE_SECONDS:
                self._printed = now
                sys.stderr.write(f"told: {share:.0%}, {text}{self._time_left(share, now)}\n")
                sys.stderr.flush()
            return
        if now - self._drawn < _EVERY_SECONDS and share < 1:
            return
        self._drawn = now
        columns = shutil.get_terminal_size().columns
        bar = "█" * int(share * _BAR) + "·" * (_BAR - int(share * _BAR)) if columns >= _NARROW else ""
        line = f"{bar} {share:4.0%}  {text}{self._time_left(share, now)}".lstrip()[: columns - 1]
        sys.stderr.write(f"\r{line:<{columns - 1}}")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line, if anything was drawn."""
        if self._drawn:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _time_left(self, share: float, now: float) -> str:
        gone, gained = now - self._began, share - (self._first or 0.0)
        if share >= 1 or gone < _GUESS_AFTER or gained <= 0:
            return ""
        seconds = gone * (1 - share) / gained
        return f", {seconds / 60:,.0f} min left" if seconds >= 100 else f", {seconds:.0f} s left"
