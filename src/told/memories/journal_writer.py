"""Write the operations of one command to the journal and the database."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from told.errors import BusyError, DiskFullError, MissingError
from told.files import cannot_write, make_folder
from told.journal.append import append, new_memory_id
from told.journal.apply import catch_up, open_in_memory
from told.journal.files import Draft, SeriesLock, journal_folder, read_key
from told.journal.private import find_private_memories, is_private_operation
from told.journal.registry import ProjectJournal, choose_project, has_projects, is_home_only
from told.memories.caller import Caller
from told.store.database import UNWRITABLE, public_id
from told.store.memories.read import Memories
from told.store.memories.records import Memory, is_private

ACT = "act"  # payload key: operations with the same value are undone together
PROPOSE, DECIDE = "propose", "decide"
IMPORT = "import"  # notes what an import brought, so that it can be undone


class JournalWriter:
    """Collect the operations of one command, then write them together."""

    def __init__(
        self, home: str, memories: Memories, now: int, caller: Caller | None = None, *, hurry: bool = False
    ) -> None:
        """Create a writer.

        Args:
            home: told's folder.
            memories: The open memories.
            now: The current time in ms since 1970.
            caller: Who runs the command; the user if omitted.
            hurry: Do not wait for a locked database: the journal is enough, the database catches up later.
        """
        self.home = home
        self.memories = memories
        self.now = now
        self.caller = caller or Caller()
        self._hurry = hurry
        self._group = os.urandom(6).hex()
        self._drafts: list[Draft] = []

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other writers out, with the database up to date, until what is said here is written.

        Raises:
            BusyError: another process held the lock for too long.
        """
        folder = journal_folder(self.home)
        try:
            make_folder(folder)
        except OSError as error:
            raise cannot_write(folder, error) from None
        with SeriesLock(folder):
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

        It holds no text, so forgetting the memory leaves nothing behind.

        Args:
            action: What to do.
            memory: The memory to change.
            by: The memory that would replace it.
            source: The agent and session that asked, if not the caller's.
        """
        agent, session = source or (self.caller.agent, self.caller.session)
        proposal = public_id("p", os.urandom(16).hex())
        self.add(PROPOSE, memory, proposal=proposal, action=action, by=by, agent=agent, session=session)
        return proposal

    def new_id(self, seed: str = "") -> str:
        """Return an unused memory id; the same seed gives the same id."""
        return new_memory_id(lambda one: bool(self.memories.ids_with_prefix(one, 1)), seed)

    def write(self, *, sync: bool = True, at_home: bool = False) -> None:
        """Write all operations to the journal and update the database.

        Args:
            sync: Flush to disk before returning; otherwise a later synced write does.
            at_home: Write nothing into projects' own journals.
        """
        if not self._drafts:
            return
        if not at_home and has_projects(self.home) and any(draft.memory for draft in self._drafts):
            self._drafts = append_to_projects(self.home, self.memories, self._drafts, self.now)
        if self._drafts:
            append(self.home, self._drafts, now=self.now, sync=sync)
        self._drafts = []
        self._catch_up()

    def _catch_up(self) -> None:
        try:
            catch_up(self.home, self.memories)
        except BusyError:
            if not self._hurry:
                raise
        except UNWRITABLE:  # the journal counts; the database catches up when there is space
            self.memories = open_in_memory(self.home, self.memories.connection)

    def read(self, memory: str) -> Memory:
        """Return a memory's current state; only its id if the database is behind."""
        return self.memories.get([memory]).get(memory) or Memory(memory)


def append_to_projects(home: str, memories: Memories, drafts: Sequence[Draft], now: int) -> list[Draft]:
    """Append groups that belong to one project to its journal; return the rest.

    Groups that a project's journal cannot take (read-only, full) are returned as well.
    """
    if not read_key(home):  # without a key the user's operations could not be recognised later
        return list(drafts)
    rest: list[Draft] = []
    groups: dict[object, list[Draft]] = {}
    private = _find_private(memories, drafts)
    for draft in drafts:
        if is_home_only(draft) or is_private_operation(draft, private):
            rest.append(draft)
        else:
            groups.setdefault((draft.payload or {}).get(ACT), []).append(draft)
    known = memories.get({draft.memory for group in groups.values() for draft in group})
    by_place: dict[ProjectJournal, list[Draft]] = {}
    at_home: list[Draft] = []
    for group in groups.values():
        place = choose_project(home, group, known)
        (by_place.setdefault(place, []) if place else at_home).extend(group)
    for place, some in by_place.items():
        try:
            append(home, some, now=now, project=place)
        except (MissingError, DiskFullError):
            at_home += some
    return at_home + rest


def _find_private(memories: Memories, drafts: Sequence[Draft]) -> set[str]:
    """Return the private memories that some operations change or name."""
    names = {
        one
        for draft in drafts
        for value in (draft.memory, *(draft.payload or {}).values())
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str)
    }
    known = {name for name, memory in memories.get(names).items() if is_private(memory)}
    return known | find_private_memories(drafts)
