"""Applies operations of the journal to `memory.db`: memories are carried on, or folded anew."""

from __future__ import annotations

from itertools import islice

from told.journal.append import MAKES_MEMORY
from told.journal.feed import feed
from told.journal.fold import FORGET, Folded, advance, families, family_of, fold_family
from told.journal.model import SET
from told.journal.read import operations_of
from told.store.memory_condition import optimize
from told.store.memory_records import CAPTURE, FORGOTTEN, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.journal.feed import Entry
    from told.journal.model import Operation
    from told.store.memories import Memories
    from told.store.memory_records import Position, Worked


def apply_batch(folder: str, memories: Memories, most: int, *, much: bool) -> int:
    """Apply the next operations, in one transaction; where there are no more, finish what had to wait.

    Args:
        folder: The journals.
        memories: The open database.
        most: How many operations to apply at most.
        much: Many were applied before, so that the index is worth putting in order at the end.

    Returns:
        How many operations were applied.
    """
    writer = memories.writer
    with writer.transaction():
        positions = memories.positions()
        batch = list(islice(feed(folder, positions), most))
        _apply(memories, batch, positions)
        if len(batch) < most:
            _fold_anew(folder, memories)
            if much:
                writer.flush_words()
                optimize(memories.connection)
    return len(batch)


def _apply(memories: Memories, batch: list[Entry], positions: dict[tuple[str, str], Position]) -> None:
    """Carry on the memories that a batch of operations touches; note those that this cannot be done for."""
    writer = memories.writer
    new, stale = _sorted_out(batch, positions)
    stale |= memories.stale()
    for family, operations in families(new).items():
        if family in stale:
            continue
        if all(operation.kind not in MAKES_MEMORY for operation in operations):
            done = _carry_on(memories, family, operations)
        else:
            done = not writer.is_orphan(family) and not memories.like(family, 1)
            if done:
                _put_family(memories, family, operations, fresh=True)
        if not done:
            stale.add(family)
    writer.set_stale(stale)
    for entry in batch:
        _note(memories, entry.operation)
    ends = {(entry.series, entry.segment): entry.position for entry in batch}
    for (series, segment), position in ends.items():
        writer.put_position(series, segment, position)


def _note(memories: Memories, operation: Operation | None) -> None:
    """Store what an operation notes that is about no memory; agents have no say there."""
    if operation is None or operation.kind != SET or operation.by not in (USER, CAPTURE):
        return
    topics = (operation.payload or {}).get(SET)
    for topic, notes in topics.items() if isinstance(topics, dict) else ():
        for name, value in notes.items() if isinstance(notes, dict) else ():
            if isinstance(value, (str, int)):
                key = (operation.at, operation.machine, operation.number)
                memories.writer.put_noted(topic, name, str(value), key)


def _sorted_out(
    batch: list[Entry], positions: dict[tuple[str, str], Position]
) -> tuple[list[Operation], set[str]]:
    """Return the operations that are new, and the families that have to be folded anew."""
    latest: dict[str, int] = {}
    for (series, _), position in positions.items():
        latest[series] = max(position.number, latest.get(series, 0))
    new: list[Operation] = []
    stale: set[str] = set()
    for entry in batch:
        operation = entry.operation
        if operation is None:
            continue
        if entry.known and operation.payload is not None and not operation.redacted:
            continue
        # It was changed since it was applied, or it comes with an earlier segment that arrived late.
        if entry.known or operation.number <= latest.get(entry.series, 0):
            stale.update(map(family_of, operation.touched))
        else:
            new.append(operation)
    return new, stale


def _carry_on(memories: Memories, family: str, operations: list[Operation]) -> bool:
    """Apply later operations to the memories of a family; False if these have to be folded anew."""
    touched: dict[str, list[Operation]] = {}
    for operation in operations:
        for name in operation.touched:
            if family_of(name) == family:
                touched.setdefault(name, []).append(operation)
    known = memories.get(touched)
    if any(operation.kind == FORGET for name in touched.keys() - known.keys() for operation in touched[name]):
        return False
    carried = [advance(memory, touched[name]) for name, memory in known.items()]
    if None in carried:
        return False
    for folded in carried:
        if folded:
            _put(memories, folded)
    if len(known) < len(touched):
        memories.writer.set_orphan(family, orphan=True)
    return True


def _fold_anew(folder: str, memories: Memories) -> None:
    """Fold memories from all their operations."""
    stale = memories.stale()
    if not stale:
        return
    groups = families(operations_of(folder, stale))
    for family in sorted(stale):
        _put_family(memories, family, groups.get(family, []))
    memories.writer.clear_stale()


def _put_family(memories: Memories, family: str, operations: list[Operation], *, fresh: bool = False) -> None:
    """Store what all operations of a family make, and nothing else of it; fresh: none of it is there yet."""
    made = fold_family(family, operations)
    touched = {name for operation in operations for name in operation.touched if family_of(name) == family}
    for name in () if fresh else memories.like(family, -1):
        memories.writer.clear_shown(name)
        if name not in made:
            memories.writer.drop(name)
    for folded in made.values():
        _put(memories, folded, fresh=fresh)
    orphan = bool(touched - made.keys())
    if orphan or not fresh:
        memories.writer.set_orphan(family, orphan=orphan)


def _put(memories: Memories, folded: Folded, *, fresh: bool = False) -> None:
    memories.writer.put(folded.memory, _extra_words, fresh=fresh)
    if folded.shown:
        memories.writer.put_shown(folded.memory.id, folded.shown)
    elif folded.memory.status == FORGOTTEN:
        memories.writer.clear_shown(folded.memory.id)


def _extra_words(text: str, at: int) -> Worked:
    from told.search.memory_words import memory_words

    return memory_words(text, at)
