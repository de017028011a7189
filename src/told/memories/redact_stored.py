"""Remove from everything told has stored what current rules redact.

This covers both databases, all journals, the archive, checkpoints and logs. Each is redacted on its own;
running it again finishes an interrupted run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import apsw

from told.errors import BusyError, MissingError
from told.files import UNFINISHED, cannot_write, read_text, write_private
from told.ingest.archive import archive_quiet_sessions
from told.ingest.checkpoint_approval import keep_approval
from told.ingest.checkpoint_files import new_path, rewrite_checkpoint
from told.ingest.checkpoint_markdown import parse_checkpoint, read_id_from_name
from told.ingest.checkpoint_rows import drop_missing
from told.ingest.leftovers import LOGS, list_damaged_copies, release_locks, remove_traces, wait_for_lock
from told.ingest.redact_sessions import (
    Finding,
    SessionRescanner,
    find_archive_secrets,
    redact_archive,
    redact_places,
)
from told.journal.apply import open_memories, purge_erased, rebuild
from told.journal.erase import find_secrets, redact_journals
from told.journal.registry import list_projects, read_registry
from told.memories.session_notes import PROMPTS, list_notes, remove_notes
from told.redact.rescan import Rescanner, make_excerpt
from told.store.database import LEARN_LOCK, SWEEP_LOCK
from told.store.memories.read import memory_path
from told.store.sessions.erase import purge_sessions

_CACHES = ("places", "hook.current", "hook.handed")
_MAX_FILE = 64 * 1024 * 1024  # bytes of a log or checkpoint


class LooseFiles:
    """Checkpoints, logs and caches in told's folders."""

    def __init__(self, home: str, rescanner: Rescanner) -> None:
        self._home = home
        self._rescanner = rescanner

    def find(self) -> Iterator[Finding]:
        """Yield what redaction would change or remove."""
        names = [*LOGS, *(os.path.join(PROMPTS, name) for name in list_notes(self._home))]
        logs = [os.path.join(self._home, name) for name in names]
        for kind, paths in (("note", self._list_checkpoints()), ("log", logs)):
            for path in paths:
                old = _read(path)
                new = self._rescanner.redact_text(old)
                if new != old:
                    yield Finding(kind, os.path.relpath(path, self._home), make_excerpt(old, new))
        for _ in self._find_shown_logs():
            yield Finding("name", "", "")
        for name in list_damaged_copies(self._home):
            yield Finding("aside", name, "")

    def redact(self) -> None:
        """Redact checkpoints; remove logs and caches."""
        for path in self._list_checkpoints():
            old = _read(path)
            new = self._rescanner.redact_text(old)
            if new == old or path.endswith(UNFINISHED):
                continue
            with keep_approval(self._home, path):
                rewrite_checkpoint(path, new)
            one = parse_checkpoint(new, path)
            if read_id_from_name(path) and one.at:  # the file's name contains the title
                os.replace(path, new_path(os.path.dirname(path), one))
        caches = (os.path.join(self._home, name) for name in _CACHES)
        for path in (*caches, *self._find_shown_logs()):
            if os.path.isfile(path):
                os.remove(path)
        remove_notes(self._home)
        remove_traces(self._home)

    def _list_checkpoints(self) -> Iterator[str]:
        """Yield the checkpoints in told's folder and in projects."""
        for folder in (self._home, *(place.folder for place in list_projects(self._home))):
            for parent, _, names in sorted(os.walk(os.path.join(folder, "checkpoints"))):
                yield from (os.path.join(parent, name) for name in sorted(names))

    def _find_shown_logs(self) -> Iterator[str]:
        """Yield the shown-logs of sessions whose ids contain a secret."""
        folder = os.path.join(self._home, "shown")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            session = _read(os.path.join(folder, name)).partition("\n")[0]
            if self._rescanner.redact_id(session) != session:
                yield os.path.join(folder, name)


def _read(path: str) -> str:
    try:
        return read_text(path, _MAX_FILE)
    except OSError:
        return ""


_STARTED = "redacting.lock"  # exists until a run has finished
_SEARCH = "search"  # the search index; its source is counted instead
_MAX_EXAMPLES = 5  # of each kind
_BATCH = 500  # memories
_LOCK_WAIT = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class RedactionScan:
    """What current rules would redact."""

    counts: dict[str, int]  # by kind
    shown: tuple[Finding, ...]  # a few of each kind
    sessions: tuple[int, ...]
    elsewhere: tuple[str, ...]  # agents' own files that still contain it
    absent: tuple[str, ...]  # projects whose folder is missing
    begun: bool  # an earlier run was interrupted

    @property
    def names(self) -> bool:
        """Return whether names of sessions, projects or paths contain a secret."""
        return "name" in self.counts

    @property
    def total(self) -> int:
        """Return the number of texts."""
        return sum(self.counts.values())


