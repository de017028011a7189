"""Read the history of memories and count them for statistics."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from told.journal.files import MAKES_MEMORY, Operation
from told.journal.fold import name_operation, sort_operations
from told.journal.protocol import Journal
from told.journal.transitions import change_memory, create_memory
from told.memories.undo import find_cancelled
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, CORRECTION, READER, UNCONFIRMED, Memory, project_key

# Names of operations in a list of changes.
_CHANGE_NAMES = {
    "remember": "new", "correct": "new", "supersede": "ended", "lock": "locked", "unlock": "unlocked",
    "confirm": "confirmed", "reject": "rejected", "refuse": "refused", "quarantine": "quarantined",
    "release": "released", "forget": "forgotten", "repeat": "repeated", "revise": "changed",
    "share": "shared", "undo": "undone", "archive": "archived", "restore": "restored",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on a memory."""

    operation: Operation
    confidence: float  # after it
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The changes of a memory since a time."""

    memory: str
    what: tuple[str, ...]
    at: int  # the last one


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """Numbers of memories; kinds, scopes and trusts count active ones only."""

    total: int  # without candidates and dismissed ones
    statuses: dict[str, int]
    kinds: dict[str, int]
    scopes: dict[str, int]  # all projects together count as one
    trusts: dict[str, int]
    locked: int
    learned: int  # active ones from sessions
    last_locked: str
    corrections: int
    surfaced: int
    read: int  # active ones that the reader found


@dataclass(frozen=True, slots=True)
class BriefCounts:
    """Briefs that agents received."""

    since: int  # time of the first one; 0 without any
    briefs: int
    tokens: int


def read_history(journal: Journal, memory: str) -> list[Step]:
    """Return all operations on a memory, in order."""
    operations = [one for one in journal.find_by_memory([memory]) if memory in one.touched]
    cancelled = find_cancelled(operations)
    current: Memory | None = None
    steps = []
    for key, operation in sort_operations(operations):
        is_undone = name_operation(operation) in cancelled
        if operation.kind in MAKES_MEMORY:
            current = create_memory(memory, operation, key)
        elif current is not None and not is_undone:
            current = change_memory(current, operation, key)
        steps.append(Step(operation, current.confidence if current else 0.5, is_undone))
    return steps


def find_predecessors(memories: Memories, memory: str) -> list[Memory]:
    """Return the memories that a memory superseded, directly or not, nearest first."""
    found: dict[str, Memory] = {}
    pending = [memory]
    while pending:
        superseded = memories.superseded(pending)
        pending = [one for ids in superseded.values() for one in ids if one not in found and one != memory]
        found |= memories.get(pending)
    return list(found.values())


def find_successors(memories: Memories, memory: Memory) -> list[Memory]:
    """Return the memories that superseded a memory, directly or not."""
    found: dict[str, Memory] = {}
    while memory.superseded_by and memory.superseded_by not in found:
        later = memories.get([memory.superseded_by]).get(memory.superseded_by)
        if later is None:
            break
        found[later.id] = memory = later
    return list(found.values())


def find_lineage(memories: Memories, found: list[Memory]) -> list[Memory]:
    """Return memories with all their predecessors and successors, oldest first."""
    every: dict[str, Memory] = {}
    for memory in found:
        line = (*find_predecessors(memories, memory.id), memory, *find_successors(memories, memory))
        every |= {one.id: one for one in line}
    return sorted(every.values(), key=lambda one: (one.created, one.number))


def changes_since(journal: Journal, since: int) -> list[Change]:
    """Return the changes of each memory since a time, last change last."""
    operations = journal.operations()
    cancelled = find_cancelled(operations)
    times: dict[str, dict[str, int]] = {}
    for one in operations:
        if one.at < since or one.kind not in _CHANGE_NAMES or name_operation(one) in cancelled:
            continue
        for memory in one.touched:
            times.setdefault(memory, {})[_CHANGE_NAMES[one.kind]] = one.at
    changes = [Change(memory, tuple(what), max(what.values())) for memory, what in times.items()]
    return sorted(changes, key=lambda change: change.at)


def count_memories(memories: Memories, journal: Journal, today: int) -> MemoryCounts:
    """Count memories; `today` is when the day began, in ms."""
    statuses, kinds, scopes, trusts = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    locked = 0
    for status, kind, scope, trust, number, locked_number in memories.counts_by_trust():
        statuses[status] += number
        if status == ACTIVE:
            locked += locked_number
            kinds[kind] += number
            name = scope.removesuffix(project_key(scope))  # all projects count as one
            scopes[name] += number
            trusts[trust] += number
    corrections, surfaced = memories.count_since(CORRECTION, today)
    read = {one.memory for one in journal.find_by_kind(("remember",)) if one.by == READER}
    return MemoryCounts(
        sum(statuses.values()) - sum(statuses[one] for one in UNCONFIRMED), dict(statuses),
        dict(kinds), dict(scopes), dict(trusts), locked,
        memories.count_from_sessions(), _find_last_locked(memories, journal), corrections, surfaced,
        sum(one.status == ACTIVE for one in memories.get(read).values()) if read else 0,
    )  # fmt: skip


def count_briefs(journal: Journal) -> BriefCounts:
    """Count the briefs that agents received, and their tokens."""
    since = briefs = tokens = 0
    for one in journal.find_by_kind(("show",)):
        since = min(since or one.at, one.at)
        briefs += 1
        cost = (one.payload or {}).get("tokens")
        tokens += cost if isinstance(cost, int) else 0
    return BriefCounts(since, briefs, tokens)


def _find_last_locked(memories: Memories, journal: Journal) -> str:
    """Return the memory that was locked last and still is."""
    operations = journal.find_by_kind(("lock", "remember", "correct"))
    times = {
        one.memory: (one.at, one.number)
        for one in operations
        if one.kind == "lock" or (one.payload or {}).get("locked") is True
    }
    locked = [one.id for one in memories.get(times).values() if one.locked and one.status == ACTIVE]
    return max(locked, key=lambda name: times[name], default="")
