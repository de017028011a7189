"""Archives memories that nobody needs any more, and brings them back as they were. Nothing is deleted here.

What fades, and when, is decided by `left` alone, from a memory, the clock, and the time that has surely
passed. The fold keeps what the user locked or confirmed by itself, whoever wants it archived.
"""

from __future__ import annotations

import time

from told.journal.model import STRANGER
from told.journal.steps import ARCHIVE, RESTORE, archived_as
from told.memory._recall_filters import FADED
from told.memory.lived import DAY, tick
from told.memory.proposals import OPEN, proposals
from told.record import record
from told.store.memory_records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    DECISION,
    FACT,
    OBSERVATION,
    SUPERSEDED,
    TEAM,
    TOOL,
    USER,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from told.memory.lived import Lived
    from told.memory.pen import Pen
    from told.store.memories import Memories
    from told.store.memory_records import Idle, Memory

NEEDED = 90  # days for which what an agent was shown is kept, however short the window
# How many windows a memory may go unneeded.
SHORT, LONGER, LONGEST = 1, 2, 4
_FIRST_DAYS = 2
_FEW = 200  # looked at together
_AT_ONCE = 200  # written together: nobody waits long for the database then


@record
class Fading:
    """A memory that may go to the archive."""

    memory: Idle
    days: int  # that it was not needed, at least
    what: str  # what it is that fades, in a few words

    @property
    def why(self) -> str:
        """The reason, as the journal keeps it."""
        return f"{self.what}, not needed for {self.days} days"


@record
class Clock:
    """What time it is: by the clock, which may be wrong, and by what was counted."""

    now: int
    lived: Lived
    # Count what was learned from sessions older than told itself from when it was said, as only the user may.
    from_said: bool = False


def patience(memory: Idle | Memory, now: int) -> tuple[int, str]:
    """Return how many windows a memory may go unneeded, and what it is."""
    if memory.status != ACTIVE:
        what = "replaced" if memory.status == SUPERSEDED else memory.status
        return SHORT, what
    if memory.expires and memory.expires <= now:
        return SHORT, "expired"
    if memory.alpha / (memory.alpha + memory.beta) < FADED:
        return SHORT, "it did not help"
    if memory.trust != USER:
        by = {AGENT: "an agent's word", TOOL: "from files or tools"}.get(memory.trust, "not your word")
        return SHORT, by
    if memory.kind == OBSERVATION:
        return SHORT, memory.kind
    return (LONGER if memory.kind in (FACT, DECISION) else LONGEST), memory.kind


def left(memory: Idle, clock: Clock, days: int) -> int:
    """Return after how many more ms a memory may fade, at the earliest; 0 or less: now.

    Both have to have gone by since anything happened to it: the time by the clock, and the time that has
    surely passed.

    Args:
        memory: The memory; not locked, and not confirmed.
        clock: What time it is.
        days: The window.
    """
    window = patience(memory, clock.now)[0] * days
    if memory.shown or memory.followed:
        window = max(window, NEEDED)
    return window * DAY - _unneeded(memory, clock)


def fading(
    home: str, memories: Memories, clock: Clock, days: int, *, most: int = -1, ends: float = 0.0
) -> list[Fading]:
    """Return the memories that may go to the archive, those first that nobody needed for longest.

    Args:
        home: The folder of everything told writes for itself.
        memories: The open memories.
        clock: What time it is.
        days: The window; 0: nothing fades.
        most: How many to return at most.
        ends: When to stop looking, on the clock that only goes forward.
    """
    found: list[Fading] = []
    if days <= 0:
        return found
    waiting: frozenset[str] | None = None
    before = clock.now - days * DAY
    for some in _few(memories.idle(clock.now + 1 if clock.from_said else before), ends):
        ripe = [one for one in some if _is_own(one) and left(one, clock, days) <= 0]
        if ripe and waiting is None:
            waiting = _waiting(home)
        ripe = [one for one in ripe if one.id not in (waiting or ())]
        for one in _without_heirs(memories, ripe):
            found.append(_fading(one, clock))
            if len(found) == most:
                return found
    return found


