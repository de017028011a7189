"""What every journal offers; the one in files is `FileJournal`, the server's is `PostgresJournal`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from told.journal.files import Draft, Operation
from told.store.memories.protocol import Memories


class Journal(Protocol):
    """The log of everything that ever changed a memory."""

    @property
    def home(self) -> str:
        """Told's folder on this machine; "" if the journal is not in files."""

    @property
    def key(self) -> bytes:
        """The secret key for the marks of forgotten words; b"" if there is none."""

    @property
    def machine(self) -> str:
        """The name of the series that new operations are appended to."""

    def lock(self) -> AbstractContextManager[None]:
        """Keep other writers out.

        Raises:
            BusyError: another process held the lock for too long.
        """

    def append(
        self, drafts: Sequence[Draft], memories: Memories, *, now: int, sync: bool = True,
        at_home: bool = False,
    ) -> None:  # fmt: skip
        """Append operations; on an error none was written.

        Args:
            drafts: The operations of one command.
            memories: The open memories, which need not have them afterwards.
            now: The current time in ms since 1970.
            sync: Flush to disk before returning; otherwise a later synced call does.
            at_home: Write nothing into projects' own journals.
        """

    def catch_up(self, memories: Memories) -> Memories:
        """Apply new operations; return the memories, or a copy where they cannot be written."""

    def operations(self) -> list[Operation]:
        """Return all operations in their order."""

    def find_by_memory(self, prefixes: Collection[str]) -> Iterator[Operation]:
        """Yield the operations on memories whose ids have one of the prefixes."""

    def find_by_kind(self, kinds: Collection[str]) -> Iterator[Operation]:
        """Yield the operations of some kinds."""

    def find_edits(self, kinds: Collection[str], memory: str = "") -> list[tuple[str, Operation]]:
        """Return the user's operations of some kinds with their machine; empty if there is only one."""

    def erase(self, memories: Collection[str]) -> int:
        """Erase the payloads of all operations on some memories; return how many."""

    def purge(self, memories: Memories) -> None:
        """Remove erased payloads from the memories, including deleted bytes where that is possible."""
