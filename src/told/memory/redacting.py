"""Takes out of everything told has stored what today's rules would not let in, to the last byte.

Two databases, the journals of told's home and of projects, the archive, notes and logs. Each of them is
changed by itself and can be looked at again: what was interrupted is finished by doing it once more.
"""

from __future__ import annotations

import os
import time

from told.errors import BusyError, MissingError
from told.guard.second_look import SecondLook, excerpt
from told.ingest.archive import keep
from told.ingest.checkpoint_forgetting import drop_gone
from told.ingest.redacting import Found, SessionRedacting
from told.ingest.redacting_archive import in_archive, redact_archive, redact_places
from told.journal.apply import leave_nothing as leave_no_memory
from told.journal.apply import open_memories, rebuild
from told.journal.files import cannot_write, write_whole
from told.journal.redact import in_journals, redact_journals
from told.journal.registry import registered
from told.memory._redacting_files import LooseFiles
from told.record import record
from told.store.erasing import leave_nothing
from told.store.locks import LEARN, SWEEP, hold_lock
from told.store.memories import memory_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from told.store.memory_records import Memory

_BEGUN = "redacting.lock"  # is there as long as something that was begun is not done
_SEARCH = "search"  # the search's own copy of something that is counted where it stands
_MOST_SHOWN = 5  # of each kind
_AT_ONCE = 500  # memories
_WAIT = 5.0  # seconds for another told that reads or learns


@record
class Scan:
    """What today's rules would take out."""

    counts: dict[str, int]  # by kind
    shown: tuple[Found, ...]  # a few of each kind
    sessions: tuple[int, ...]
    elsewhere: tuple[str, ...]  # agents' files, which still hold it
    absent: tuple[str, ...]  # projects whose folder is not there to look into
    begun: bool  # an earlier run was interrupted

    @property
    def names(self) -> bool:
        """Whether there are names among them, which lead from one place to another."""
        return "name" in self.counts

    @property
    def total(self) -> int:
        """How many texts there are."""
        return sum(self.counts.values())


class Redaction:
    """One run over everything."""

    def __init__(
        self, connection: apsw.Connection, home: str, redact: Callable[[str], str], key: bytes
    ) -> None:
        """Take the open store of sessions, told's folder, what removes secrets, and told's own key."""
        self._connection = connection
        self._home = home
        self._look = SecondLook(redact, key)
        self._sessions = SessionRedacting(connection, self._look)
        self._files = LooseFiles(home, self._look)

    def scan(self, report: Callable[[int, int], None] | None = None) -> Scan:
        """Say what would be taken out; nothing is changed."""
        counts: dict[str, int] = {}
        shown: list[Found] = []
        sessions: dict[int, None] = {}
        files: set[str] = set()
        for one in self._found(report):
            if one.session:
                sessions[one.session] = None
            if one.file:
                files.add(one.file)
            if one.kind == _SEARCH:
                continue
            counts[one.kind] = counts.get(one.kind, 0) + 1
            if counts[one.kind] <= _MOST_SHOWN and one.shown:
                shown.append(one)
        for session in sessions:
            files.update(self._sessions.files_of(session))
        absent = [place.root for place in registered(self._home) if not place.is_there]
        elsewhere, gone = (tuple(sorted(map(self._look.name, paths))) for paths in (files, absent))
        begun = os.path.exists(os.path.join(self._home, _BEGUN))
        return Scan(counts, tuple(shown), tuple(sessions), elsewhere, gone, begun)

    def apply(self, found: Scan, now: int, made_anew: Callable[[], apsw.Connection]) -> None:
        """Take out what a scan found; nothing of it is left in told's own files.

        Args:
            found: By the scan.
            now: In ms since 1970.
            made_anew: Makes the store of sessions anew, from agents' files and the archive, and opens it.

        Raises:
            BusyError: another told is reading or writing; it is taken out, but not all bytes are gone.
            MissingError: something cannot be written.
        """
        locks = [_held(self._home, what) for what in (SWEEP, LEARN)]
        try:
            if None in locks:
                raise BusyError("told is reading history at the moment. Try again when it is done.")
            self._apply(found, now, made_anew)
        except OSError as error:
            raise cannot_write(self._home, error) from None
        finally:
            for lock in locks:
                if lock:
                    os.close(lock)

    def _apply(self, found: Scan, now: int, made_anew: Callable[[], apsw.Connection]) -> None:
        begun = os.path.join(self._home, _BEGUN)
        write_whole(begun, b"")
        self._sessions.redact(found.sessions)
        if found.names:
            # The store of sessions has to be made anew afterwards: nothing is to be lost by that.
            keep(self._connection, self._home, now, everything=True)
        redact_archive(self._connection, self._home, self._look)
        failed = None
        try:
            redact_journals(self._home, self._look)
        except MissingError as error:  # of a project, say; that is no reason to leave the rest as it is
            failed = error
        self._memories(anew=found.names or found.begun)
        self._files.redact()
        drop_gone(self._connection)  # a checkpoint's file may have got another name
        if found.names:
            self._connection = made_anew()
            redact_places(self._home, self._look)  # the old store wrote them down once more
        leave_nothing(self._connection)
        if failed:
            raise failed
        os.remove(begun)

    def _found(self, report: Callable[[int, int], None] | None) -> Iterator[Found]:
        yield from self._sessions.found(report)
        yield from in_archive(self._home, self._look)
        in_journal = False
        for one in in_journals(self._home, self._look):
            in_journal = True
            if one.named:
                yield Found("name", "", "")
            yield Found("journal", one.memory or os.path.basename(one.file), excerpt(one.old, one.new))
        if not in_journal:
            yield from self._in_memories()
        yield from self._files.found()

    def _in_memories(self) -> Iterator[Found]:
        """Yield what only the database knows: of projects whose folder is gone, or not made anew since."""
        if not os.path.exists(memory_path(self._home)):
            return
        memories = open_memories(self._home)
        try:
            ids = memories.ids()
            for at in range(0, len(ids), _AT_ONCE):
                for memory in memories.get(ids[at : at + _AT_ONCE]).values():
                    changed = next(filter(None, map(self._changed, texts_of(memory))), None)
                    if changed:
                        yield Found("memory", memory.id, excerpt(*changed))
        finally:
            memories.close()

    def _changed(self, text: str) -> tuple[str, str] | None:
        new = self._look.text(text)
        return (text, new) if new != text else None

    def _memories(self, *, anew: bool) -> None:
        """Bring the memories in line with the journal, and leave no byte of what they were."""
        if not anew:
            memories = open_memories(self._home)
            try:
                leave_no_memory(self._home, memories)
            finally:
                memories.close()
        if anew or any(True for _ in self._in_memories()):
            rebuild(self._home).close()


def texts_of(memory: Memory) -> list[str]:
    """Return every text of a memory."""
    triggers, quotes = (one.value for one in memory.triggers), (one.quote for one in memory.evidence)
    return [memory.text, memory.label, *memory.entities, *triggers, *quotes]


def _held(home: str, what: str) -> int | None:
    """Take a lock, and wait for it if need be; None if another told has it for long."""
    until = time.monotonic() + _WAIT
    while True:
        lock = hold_lock(home, what)
        if lock is not None or time.monotonic() > until:
            return lock
        time.sleep(0.05)