def next_left(memories: Memories, clock: Clock, days: int) -> int | None:
    """Return after how many ms the next memory fades, at the earliest; None where there is none to fade."""
    if days <= 0:
        return None
    later = (left(one, clock, days) for one in memories.idle(1 << 62) if _is_own(one))
    return min((one for one in later if one > 0), default=None)


def archive(pen: Pen, found: Sequence[Fading], *, sync: bool = True) -> None:
    """Put memories away; they are undone together."""
    pen.begin_act()
    for place, one in enumerate(found, 1):
        pen.note(ARCHIVE, one.memory.id, known=archived_as(one.memory), why=one.why)
        if place % _AT_ONCE == 0:
            pen.write(sync=sync)
    pen.write(sync=sync)


def restore(pen: Pen, found: Iterable[Memory], why: str = "") -> None:
    """Bring memories back as they were."""
    for one in found:
        pen.note(RESTORE, one.id, **({"why": why} if why else {}))
    pen.write()


def archived_oldest_first(memories: Memories) -> list[Memory]:
    """Return the archived memories, those first that were not needed for longest."""
    found = memories.load(memories.listed(status=ARCHIVED)).values()
    return sorted(found, key=lambda one: (last_needed(one), one.created, one.id))


def last_needed(memory: Memory) -> int:
    """Return when a memory was last said, changed or shown."""
    return max(memory.created, memory.updated, memory.shown_last)


def check(pen: Pen, days: int, *, most: int, ends: float = 0.0) -> bool:
    """Count the day, and archive what fades; tell whether nothing is left to do.

    Args:
        pen: Of told itself.
        days: The window; 0: nothing is done.
        most: How many to archive at most.
        ends: When to stop, on the clock that only goes forward.
    """
    if days <= 0:
        return True
    clock = Clock(pen.now, tick(pen))
    found = fading(pen.home, pen.memories, clock, days, most=most, ends=ends)
    in_time = not ends or time.monotonic() < ends
    if found and in_time:
        archive(pen, found, sync=False)
    return in_time and len(found) < most


def _fading(one: Idle, clock: Clock) -> Fading:
    return Fading(one, _unneeded(one, clock) // DAY, patience(one, clock.now)[1])


def _unneeded(memory: Idle, clock: Clock) -> int:
    """Return for how many ms nobody needed a memory, at least."""
    counted = clock.lived.since(memory.last_machine, memory.last_number)
    if clock.from_said and _is_from_before(memory, clock):
        return min(clock.now - memory.created, counted + memory.last_at - memory.created)
    needed = max(memory.created, memory.updated, memory.shown_last, memory.last_at)
    return min(clock.now - needed, counted)


def _is_from_before(memory: Idle, clock: Clock) -> bool:
    """Tell whether a memory was learned in told's first days, and nothing happened to it since.

    The clock of those days is the one that the agents' own files go by, so it says how old a statement was.
    """
    untouched = (memory.last_machine, memory.last_number) == (memory.machine, memory.number)
    began = clock.lived.first.clock if clock.lived.first else clock.now
    return untouched and abs(began - memory.last_at) <= _FIRST_DAYS * DAY


def _is_own(one: Idle) -> bool:
    """Tell whether a memory is not a colleague's."""
    return not one.trust.startswith(TEAM) and not one.machine.startswith(STRANGER)


def _few(every: Iterator[Idle], ends: float) -> Iterator[list[Idle]]:
    some: list[Idle] = []
    for one in every:
        some.append(one)
        if len(some) == _FEW:
            yield some
            some = []
            if ends and time.monotonic() > ends:
                return
    yield some


def _waiting(home: str) -> frozenset[str]:
    """Return the memories that a proposal is about which nobody has decided."""
    return frozenset(name for one in proposals(home) if one.decided == OPEN for name in (one.memory, one.by))


def _without_heirs(memories: Memories, found: list[Idle]) -> list[Idle]:
    """Leave out what stands in the place of a memory that the user had locked."""
    ended = memories.superseded(one.id for one in found)
    old = memories.get(name for names in ended.values() for name in names)
    held = {new for new, names in ended.items() if any(name in old and old[name].locked for name in names)}
    return [one for one in found if one.id not in held]
