"""The journal in files: told's home, the journals of projects, and copies of other machines' series."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from told.files import cannot_write, make_folder
from told.journal.copies import OWN
from told.journal.files import Draft, Operation, SeriesLock, get_machine_id, journal_folder, read_key
from told.journal.read import find_by_kind, find_by_memory, find_in_series, read_operations
from told.journal.registry import has_projects, list_series
from told.jsontext import dump_json
from told.store.memories.protocol import Memories
from told.store.memories.records import TEAM


class FileJournal:
    """The journal of a home."""

    def __init__(self, home: str) -> None:
        """Name told's folder; it may be missing."""
        self._home = home

    @property
    def home(self) -> str:
        """Told's folder."""
        return self._home

    @property
    def key(self) -> bytes:
        """The secret key of told's home; b"" if there is none."""
        return read_key(self._home)

    @property
    def machine(self) -> str:
        """This machine's id; created on first use."""
        return get_machine_id(self._home)

    def lock(self) -> AbstractContextManager[None]:
        """Keep other writers out of told's home."""
        folder = journal_folder(self._home)
        try:
            make_folder(folder)
        except OSError as error:
            raise cannot_write(folder, error) from None
        return SeriesLock(folder)

    def append(
        self, drafts: Sequence[Draft], memories: Memories, *, now: int, sync: bool = True,
        at_home: bool = False,
    ) -> None:  # fmt: skip
        """Append operations to the journals of their projects, or to told's home."""
        from told.journal.append import append, append_to_projects  # noqa: PLC0415 - reading does without

        if not at_home and has_projects(self._home) and any(draft.memory for draft in drafts):
            drafts = append_to_projects(self._home, memories, drafts, now)
        if drafts:
            append(self._home, drafts, now=now, sync=sync)

    def catch_up(self, memories: Memories) -> Memories:
        """Apply new operations; return a copy in memory where the database cannot be written."""
        from told.journal.apply import catch_up_or_copy  # noqa: PLC0415 - likewise

        return catch_up_or_copy(self._home, memories)

    def operations(self) -> list[Operation]:
        """Return all operations in their order."""
        every = read_operations(journal_folder(self._home))
        return [found for found in every if isinstance(found, Operation)]

    def find_by_memory(self, prefixes: Collection[str]) -> Iterator[Operation]:
        """Yield the operations on memories whose ids have one of the prefixes."""
        return find_by_memory(journal_folder(self._home), prefixes)

    def find_by_kind(self, kinds: Collection[str]) -> Iterator[Operation]:
        """Yield the operations of some kinds, machine by machine."""
        return find_by_kind(journal_folder(self._home), kinds)

    def find_edits(self, kinds: Collection[str], memory: str = "") -> list[tuple[str, Operation]]:
        """Return the user's operations of some kinds with the machine that made them.

        Empty if there are no copies of other machines' series.
        """
        every = [
            one for one in list_series(journal_folder(self._home)) if not one.copy or one.copy.kind == OWN
        ]
        if all(one.copy is None for one in every):
            return []
        from told.journal.fold import name_operation  # noqa: PLC0415 - likewise

        machine = self.machine
        needles = [dump_json(memory).encode()] if memory else [f'"kind":"{kind}",'.encode() for kind in kinds]
        origins: dict[str, str] = {}
        found: list[tuple[str, Operation]] = []
        for series in every:
            origin = series.machine if series.copy or not series.project else machine
            some = find_in_series(
                series, needles, lambda one: one.kind in kinds and memory in ("", one.memory)
            )
            own = (one for one in some if not one.by.startswith(TEAM))
            found += [(origins.setdefault(name_operation(one), origin), one) for one in own]
        return found

    def erase(self, memories: Collection[str]) -> int:
        """Erase the payloads of all operations on some memories; return how many."""
        from told.journal.erase import erase  # noqa: PLC0415 - likewise

        return erase(self._home, memories)

    def purge(self, memories: Memories) -> None:
        """Remove erased payloads from the database, including its free pages."""
        from told.journal.apply import purge_erased  # noqa: PLC0415 - likewise

        purge_erased(self._home, memories)
