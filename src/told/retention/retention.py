"""Find and archive unused memories, and restore archived ones.

Nothing is deleted here. Locked and confirmed memories are never archived: the journal's fold ignores it.

The retention clock ignores clock jumps: once a day a tick in the journal counts the elapsed time, since the
tick before the smaller of what the clock says and how long the machine has been running. A clock that jumps
changes the first, never the second. A tick also notes the last known operation of each machine, so an
operation's age is counted from the first tick that knows it, not from its own timestamp.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from told.errors import ToldError
from told.files import open_regular, write_private
from told.journal.file_journal import FileJournal
from told.journal.files import ARCHIVE, RESTORE, SET, STRANGER
from told.journal.protocol import Journal
from told.journal.transitions import usage_snapshot
from told.memories.caller import Caller
from told.memories.change import OPEN, read_proposals
from told.memories.journal_writer import JournalWriter
from told.recall.filters import MIN_CONFIDENCE
from told.recall.shown_log import move_shown_to_journal
from told.settings import Settings
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    CAPTURE,
    DECISION,
    FACT,
    OBSERVATION,
    SUPERSEDED,
    TEAM,
    TOOL,
    USER,
    WARNING,
    IdleMemory,
    Memory,
)

LIVED = "lived"  # journal topic of ticks
DAY = 86_400_000  # ms
_MAX_STEP = 7 * DAY  # counted by one tick, so nothing expires right after a long break

CANDIDATE_DAYS = 60  # after which a candidate that nothing confirmed is dismissed
MIN_DAYS_AFTER_USE = 90  # for memories that were shown or followed
# Retention windows that a memory may go unused.
SHORT, MEDIUM, LONG = 1, 2, 4
_FIRST_DAYS = 2
_BATCH = 200  # memories read, or written, at once

_STAMP = "hook.faded"  # file with the day on which the job last ran
_UNFINISHED = b"+"  # follows the day if a hook ran out of time; the background sweep does the rest
_LATEST_START, _DEADLINE = 0.13, 0.2  # seconds after the hook began
_HOOK_LIMIT = 10  # memories
_MAX_JOURNAL = 20_000_000  # bytes that a hook can read through in time


@dataclass(frozen=True, slots=True)
class Tick:
    """One counted day."""

    number: int  # from 1
    elapsed: int  # ms since the first tick, at least
    clock: int  # wall clock
    uptime: int
    seen: dict[str, int]  # last known operation by machine


class RetentionClock:
    """Tell how much time has passed since an operation, at least."""

    def __init__(self, ticks: list[Tick]) -> None:
        """Create a clock from its ticks, oldest first."""
        self.first = ticks[0] if ticks else None
        self.last = ticks[-1] if ticks else None
        self.now = ticks[-1].elapsed if ticks else 0
        self._ticks = ticks
        self._seen: dict[str, list[int]] = {}

    def since(self, machine: str, number: int) -> int:
        """Return the ms since an operation; 0 if no tick has seen it."""
        if machine not in self._seen:
            numbers = (one.seen.get(machine, 0) for one in self._ticks)
            self._seen[machine] = list(accumulate(numbers, max))
        first = bisect_left(self._seen[machine], number)
        return self.now - self._ticks[first].elapsed if first < len(self._ticks) else 0


def read_clock(journal: Journal, memories: Memories) -> RetentionClock:
    """Read the ticks of this machine."""
    notes = memories.noted(LIVED)
    if not notes:
        return RetentionClock([])
    own = f"{journal.machine}."
    ticks = (_parse_tick(name, notes[name]) for name in sorted(notes) if name.startswith(own))
    return RetentionClock([tick for tick in ticks if tick])


def tick(writer: JournalWriter, uptime: int | None = None) -> RetentionClock:
    """Count the time since the last tick, at most once a day."""
    clock = read_clock(writer.journal, writer.memories)
    last = clock.last
    if last is not None and last.clock // DAY == writer.now // DAY:
        return clock
    uptime = read_uptime() if uptime is None else uptime
    passed = _time_passed(last, writer.now, uptime) if last else 0
    number = last.number + 1 if last else 1
    seen = " ".join(
        f"{machine}:{known}" for machine, known in sorted(_last_operations(writer.memories).items())
    )
    note = f"{clock.now + passed} {writer.now} {uptime} {seen}"
    writer.begin_group()
    writer.add(SET, "", **{SET: {LIVED: {f"{writer.journal.machine}.{number:06}": note}}})
    writer.write(sync=False)
    return read_clock(writer.journal, writer.memories)


def read_uptime() -> int:
    """Return how long the machine has been running, in ms, with sleep where counted."""
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):
        if hasattr(time, name):
            return int(time.clock_gettime(getattr(time, name)) * 1000)
    return time.monotonic_ns() // 1_000_000


def _time_passed(last: Tick, clock: int, uptime: int) -> int:
    """Return the ms since a tick, at least."""
    # A smaller uptime means a restart: the machine has run at least that long since the tick.
    running = uptime - last.uptime if uptime >= last.uptime else uptime
    return max(0, min(clock - last.clock, running, _MAX_STEP))


def _last_operations(memories: Memories) -> dict[str, int]:
    by_series: dict[str, int] = {}
    for (series, _), position in memories.positions().items():
        by_series[series] = max(position.number, by_series.get(series, 0))
    seen: dict[str, int] = {}
    for series, number in by_series.items():
        machine = series.partition("@")[0]
        seen[machine] = min(number, seen.get(machine, number))  # with two copies, what both have
    return seen


def _parse_tick(name: str, value: str) -> Tick | None:
    try:
        elapsed, clock, uptime, *pairs = value.split()
        seen = {machine: int(number) for machine, _, number in (pair.partition(":") for pair in pairs)}
        return Tick(int(name.rpartition(".")[2]), int(elapsed), int(clock), int(uptime), seen)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class UnusedMemory:
    """A memory that may be archived."""

    memory: IdleMemory
    days: int  # unused, at least
    reason: str

    @property
    def why(self) -> str:
        """Return the reason that the journal keeps."""
        return f"{self.reason}, not needed for {self.days} days"


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The current time, by the wall clock and by the retention clock."""

    now: int
    elapsed: RetentionClock
    # Count memories from sessions older than told from when they were said; only the user may ask for that.
    from_said: bool = False


