"""Brings `memory.db` in line with the journal: what is new is applied once, wherever it was interrupted."""

from __future__ import annotations

from told.errors import BusyError
from told.journal.files import journal_folder
from told.journal.growth import has_grown
from told.store.database import drop_database
from told.store.memories import UNREADABLE, Memories, memory_path, open_memory_database

_BATCH = 4000
# What a prompt may wait for.
_HURRY_MS = 20
_HURRY_MOST = 200


def open_memories(home: str, *, hurry: bool = False) -> Memories:
    """Open the memories as the journal has them now; a file that is of no use is made anew.

    Args:
        home: The folder of everything told writes for itself.
        hurry: Do not wait for another told that is writing, and leave a long way behind to a later one.

    Raises:
        MissingError: the folder cannot be written.
        BusyError: another told is writing for too long; not in a hurry.
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
    """Make the database anew from the journal alone."""
    path = memory_path(home)
    drop_database(path)
    connection = open_memory_database(path)
    assert connection is not None
    memories = Memories(connection)
    _catch_up(home, memories, hurry)
    return memories


def catch_up(home: str, memories: Memories, most: int = -1) -> int:
    """Apply what the journal has and the database has not.

    Args:
        home: The folder of everything told writes for itself.
        memories: The open database.
        most: How many operations to apply at most; -1 is all of them.

    Returns:
        How many operations were applied.

    Raises:
        BusyError: another told is writing.
    """
    folder = journal_folder(home)
    count = 0
    if memories.connection.readonly("main"):
        return count
    if not has_grown(folder, memories.positions()) and not memories.stale():
        return count  # nearly always: what it takes to apply anything is not even loaded
    from told.journal.batches import apply_batch
    from told.journal.feed import is_behind

    behind = is_behind(folder, memories.positions()) or bool(memories.stale())
    while behind and count != most:
        wanted = _BATCH if most < 0 else min(_BATCH, most - count)
        done = apply_batch(folder, memories, wanted, much=count >= _BATCH)
        count += done
        behind = done == wanted
    return count


def _catch_up(home: str, memories: Memories, hurry: bool) -> None:
    if not hurry:
        catch_up(home, memories)
        return
    memories.connection.set_busy_timeout(_HURRY_MS)
    try:
        catch_up(home, memories, _HURRY_MOST)
    except BusyError:
        return  # what is already there is good enough for now


def leave_nothing(home: str, memories: Memories) -> None:
    """After payloads were erased: forget them here as well, to the last byte.

    Raises:
        BusyError: another told is reading or writing.
    """
    from told.store.memory_condition import purge

    catch_up(home, memories)
    purge(memories.connection)
