"""Write the operations of one command to the journal and the database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from told.errors import BusyError
from told.journal.append import new_memory_id
from told.journal.files import ACT, Draft
from told.journal.protocol import Journal
from told.memories.caller import Caller
from told.store.database import public_id
from told.store.memories.protocol import Memories
from told.store.memories.records import Memory

PROPOSE, DECIDE = "propose", "decide"
IMPORT = "import"  # notes what an import brought, so that it can be undone


class JournalWriter:
    """Collect the operations of one command, then write them together."""

    def __init__(
        self, journal: Journal, memories: Memories, now: int, caller: Caller | None = None, *,
        hurry: bool = False,
    ) -> None:  # fmt: skip
        """Create a writer.

        Args:
            journal: The open journal.
            memories: The open memories.
            now: The current time in ms since 1970.
            caller: Who runs the command; the user if omitted.
            hurry: Do not wait for a locked database: the journal is enough, the database catches up later.
        """
        self.journal = journal
        self.memories = memories
        self.now = now
        self.caller = caller or Caller()
        self._hurry = hurry
        self._group = os.urandom(6).hex()
        self._drafts: list[Draft] = []

    @property
    def home(self) -> str:
        """Told's folder on this machine, for what is only kept there; "" if the journal is not in files."""
        return self.journal.home

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other writers out, with the database up to date, until what is said here is written.

        Raises:
            BusyError: another process held the lock for too long.
        """
        with self.journal.lock():
            self._catch_up()
            yield

    def begin_group(self) -> None:
        """Start a new group of operations that are undone together."""
        self._group = os.urandom(6).hex()

    def add(self, operation: str, memory: str, /, **payload: Any) -> None:
        """Add an operation."""
        self._drafts.append(Draft(operation, self.caller.by, payload | {ACT: self._group}, memory))

    def propose(
        self, action: str, memory: str, *, by: str = "", source: tuple[str, str] | None = None
    ) -> str:
        """Add a proposal for the user to decide; return its id.

        It holds no text, so forgetting the memory leaves nothing behind. The agent and session that asked are
        the caller's by default.
        """
        agent, session = source or (self.caller.agent, self.caller.session)
        proposal = public_id("p", os.urandom(16).hex())
        self.add(PROPOSE, memory, proposal=proposal, action=action, by=by, agent=agent, session=session)
        return proposal

    def new_id(self, seed: str = "") -> str:
        """Return an unused memory id; the same seed gives the same id."""
        return new_memory_id(lambda one: bool(self.memories.ids_with_prefix(one, 1)), seed)

    def write(self, *, sync: bool = True, at_home: bool = False) -> None:
        """Write all operations, to disk or with a later write, and update the database.

        `at_home` writes nothing into projects' own journals.
        """
        if not self._drafts:
            return
        self.journal.append(self._drafts, self.memories, now=self.now, sync=sync, at_home=at_home)
        self._drafts = []
        self._catch_up()

    def _catch_up(self) -> None:
        try:
            self.memories = self.journal.catch_up(self.memories)
        except BusyError:
            if not self._hurry:
                raise

    def read(self, memory: str) -> Memory:
        """Return a memory's current state; only its id if the database is behind."""
        return self.memories.get([memory]).get(memory) or Memory(memory)
