"""Writes what a command decided: all of it in one go into the journal, and from there into the database."""

from __future__ import annotations

import os

from told.errors import BusyError
from told.journal.append import Draft, append, new_memory_id
from told.journal.apply import catch_up
from told.journal.files import has_places
from told.memory.authority import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.store.memories import Memories
    from told.store.memory_records import Memory

ACT = "act"  # what the operations of one command have in common, so that they are undone together


class Pen:
    """Collects the operations of one command until they are written."""

    def __init__(
        self, home: str, memories: Memories, now: int, caller: Caller | None = None, *, hurry: bool = False
    ) -> None:
        """Take the open memories, the time, who gives the command, and whether somebody waits for it.

        In a hurry, what is written is on disk; while another told writes the database, it shows it later.
        """
        self.home = home
        self.memories = memories
        self.now = now
        self.caller = caller or Caller()
        self._hurry = hurry
        self._act = os.urandom(6).hex()
        self._drafts: list[Draft] = []

    def begin_act(self) -> None:
        """What is noted from here on is undone on its own."""
        self._act = os.urandom(6).hex()

    def note(self, operation: str, memory: str, /, **payload: Any) -> None:
        """Add an operation."""
        self._drafts.append(Draft(operation, self.caller.by, payload | {ACT: self._act}, memory))

    def new_id(self, seed: str = "") -> str:
        """Return an id that no memory has; for the same seed the same, as long as none has it."""
        return new_memory_id(lambda one: bool(self.memories.like(one, 1)), seed)

    def write(self, *, sync: bool = True) -> None:
        """Write everything; when this returns it is on disk, and the memories show it.

        Args:
            sync: Without it, it is on disk only after a later call that syncs.
        """
        if self._drafts:
            if has_places(self.home) and any(draft.memory for draft in self._drafts):
                from told.memory._pen_places import to_places

                self._drafts = to_places(self.home, self.memories, self._drafts, self.now)
            if self._drafts:
                append(self.home, self._drafts, now=self.now, sync=sync)
            self._drafts = []
            try:
                catch_up(self.home, self.memories)
            except BusyError:
                if not self._hurry:
                    raise

    def read(self, memory: str) -> Memory:
        """Return a memory as it is now."""
        return self.memories.get([memory])[memory]
