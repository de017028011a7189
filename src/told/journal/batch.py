"""Apply a batch of operations to `memory.db` in one transaction."""

from __future__ import annotations

from itertools import islice

from told.journal.files import Operation
from told.journal.fold import family_of
from told.journal.put import put_notes, put_operations, refold_families
from told.journal.read import Entry, Positions, find_by_memory, read_new
from told.store.memories.read import SqliteMemories
from told.store.memories.schema import optimize_index


def apply_batch(folder: str, memories: SqliteMemories, limit: int, *, is_large: bool) -> int:
    """Apply the next operations in one transaction; return how many.

    When there are no more, refold the families that could not be advanced.
    """
    writer = memories.writer
    with writer.transaction():
        positions = memories.positions()
        batch = list(islice(read_new(folder, positions), limit))
        _apply(memories, batch, positions)
        if len(batch) < limit:
            stale = memories.stale()
            if stale:
                refold_families(memories, stale, find_by_memory(folder, stale))
                memories.writer.clear_stale()
            if is_large:
                writer.flush_words()
                optimize_index(memories.connection)
    return len(batch)


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


def _apply(memories: SqliteMemories, batch: list[Entry], positions: Positions) -> None:
    """Advance the touched memories; mark families that need refolding as stale."""
    writer = memories.writer
    new, stale = _sort_entries(batch, positions)
    writer.set_stale(put_operations(memories, new, stale | memories.stale()))
    for entry in batch:
        put_notes(memories, entry.operation)
    ends = {(entry.series, entry.segment): entry.position for entry in batch}
    for (series, segment), position in ends.items():
        writer.put_position(series, segment, position)