def retention_windows(memory: IdleMemory | Memory, now: int) -> tuple[int, str]:
    """Return how many windows a memory may go unused, and its category."""
    if memory.status != ACTIVE:
        return SHORT, "replaced" if memory.status == SUPERSEDED else memory.status
    if memory.expires and memory.expires <= now:
        return SHORT, "expired"
    if memory.alpha / (memory.alpha + memory.beta) < MIN_CONFIDENCE:
        return SHORT, "it did not help"
    if memory.trust != USER:
        return SHORT, {AGENT: "an agent's word", TOOL: "from files or tools"}.get(
            memory.trust, "not your word"
        )
    if memory.kind == OBSERVATION:
        return SHORT, memory.kind
    is_medium = memory.kind in (FACT, DECISION) and WARNING not in memory.marks
    return (MEDIUM if is_medium else LONG), memory.kind


def ms_until_archive(memory: IdleMemory, clock: ClockReading, days: int) -> int:
    """Return the ms until a memory, neither locked nor confirmed, may be archived."""
    window = retention_windows(memory, clock.now)[0] * days
    if memory.shown or memory.followed:
        window = max(window, MIN_DAYS_AFTER_USE)
    return window * DAY - _ms_unused(memory, clock)


def find_unused(
    journal: Journal,
    memories: Memories,
    clock: ClockReading,
    days: int,
    *,
    limit: int = -1,
    deadline: float = 0.0,
) -> list[UnusedMemory]:
    """Return the memories that may be archived, longest unused first; none for 0 days."""
    found: list[UnusedMemory] = []
    if days <= 0:
        return found
    proposed: frozenset[str] | None = None
    since = clock.now + 1 if clock.from_said else clock.now - days * DAY
    for batch in _batches(memories.idle(since), deadline):
        unused = [one for one in batch if _is_own(one) and ms_until_archive(one, clock, days) <= 0]
        if unused and proposed is None:
            waiting = [one for one in read_proposals(journal) if one.decided == OPEN]
            proposed = frozenset(name for one in waiting for name in (one.memory, one.by))
        unused = [one for one in unused if one.id not in (proposed or ())]
        for one in _without_locked_history(memories, unused):
            reason = retention_windows(one, clock.now)[1]
            found.append(UnusedMemory(one, _ms_unused(one, clock) // DAY, reason))
            if len(found) == limit:
                return found
    return found


def ms_until_next_archive(memories: Memories, clock: ClockReading, days: int) -> int | None:
    """Return the ms until the next memory may be archived; None if there is none."""
    if days <= 0:
        return None
    times = (ms_until_archive(one, clock, days) for one in memories.idle(1 << 62) if _is_own(one))
    return min((one for one in times if one > 0), default=None)


def archive(writer: JournalWriter, found: Sequence[UnusedMemory], *, sync: bool = True) -> None:
    """Archive memories; one undo restores them all."""
    writer.begin_group()
    for number, one in enumerate(found, 1):
        writer.add(ARCHIVE, one.memory.id, known=usage_snapshot(one.memory), why=one.why)
        if number % _BATCH == 0:  # release the database now and then
            writer.write(sync=sync)
    writer.write(sync=sync)


def restore(writer: JournalWriter, found: Iterable[Memory]) -> None:
    """Restore archived memories to their former status."""
    for one in found:
        writer.add(RESTORE, one.id)
    writer.write()


def list_archived(memories: Memories) -> list[Memory]:
    """Return the archived memories, longest not said, changed or shown first."""
    found = memories.load(memories.listed(status=ARCHIVED)).values()
    return sorted(found, key=lambda one: (max(one.created, one.updated, one.shown_last), one.created, one.id))


def archive_unused(writer: JournalWriter, days: int, *, limit: int, deadline: float = 0.0) -> bool:
    """Record a tick and archive unused memories; return whether all is done."""
    if days <= 0:
        return True
    clock = ClockReading(writer.now, tick(writer))
    found = find_unused(writer.journal, writer.memories, clock, days, limit=limit, deadline=deadline)
    in_time = not deadline or time.monotonic() < deadline
    if found and in_time:
        archive(writer, found, sync=False)
    return in_time and len(found) < limit


def expire_candidates(writer: JournalWriter, clock: ClockReading, *, limit: int = -1) -> int:
    """Dismiss the candidates that nothing confirmed in 60 days; return how many."""
    window = CANDIDATE_DAYS * DAY
    idle = writer.memories.idle_candidates(clock.now - window)
    found = [one for one in idle if _ms_unused(one, clock) >= window]
    found = found[:limit] if limit > 0 else found
    writer.begin_group()
    for one in found:
        writer.add("reject", one.id, expired=True, why=f"not confirmed in {CANDIDATE_DAYS} days")
    writer.write(sync=False)
    return len(found)


def is_archive_due(home: str, now: int, *, hurry: bool = False) -> bool:
    """Return whether the job has not finished today; in a hurry, not even started."""
    try:
        with open_regular(os.path.join(home, _STAMP)) as file:
            stamp = file.read(20)
    except OSError:
        return True
    return (stamp.removesuffix(_UNFINISHED) if hurry else stamp) != b"%d" % (now // DAY)


def archive_in_hook(memories: Memories, settings: Settings, now: int, began: float) -> None:
    """Archive a few unused memories if the hook, which began then, has time left."""
    home, days = settings.home, settings.retention_days
    if settings.problem or not days or not is_archive_due(home, now, hurry=True):
        return
    journal_bytes = sum(one.size for one in memories.positions().values())
    if time.monotonic() > began + _LATEST_START or journal_bytes > _MAX_JOURNAL:
        return
    try:
        run_archive_job(home, memories, now, days, limit=_HOOK_LIMIT, deadline=began + _DEADLINE)
    except (ToldError, OSError):
        return  # full, locked or read-only: try another day


def run_archive_job(
    home: str, memories: Memories, now: int, days: int, *, limit: int, deadline: float = 0.0
) -> None:
    """Archive unused memories and dismiss old candidates, after noting what sessions were shown."""
    writer = JournalWriter(FileJournal(home), memories, now, Caller(CAPTURE))
    if days > 0:
        move_shown_to_journal(writer, now)
    if memories.count_candidates():
        expire_candidates(writer, ClockReading(now, tick(writer)), limit=limit)
    if archive_unused(writer, days, limit=limit, deadline=deadline):
        _write_stamp(home, now)
    elif deadline and time.monotonic() > deadline:
        _write_stamp(home, now, _UNFINISHED)


def _write_stamp(home: str, now: int, suffix: bytes = b"") -> None:
    write_private(os.path.join(home, _STAMP), b"%d%b" % (now // DAY, suffix), sync=False)


def _ms_unused(memory: IdleMemory, clock: ClockReading) -> int:
    """Return for how many ms a memory was not used, at least."""
    elapsed = clock.elapsed.since(memory.last_machine, memory.last_number)
    if clock.from_said and _is_from_first_days(memory, clock):
        return min(clock.now - memory.created, elapsed + memory.last_at - memory.created)
    used = max(memory.created, memory.updated, memory.shown_last, memory.last_at)
    return min(clock.now - used, elapsed)


def _is_from_first_days(memory: IdleMemory, clock: ClockReading) -> bool:
    """Return whether a memory was learned in told's first days and not changed since.

    In those days the wall clock is the one that dated the agents' files, so it gives the statement's age.
    """
    is_unchanged = (memory.last_machine, memory.last_number) == (memory.machine, memory.number)
    start = clock.elapsed.first.clock if clock.elapsed.first else clock.now
    return is_unchanged and abs(start - memory.last_at) <= _FIRST_DAYS * DAY


def _is_own(one: IdleMemory) -> bool:
    """Return whether a memory is not a colleague's."""
    return not one.trust.startswith(TEAM) and not one.machine.startswith(STRANGER)


def _batches(every: Iterator[IdleMemory], deadline: float) -> Iterator[list[IdleMemory]]:
    batch: list[IdleMemory] = []
    for one in every:
        batch.append(one)
        if len(batch) == _BATCH:
            yield batch
            batch = []
            if deadline and time.monotonic() > deadline:
                return
    yield batch


def _without_locked_history(memories: Memories, found: list[IdleMemory]) -> list[IdleMemory]:
    """Drop memories that superseded a locked one."""
    superseded = memories.superseded(one.id for one in found)
    old = memories.get(name for names in superseded.values() for name in names)
    kept = {
        new for new, names in superseded.items() if any(name in old and old[name].locked for name in names)
    }
    return [one for one in found if one.id not in kept]
