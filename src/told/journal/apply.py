"""Apply the journal to `memory.db`: each new operation once, also after an interruption."""

from __future__ import annotations

import os
from itertools import islice

from told.errors import BusyError, ToldError
from told.journal.files import FORGET, MAKES_MEMORY, SET, Operation, journal_folder
from told.journal.fold import Folded, advance, family_of, fold_family, group_by_family
from told.journal.read import Entry, Positions, find_by_memory, has_new, read_new
from told.journal.registry import list_series
from told.search.index_text import make_index_fields
from told.store.database import drop_database
from told.store.memories.read import UNREADABLE, Memories, memory_path, open_memory_database
from told.store.memories.records import CAPTURE, FORGOTTEN, USER
from told.store.memories.schema import dump_facts, find_damage, open_empty, optimize_index, purge_memories

_BATCH = 4000  # operations in one transaction
# Limits while a prompt waits.
_HURRY_WAIT_MS = 20
_HURRY_OPERATIONS = 200


def open_memories(home: str, *, hurry: bool = False) -> Memories:
    """Open the memories as the journal has them; rebuild an unusable database.

    In a hurry do not wait for another writer, and apply only some operations.
    """
    connection = open_memory_database(memory_path(home))
    if connection is None:
        return rebuild(home, hurry=hurry)
    memories = Memories(connection)
    try:
        _catch_up(home, memories, hurry)
    except UNREADABLE:
        memories.close()
        return rebuild(home, hurry=hurry)
    return memories


def rebuild(home: str, *, hurry: bool = False) -> Memories:
    """Rebuild the database from the journal and open it."""
    path = memory_path(home)
    drop_database(path)
    connection = open_memory_database(path)
    assert connection is not None
    memories = Memories(connection)
    _catch_up(home, memories, hurry)
    return memories


def _catch_up(home: str, memories: Memories, hurry: bool) -> None:
    if not hurry:
        catch_up(home, memories)
        return
    memories.connection.set_busy_timeout(_HURRY_WAIT_MS)
    try:
        catch_up(home, memories, _HURRY_OPERATIONS)
    except BusyError:
        return  # the database may lag behind


def catch_up(home: str, memories: Memories, limit: int = -1) -> int:
    """Apply new operations, at most `limit`; return how many."""
    folder = journal_folder(home)
    if memories.connection.readonly("main"):
        return 0
    positions = memories.positions()
    is_behind = bool(memories.stale()) or (
        has_new(folder, positions) and next(read_new(folder, positions), None) is not None
    )
    count = 0
    while is_behind and count != limit:
        wanted = _BATCH if limit < 0 else min(_BATCH, limit - count)
        done = _apply_batch(folder, memories, wanted, is_large=count >= _BATCH)
        count += done
        is_behind = done == wanted
    return count


def purge_erased(home: str, memories: Memories) -> None:
    """Remove erased payloads from the database, including its free pages."""
    catch_up(home, memories)
    purge_memories(memories.connection)


def _apply_batch(folder: str, memories: Memories, limit: int, *, is_large: bool) -> int:
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
                key = (operation.at, operation.machine, operation.number)
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
    if any(operation.kind == FORGET for name in touched.keys() - known.keys() for operation in touched[name]):
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


def find_memory_damage(home: str) -> list[str]:
    """List what is wrong with the database; a missing one is fine."""
    path = memory_path(home)
    if not os.path.exists(path):
        return []
    try:
        connection = open_memory_database(path)
    except ToldError as error:
        return [str(error)]
    if connection is None:
        return ["it cannot be read, or is of another version"]
    memories = Memories(connection)
    try:
        found = find_damage(connection)
        if not found and _differs(home, memories):
            found.append("it does not say what the journal says")
    except UNREADABLE as error:
        found = [f"cannot be read: {error}"]
    finally:
        memories.close()
    return found


def _differs(home: str, memories: Memories) -> bool:
    """Compare the database with one rebuilt in memory."""
    catch_up(home, memories)
    series = {one.name for one in list_series(journal_folder(home))}
    if any("@" in name and name not in series for name, _ in memories.positions()):
        return False  # memories of a deleted project stay until the next rebuild
    fresh = Memories(open_empty())
    try:
        catch_up(home, fresh)
        is_same = fresh.positions() == memories.positions() and not memories.stale()
        return not is_same or dump_facts(fresh.connection) != dump_facts(memories.connection)
    finally:
        fresh.close()
