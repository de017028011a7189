"""How what is known came to be so: what changed since a time, and how a topic developed."""

from __future__ import annotations

from told.journal.files import journal_folder
from told.journal.model import Operation
from told.journal.read import read
from told.memory.undo import undone
from told.memory.why import after, before
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memories import Memories
    from told.store.memory_records import Memory

# The last of these that happened to a memory is what is said of it.
_SAID = {
    "remember": "new", "correct": "new", "supersede": "ended", "lock": "locked", "unlock": "unlocked",
    "confirm": "confirmed", "reject": "rejected", "quarantine": "quarantined", "release": "released",
    "forget": "forgotten", "repeat": "repeated", "revise": "changed", "share": "shared", "undo": "undone",
    "archive": "archived", "restore": "restored",
}  # fmt: skip


@record
class Change:
    """What happened to a memory since a time."""

    memory: str
    what: tuple[str, ...]
    at: int  # the last time


def changes_since(home: str, since: int) -> list[Change]:
    """Return what happened to each memory since a time, in the order of the last change."""
    operations = [one for one in read(journal_folder(home)) if isinstance(one, Operation)]
    cancelled = undone(operations)
    happened: dict[str, dict[str, int]] = {}
    for one in operations:
        if one.at < since or one.kind not in _SAID or (one.machine, one.number) in cancelled:
            continue
        for memory in one.touched:
            happened.setdefault(memory, {})[_SAID[one.kind]] = one.at
    changes = [Change(memory, tuple(what), max(what.values())) for memory, what in happened.items()]
    return sorted(changes, key=lambda change: change.at)


def line_of(memories: Memories, found: list[Memory]) -> list[Memory]:
    """Return memories with all that stood in their place before and after, the oldest first."""
    every: dict[str, Memory] = {}
    for memory in found:
        for one in (*before(memories, memory.id), memory, *after(memories, memory)):
            every[one.id] = one
    return sorted(every.values(), key=lambda one: (one.created, one.number))
