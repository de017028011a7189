"""Apply the journal to `memory.db`: each new operation once, also after an interruption."""

from __future__ import annotations

import os
from collections.abc import Iterable

import apsw

from told.errors import BusyError, DiskFullError, MissingError, ToldError
from told.journal.files import journal_folder
from told.journal.read import has_new, read_new
from told.journal.registry import list_series
from told.store.database import UNWRITABLE, drop_database
from told.store.memories.protocol import Memories
from told.store.memories.read import UNREADABLE, SqliteMemories, memory_path, open_memory_database
from told.store.memories.schema import OWN_TABLES, dump_facts, find_damage, open_empty, purge_memories
from told.store.opening import set_foreign_aside

_BATCH = 4000  # operations in one transaction
# Limits while a prompt waits.
_HURRY_WAIT_MS = 20
_HURRY_OPERATIONS = 200


def open_memories(home: str, *, hurry: bool = False) -> SqliteMemories:
    """Open the memories as the journal has them; rebuild an unusable database.

    In a hurry do not wait for another writer, and apply only some operations. Where nothing can be written,
    the journal is applied to a copy in memory.
    """
    connection = None
    try:
        connection = open_memory_database(memory_path(home))
        if connection is None:
            return rebuild(home, hurry=hurry)
        memories = SqliteMemories(connection)
        _catch_up(home, memories, hurry)
    except UNREADABLE:
        if connection is not None:
            connection.close()
        return _rebuild_somewhere(home, hurry=hurry)
    except (*UNWRITABLE, DiskFullError, MissingError):
        copy = open_in_memory(home, connection)
        if connection is not None:
            connection.close()
        return copy
    return memories


def _rebuild_somewhere(home: str, *, hurry: bool) -> SqliteMemories:
    try:
        return rebuild(home, hurry=hurry)
    except (*UNWRITABLE, DiskFullError, MissingError):
        return open_in_memory(home, None)


def open_in_memory(home: str, source: apsw.Connection | None) -> SqliteMemories:
    """Copy the database into memory and apply what the journal has beyond it."""
    connection = open_empty()
    if source is not None:
        try:
            with connection.backup("main", source, "main") as copy:
                copy.step()
        except apsw.Error:
            connection = open_empty()
    memories = SqliteMemories(connection)
    catch_up(home, memories)
    return memories


def rebuild(home: str, *, hurry: bool = False) -> SqliteMemories:
    """Rebuild the database from the journal and open it."""
    path = memory_path(home)
    set_foreign_aside(path, OWN_TABLES)
    drop_database(path)
    connection = open_memory_database(path)
    assert connection is not None
    memories = SqliteMemories(connection)
    _catch_up(home, memories, hurry)
    return memories


def _catch_up(home: str, memories: SqliteMemories, hurry: bool) -> None:
    if not hurry:
        catch_up(home, memories)
        return
    memories.connection.set_busy_timeout(_HURRY_WAIT_MS)
    try:
        catch_up(home, memories, _HURRY_OPERATIONS)
    except BusyError:
        return  # the database may lag behind


def catch_up_or_copy(home: str, memories: Memories) -> Memories:
    """Apply new operations; return a copy in memory if the database cannot be written."""
    try:
        catch_up(home, memories)
    except UNWRITABLE:  # the journal counts; the database catches up when there is space
        return open_in_memory(home, _in_file(memories).connection)
    return memories


def catch_up(home: str, given: Memories, limit: int = -1) -> int:
    """Apply new operations, at most `limit`; return how many."""
    memories = _in_file(given)
    folder = journal_folder(home)
    positions = memories.positions()
    is_behind = bool(memories.stale()) or (
        has_new(folder, positions) and next(read_new(folder, positions), None) is not None
    )
    count = 0
    while is_behind and count != limit:
        wanted = _BATCH if limit < 0 else min(_BATCH, limit - count)
        from told.journal.batch import apply_batch  # noqa: PLC0415 - mostly there is nothing to apply

        done = apply_batch(folder, memories, wanted, is_large=count >= _BATCH)
        count += done
        is_behind = done == wanted
    return count


def refold(home: str, given: Memories, series: str, families: Iterable[str]) -> None:
    """Read the series with a part in their names again, and fold some families again."""
    memories = _in_file(given)
    with memories.writer.transaction():
        memories.writer.drop_positions(series)
        memories.writer.set_stale(families)
    catch_up(home, memories)


def purge_erased(home: str, memories: Memories) -> None:
    """Remove erased payloads from the database, including its free pages."""
    catch_up(home, memories)
    purge_memories(_in_file(memories).connection)


def _in_file(memories: Memories) -> SqliteMemories:
    assert isinstance(memories, SqliteMemories)  # a home's journal is applied to its own database
    return memories


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
    memories = SqliteMemories(connection)
    try:
        found = find_damage(connection)
        if not found and _differs(home, memories):
            found.append("it does not say what the journal says")
    except UNREADABLE as error:
        found = [f"cannot be read: {error}"]
    finally:
        memories.close()
    return found


def _differs(home: str, memories: SqliteMemories) -> bool:
    """Compare the database with one rebuilt in memory."""
    catch_up(home, memories)
    series = {one.name for one in list_series(journal_folder(home))}
    if any("@" in name and name not in series for name, _ in memories.positions()):
        return False  # memories of a deleted project stay until the next rebuild
    fresh = SqliteMemories(open_empty())
    try:
        catch_up(home, fresh)
        is_same = fresh.positions() == memories.positions() and not memories.stale()
        return not is_same or dump_facts(fresh.connection) != dump_facts(memories.connection)
    finally:
        fresh.close()
