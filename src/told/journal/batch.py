"""Apply a batch of operations to `memory.db` in one transaction."""

from __future__ import annotations

from itertools import islice

from told.journal.files import FORGET, MAKES_MEMORY, SET, UNDO, Operation
from told.journal.fold import Folded, advance, family_of, fold_family, group_by_family
from told.journal.read import Entry, Positions, find_by_memory, read_new
from told.search.index_text import make_index_fields
from told.store.memories.read import Memories
from told.store.memories.records import CAPTURE, FORGOTTEN, USER
from told.store.memories.schema import optimize_index


def apply_batch(folder: str, memories: Memories, limit: int, *, is_large: bool) -> int:
    """Apply the next operations in one transaction; return how many.

    When there are no more, refold the families that could not be advanced.
    """
    writer = memories.writer
    with writer.transaction():
        positions = memories.positions()
        batch = list(islice(read_new(folder, positions), limit))
        _apply(memories, batch, positions)
        if len(batch) < limit:
            _refold_stale(folder, memories)
            if is_large:
                writer.flush_words()
                optimize_index(memories.connection)
    return len(batch)


def _apply(memories: Memories, batch: list[Entry], positions: Positions) -> None:
    """Advance the touched memories; mark families that need refolding as stale."""
    writer = memories.writer
    new, stale = _sort_entries(batch, positions)
    stale |= memories.stale()
    for family, operations in group_by_family(new).items():
        if family in stale:
            continue
        if all(operation.kind not in MAKES_MEMORY for operation in operations):
            done = _advance_family(memories, family, operations)
        else:
            done = not writer.is_orphan(family) and not memories.ids_with_prefix(family, 1)
            if done:
                _put_family(memories, family, operations, fresh=True)
        if not done:
            stale.add(family)
    writer.set_stale(stale)
    for entry in batch:
        _put_notes(memories, entry.operation)
    ends = {(entry.series, entry.segment): entry.position for entry in batch}
    for (series, segment), position in ends.items():
        writer.put_position(series, segment, position)


def _put_notes(memories: Memories, operation: Operation | None) -> None:
    """Store the notes of a `set` operation; agents may not set any."""
    if operation is None or operation.kind != SET or operation.by not in (USER, CAPTURE):
        return
    topics = (operation.payload or {}).get(SET)
    for topic, notes in topics.items() if isinstance(topics, dict) else ():
        for name, value in notes.items() if isinstance(notes, dict) else ():
            if isinstance(value, (str, int)):
                key = (operation.order, operation.machine, operation.number)
                memories.writer.put_noted(topic, name, str(value), key)


def _sort_entries(batch: list[Entry], positions: Positions) -> tuple[list[Operation], set[str]]:
    """Return the new operations, and the families that need refolding."""
    latest: dict[str, int] = {}
    for (series, _), position in positions.items():
        latest[series] = max(position.number, latest.get(series, 0))
    new: list[Operation] = []
    stale: set[str] = set()
    for entry in batch:
        operation = entry.operation
        if operation is None:
            continue
        if entry.was_applied and operation.payload is not None and not operation.redacted:
            continue
        # It changed since it was applied, or its segment arrived after later ones.
        if entry.was_applied or operation.number <= latest.get(entry.series, 0):
            stale.update(map(family_of, operation.touched))
        else:
            new.append(operation)
    return new, stale


def _advance_family(memories: Memories, family: str, operations: list[Operation]) -> bool:
    """Apply later operations to a family; return False if it needs refolding."""
    touched: dict[str, list[Operation]] = {}
    for operation in operations:
        for name in operation.touched:
            if family_of(name) == family:
                touched.setdefault(name, []).append(operation)
    known = memories.get(touched)
    unknown = [operation for name in touched.keys() - known.keys() for operation in touched[name]]
    if any(operation.kind in (FORGET, UNDO) for operation in unknown):  # an undo may bring it back
        return False
    advanced = [advance(memory, touched[name]) for name, memory in known.items()]
    if None in advanced:
        return False
    for folded in advanced:
        if folded:
            _put(memories, folded)
    if len(known) < len(touched):
        memories.writer.set_orphan(family, orphan=True)
    return True


def _refold_stale(folder: str, memories: Memories) -> None:
    stale = memories.stale()
    if not stale:
        return
    groups = group_by_family(find_by_memory(folder, stale))
    for family in sorted(stale):
        _put_family(memories, family, groups.get(family, []))
    memories.writer.clear_stale()


def _put_family(memories: Memories, family: str, operations: list[Operation], *, fresh: bool = False) -> None:
    """Replace a family with what its operations make; `fresh`: nothing is stored yet."""
    made = fold_family(family, operations)
    touched = {name for operation in operations for name in operation.touched if family_of(name) == family}
    for name in () if fresh else memories.ids_with_prefix(family, -1):
        memories.writer.clear_shown(name)
        if name not in made:
            memories.writer.drop(name)
    for folded in made.values():
        _put(memories, folded, fresh=fresh)
    orphan = bool(touched - made.keys())
    if orphan or not fresh:
        memories.writer.set_orphan(family, orphan=orphan)


def _put(memories: Memories, folded: Folded, *, fresh: bool = False) -> None:
    memories.writer.put(folded.memory, make_index_fields, fresh=fresh)
    if folded.shown:
        memories.writer.put_shown(folded.memory.id, folded.shown)
    elif folded.memory.status == FORGOTTEN:
        memories.writer.clear_shown(folded.memory.id)