class Redaction:
    """Scan and redact everything told has stored."""

    def __init__(
        self, connection: apsw.Connection, home: str, redact: Callable[[str], str], key: bytes
    ) -> None:
        """Create a run with the open session store, told's folder, the redactor and told's key."""
        self._connection = connection
        self._home = home
        self._rescanner = Rescanner(redact, key)
        self._sessions = SessionRescanner(connection, self._rescanner)
        self._files = LooseFiles(home, self._rescanner)

    def scan(self, report: Callable[[int, int], None] | None = None) -> RedactionScan:
        """Find what would be redacted; change nothing."""
        counts: dict[str, int] = {}
        shown: list[Finding] = []
        sessions: dict[int, None] = {}
        files: set[str] = set()
        for one in self._find_all(report):
            if one.session:
                sessions[one.session] = None
            if one.file:
                files.add(one.file)
            if one.kind == _SEARCH:
                continue
            counts[one.kind] = counts.get(one.kind, 0) + 1
            if counts[one.kind] <= _MAX_EXAMPLES and one.shown:
                shown.append(one)
        for session in sessions:
            files.update(self._sessions.files_of(session))
        absent = [place.root for place in read_registry(self._home) if not place.exists]
        elsewhere, gone = (
            tuple(sorted(map(self._rescanner.redact_path, paths))) for paths in (files, absent)
        )
        begun = os.path.exists(os.path.join(self._home, _STARTED))
        return RedactionScan(counts, tuple(shown), tuple(sessions), elsewhere, gone, begun)

    def apply(self, found: RedactionScan, now: int, rebuild_sessions: Callable[[], apsw.Connection]) -> None:
        """Redact what a scan found in told's own files.

        Args:
            found: The scan's result.
            now: The current time in ms since 1970.
            rebuild_sessions: Rebuilds and opens the session store.

        Raises:
            BusyError: another process is reading or writing; some bytes may remain.
            MissingError: something cannot be written.
        """
        locks = [wait_for_lock(self._home, what, _LOCK_WAIT) for what in (SWEEP_LOCK, LEARN_LOCK)]
        try:
            if None in locks:
                raise BusyError("told is reading history at the moment. Try again when it is done.")
            self._apply(found, now, rebuild_sessions)
        except OSError as error:
            raise cannot_write(self._home, error) from None
        finally:
            release_locks(locks)

    def _apply(self, found: RedactionScan, now: int, rebuild_sessions: Callable[[], apsw.Connection]) -> None:
        begun = os.path.join(self._home, _STARTED)
        write_private(begun, b"")
        self._sessions.redact(found.sessions)
        if found.names:
            # The session store is rebuilt afterwards; archive everything first so nothing is lost.
            archive_quiet_sessions(self._connection, self._home, now, everything=True)
        redact_archive(self._connection, self._home, self._rescanner)
        failed = None
        try:
            redact_journals(self._home, self._rescanner)
        except MissingError as error:  # perhaps of one project; redact the rest anyway
            failed = error
        rebuild_all = found.names or found.begun
        if not rebuild_all:
            with closing(open_memories(self._home)) as memories:
                purge_erased(self._home, memories)
        if rebuild_all or any(True for _ in self._find_in_memories()):
            rebuild(self._home).close()
        self._files.redact()
        drop_missing(self._connection)  # checkpoints may have been renamed
        if found.names:
            self._connection = rebuild_sessions()
            redact_places(self._home, self._rescanner)  # the old store has written them again
        purge_sessions(self._connection)
        if failed:
            raise failed
        os.remove(begun)

    def _find_all(self, report: Callable[[int, int], None] | None) -> Iterator[Finding]:
        yield from self._sessions.find(report)
        yield from find_archive_secrets(self._home, self._rescanner)
        in_journal = False
        for one in find_secrets(self._home, self._rescanner):
            in_journal = True
            if one.named:
                yield Finding("name", "", "")
            yield Finding("journal", one.memory or os.path.basename(one.file), make_excerpt(one.old, one.new))
        if not in_journal:
            yield from self._find_in_memories()
        yield from self._files.find()

    def _find_in_memories(self) -> Iterator[Finding]:
        """Yield secrets that only the database contains, as of a project that is gone."""
        if not os.path.exists(memory_path(self._home)):
            return
        with closing(open_memories(self._home)) as memories:
            ids = memories.ids()
            for at in range(0, len(ids), _BATCH):
                for one in memories.get(ids[at : at + _BATCH]).values():
                    said = [item.value for item in one.triggers] + [place.quote for place in one.evidence]
                    for text in (one.text, one.context, one.label, *one.entities, *said):
                        if (new := self._rescanner.redact_text(text)) != text:
                            yield Finding("memory", one.id, make_excerpt(text, new))
                            break
