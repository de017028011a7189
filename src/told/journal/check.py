"""Whether `memory.db` says what the journal says."""

from __future__ import annotations

import os

from told.journal.apply import catch_up
from told.journal.files import every_series, journal_folder
from told.store.memories import UNREADABLE, Memories, memory_path, open_memory_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memory_records import Position


def memory_damage(home: str) -> list[str]:
    """Return what is wrong with the memories, each in a few words; nothing if all is as it was written.

    A file that is not there is not damaged: it is made when it is needed.
    """
    from told.errors import ToldError
    from told.store.memory_condition import damaged

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
        found = damaged(connection)
        if not found and _differs(home, memories):
            found.append("it does not say what the journal says")
    except UNREADABLE as error:
        found = [f"cannot be read: {error}"]
    finally:
        memories.close()
    return found


def _differs(home: str, memories: Memories) -> bool:
    """Make the memories once more from the journal alone, beside the file, and compare."""
    from told.store.memory_condition import empty, facts

    catch_up(home, memories)
    if _knows_what_is_gone(home, memories):
        return False  # what stood in a folder that is gone is known until the next rebuild
    fresh = Memories(empty())
    try:
        catch_up(home, fresh)
        same = _positions(fresh) == _positions(memories) and not memories.stale()
        one, other = fresh.connection, memories.connection
        return not same or facts(one) != facts(other)
    finally:
        fresh.close()


def _knows_what_is_gone(home: str, memories: Memories) -> bool:
    there = {series.name for series in every_series(journal_folder(home))}
    return any("@" in series and series not in there for series, _ in _positions(memories))


def _positions(memories: Memories) -> dict[tuple[str, str], Position]:
    return memories.positions()
