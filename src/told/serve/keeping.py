"""Keeps `memory.db` open between calls, and notices when it is no longer the file it was."""

from __future__ import annotations

import os

from told.errors import BusyError
from told.journal.apply import catch_up, open_memories
from told.store.database import set_mapping
from told.store.memories import UNREADABLE, Memories, memory_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

_HURRY_MS, _PATIENT_MS = 20, 150  # for a prompt, and for what the user commands in one
_MOST = 200  # operations of others that a prompt may wait for


class Kept:
    """The memories of one thread. Nothing is locked while no call is being answered."""

    def __init__(self) -> None:
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None

    def open(self, home: str, *, hurry: bool = False) -> Memories:
        """Return the memories as the journal has them now, just as `open_memories` does."""
        before = _identity(memory_path(home))
        if self._connection is None or before != self._file:
            return self._anew(home, before)
        # What is found out about single memories is not kept from call to call: it would only grow.
        memories = Memories(self._connection)
        self._connection.set_busy_timeout(_HURRY_MS if hurry else _PATIENT_MS)
        try:
            catch_up(home, memories, _MOST)
        except BusyError:
            return memories  # what is already there is good enough for now
        except UNREADABLE:
            return self._anew(home, before)
        return memories

    def close(self) -> None:
        """Let the file go; the next call opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _anew(self, home: str, before: tuple[int, int] | None) -> Memories:
        self.close()  # first: closing any other handle of a file takes away the locks of its database
        memories = open_memories(home, hurry=True)
        connection = memories.connection
        set_mapping(connection, 0)  # a file that is cut short while it is mapped would end this process
        if not connection.readonly("main"):
            self._connection, self._file = connection, before
        return memories


def _identity(path: str) -> tuple[int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino
