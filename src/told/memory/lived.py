"""Counts the time that has surely passed, whatever the clock says: by it alone nothing ever fades too early.

Once a day a tick stands in the journal. It says how much time has passed since the first one: since the tick
before, no more than the clock says, and no more than the machine has been running since. A clock that jumps
moves the first, and never the second. A tick also says how far each journal had come, so that the age of an
operation is counted from the first tick that knows it, and not from the time that is written in it.
"""

from __future__ import annotations

import time
from _bisect import bisect_left
from itertools import accumulate

from told.journal.machine import machine_of
from told.journal.model import SET
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory.pen import Pen
    from told.store.memories import Memories

LIVED = "lived"  # the topic of the notes that are ticks
DAY = 86_400_000
_MOST = 7 * DAY  # that one tick counts: who comes back after a long time finds everything as it was
_DIGITS = 6
_FIGURES = 3


@record
class Tick:
    """One day that was counted."""

    place: int  # the first is 1
    lived: int  # ms that have passed since the first one, at least
    clock: int  # what the clock said
    running: int  # how long the machine was running
    seen: dict[str, int]  # by machine, the latest operation that was known


class Lived:
    """How much time has surely passed since an operation."""

    def __init__(self, ticks: list[Tick]) -> None:
        """Take the ticks, the first one first."""
        self._ticks = ticks
        self.now = ticks[-1].lived if ticks else 0
        self._counted = [one.lived for one in ticks]
        self._known: dict[str, list[int]] = {}

    def since(self, machine: str, number: int) -> int:
        """Return the ms that have passed since an operation; 0 if no tick has seen it."""
        known = self._known.get(machine)
        if known is None:
            # What was seen once stays seen.
            known = list(accumulate((one.seen.get(machine, 0) for one in self._ticks), max))
            self._known[machine] = known
        first = bisect_left(known, number)
        return self.now - self._counted[first] if first < len(known) else 0

    @property
    def first(self) -> Tick | None:
        """The first tick."""
        return self._ticks[0] if self._ticks else None

    @property
    def last(self) -> Tick | None:
        """The latest tick."""
        return self._ticks[-1] if self._ticks else None


def lived(home: str, memories: Memories) -> Lived:
    """Return what was counted so far on this machine."""
    noted = memories.noted(LIVED)
    if not noted:
        return Lived([])
    own = f"{machine_of(home)}."
    ticks = [
        tick for name in sorted(noted) if name.startswith(own) and (tick := _read(name, noted[name]))
    ]  # fmt: skip
    return Lived(ticks)


def tick(pen: Pen, running: int | None = None) -> Lived:
    """Count the time that has passed; at most once a day, by the clock.

    Args:
        pen: Writes it down.
        running: How long the machine has been running, in ms.
    """
    found = lived(pen.home, pen.memories)
    last = found.last
    running = running_for() if running is None else running
    if last is not None and last.clock // DAY == pen.now // DAY:
        return found
    passed = _passed(last, pen.now, running) if last else 0
    new = Tick(last.place + 1 if last else 1, found.now + passed, pen.now, running, _seen(pen.memories))
    pen.begin_act()
    pen.note(SET, "", **{SET: {LIVED: {f"{machine_of(pen.home)}.{new.place:0{_DIGITS}}": _written(new)}}})
    pen.write(sync=False)
    return lived(pen.home, pen.memories)


def running_for() -> int:
    """Return how long the machine has been running, in ms; where the system counts it, asleep as well."""
    try:
        with open("/proc/uptime", "rb") as file:
            return int(float(file.read().split()[0]) * 1000)
    except (OSError, ValueError, IndexError):
        pass
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):
        if hasattr(time, name):
            return int(time.clock_gettime(getattr(time, name)) * 1000)
    return time.monotonic_ns() // 1_000_000


def _passed(last: Tick, clock: int, running: int) -> int:
    """Return how much time has passed since a tick, at least."""
    # One that runs for less long was started since: for as long as it runs, then, at least.
    surely = running - last.running if running >= last.running else running
    return max(0, min(clock - last.clock, surely, _MOST))


def _seen(memories: Memories) -> dict[str, int]:
    """Return the latest operation that is known of each machine."""
    latest: dict[str, int] = {}
    for (series, _), position in memories.positions().items():
        latest[series] = max(position.number, latest.get(series, 0))
    seen: dict[str, int] = {}
    for series, number in latest.items():
        machine = series.partition("@")[0]
        seen[machine] = min(number, seen.get(machine, number))  # of two copies, what both have
    return seen


def _written(tick: Tick) -> str:
    seen = " ".join(f"{machine}:{number}" for machine, number in sorted(tick.seen.items()))
    return f"{tick.lived} {tick.clock} {tick.running} {seen}"


def _read(name: str, value: str) -> Tick | None:
    try:
        place, counted, clock, running = map(int, (name.rpartition(".")[2], *value.split()[:_FIGURES]))
        pairs = [one.partition(":") for one in value.split()[_FIGURES:]]
        return Tick(place, counted, clock, running, {machine: int(number) for machine, _, number in pairs})
    except ValueError:
        return None
