"""Exchange the checkpoints in told's home with the user's other machines.

They are operations of a kind of their own, but the files count. Each version that is published names the
versions before it, so that a machine knows whether it may replace its file: a text that the other machine had
not seen is kept as a checkpoint of its own. Only the newest version of a checkpoint has a payload.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

import apsw

from told.errors import NotFoundError, UsageError
from told.files import cannot_write, make_folder, read_text, write_private
from told.ingest.checkpoint_files import (
    FOLDER,
    UnreadableError,
    create_checkpoint,
    list_files,
    list_folders,
    new_path,
    read_checkpoint,
)
from told.ingest.checkpoint_markdown import format_checkpoint, parse_checkpoint
from told.ingest.checkpoint_rows import clean_checkpoint, forget_checkpoint
from told.ingest.checkpoint_sync import sync_checkpoints
from told.ingest.forgotten import Tombstones
from told.journal.append import append, append_copies
from told.journal.erase import erase, erase_operations
from told.journal.files import (
    CHECKPOINT,
    CLOCK,
    FORGET_CHECKPOINT,
    IDENTITY,
    Draft,
    Operation,
    SeriesLock,
    get_machine_id,
    journal_folder,
    read_clock,
)
from told.journal.read import find_by_kind, find_in_series
from told.journal.registry import list_shared_series
from told.jsontext import as_text, dump_json, load_json
from told.model import CLOSED, USER, Handover
from told.pattern import lazy_pattern
from told.store.database import public_id
from told.store.sessions.schema import is_checkpoint_id
from told.sync.outbox import SEGMENT_BYTES
from told.sync.spaces import Space, own_space
from told.sync.state import digest, read_file

_MAX_TEXT = 400_000  # bytes; told's own checkpoints are shorter
_MAX_BEFORE = 40  # earlier versions that a version names
_BEFORE, _PLACE, _TEXT = "before", "folder", "text"  # payload fields
_FOLDER_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_FILE = "checkpoints.json"


@dataclass(slots=True)
class _Known:
    """A checkpoint as it was last exchanged."""

    path: str = ""  # below the folder of checkpoints; empty: the user deleted the file
    state: list[int] = field(default_factory=list)  # size and time of the file
    digest: str = ""  # of the file
    version: str = ""  # the name of its operation
    before: list[str] = field(default_factory=list)  # the versions before it


@dataclass(slots=True)
class _Book:
    """What was exchanged, by the ids of checkpoints."""

    heads: dict[str, int] = field(default_factory=dict)  # how far each series was read
    files: dict[str, list[int]] = field(default_factory=dict)  # size and time of all files, by path
    known: dict[str, _Known] = field(default_factory=dict)


def note_forgotten(home: str, ids: list[str], now: int) -> None:
    """Erase what was shared of forgotten checkpoints, and let the next sync tell other machines."""
    if ids and own_space(home):
        append(home, [Draft(FORGET_CHECKPOINT, USER, None, one) for one in ids], now=now)
        erase(home, ids)


class CheckpointExchange:
    """Brings the checkpoints of this machine and of a space together."""

    def __init__(
        self, home: str, space: Space, connection: apsw.Connection, redact: Callable[[str], str], now: int
    ) -> None:
        self._home, self._space, self._connection, self._now = home, space, connection, now
        self._redact = redact
        self._folder = os.path.join(home, FOLDER)
        self._machine = get_machine_id(home)
        self._book_path = os.path.join(space.folder(home), _FILE)
        self._book = _load_book(self._book_path)
        self._has_changed = False

    def forget(self, ids: list[str]) -> None:
        """Delete checkpoints that the user forgot on another machine."""
        for one in dict.fromkeys(ids):
            with suppress(NotFoundError, UsageError):
                forget_checkpoint(self._connection, self._home, one)
            self._book.known.pop(one, None)
        if ids:
            erase(self._home, ids)
            self._save()

    def run(self, heads: dict[str, int]) -> None:
        """Write what arrived, then publish what is new here; `heads` is how far each other series goes."""
        found = self._list_files()
        if found == self._book.files and self._book.heads == heads:
            return
        for one in self._book.known.values():
            one.path = one.path if one.path in found else ""
        forgotten = {one.memory for one in find_by_kind(journal_folder(self._home), (FORGET_CHECKPOINT,))}
        self._forget_sessions(forgotten)
        versions = self._read_versions(forgotten)
        try:
            for public, every in versions.items():
                self._receive(public, every[-1])
            self._publish(forgotten, versions)
        except OSError as error:
            raise cannot_write(self._folder, error) from None
        old = []  # versions that a newer one replaces: nothing that was cut out stays
        for *others, newest in self._read_versions(forgotten).values():
            replaced = _list_before(newest)
            old += [one.hash for one in others if one.identity in replaced or one.machine == self._machine]
        erase_operations(self._home, frozenset(old))
        self._book.heads, self._book.files = heads, self._list_files()
        self._save()
        if self._has_changed:
            sync_checkpoints(self._connection, self._home, self._redact)

    def _list_files(self) -> dict[str, list[int]]:
        """Return size and time of the files in told's home, by their paths below the folder."""
        own = [one for one in list_folders(self._home) if self._is_own(one)]
        return {
            os.path.relpath(path, self._folder): list(state)
            for folder in own
            for path, state in list_files(folder).items()
        }

    def _is_own(self, folder: str) -> bool:
        top, name = os.path.split(folder)
        return folder == self._folder or (top == self._folder and bool(_FOLDER_NAME.fullmatch(name)))

    def _read_versions(self, forgotten: set[str]) -> dict[str, list[Operation]]:
        """Return the versions of each checkpoint that have a payload, in the order all machines agree on."""
        prefix = f"{self._space.id}/"
        found: dict[str, list[Operation]] = {}
        for series in list_shared_series(self._home):
            if series.copy and series.copy.folder.startswith(prefix):
                needles = [f'"kind":"{CHECKPOINT}",'.encode()]
                for one in find_in_series(series, needles, lambda one: one.kind == CHECKPOINT):
                    if one.payload and is_checkpoint_id(one.memory) and one.memory not in forgotten:
                        found.setdefault(one.memory, []).append(one)
        for every in found.values():
            every.sort(key=lambda one: (one.order, one.machine, one.number))
        return found

    def _forget_sessions(self, forgotten: set[str]) -> None:
        """Forget the checkpoints whose files are gone because their session was forgotten here."""
        gone = {name for name, one in self._book.known.items() if not one.path} - forgotten
        if not gone:
            return
        sessions = Tombstones(self._home).current()
        found = []
        for public, every in self._read_versions(forgotten).items():
            one = parse_checkpoint(as_text((every[-1].payload or {}).get(_TEXT)))
            if public in gone and sessions.has(one.agent, one.session):
                found.append(public)
        note_forgotten(self._home, found, self._now)
        forgotten.update(found)

    def _receive(self, public: str, newest: Operation) -> None:
        """Write the newest version of a checkpoint, unless it is here or the user deleted the file."""
        known = self._book.known.get(public)
        before = _list_before(newest)
        if known and newest.identity in (known.version, *known.before):
            return
        theirs = self._parse(public, newest)
        if theirs is None:
            return
        entry = _Known(version=newest.identity, before=before)
        self._book.known[public] = entry
        if known and not known.path:
            return
        path = self._find_path(public, known)
        if not path:
            name = as_text((newest.payload or {}).get(_PLACE))
            if name and not _FOLDER_NAME.fullmatch(name):
                return
            path = new_path(os.path.join(self._folder, name), theirs)
        ours, merged = self._read(path), theirs
        if ours and ours != theirs:
            is_edited = known is None or digest(read_file(path)) != known.digest
            if is_edited or (known and known.version not in before):
                merged = self._merge(path, ours, theirs)
        if ours:
            write_private(path, format_checkpoint(merged).encode("utf-8", "replace"))
        else:
            create_checkpoint(path, merged)
        self._note_file(entry, path)
        if merged != theirs:  # published as the next version
            entry.state, entry.digest = [], ""
        self._has_changed = True

    def _parse(self, public: str, operation: Operation) -> Handover | None:
        """Return the checkpoint of an operation, redacted; None if it cannot be one."""
        text = as_text((operation.payload or {}).get(_TEXT))
        if not text or len(text) > _MAX_TEXT or "\0" in text:
            return None
        one = clean_checkpoint(parse_checkpoint(text), self._home, self._redact)
        return one if one.id == public else None

    def _merge(self, path: str, ours: Handover, theirs: Handover) -> Handover:
        """Keep a text that the other machine had not seen as a checkpoint of its own."""
        if replace(ours, status=CLOSED) == replace(theirs, status=CLOSED):
            return replace(theirs, status=CLOSED)
        other = replace(ours, id=public_id("c", ours.id, format_checkpoint(ours), length=9))
        with suppress(FileExistsError):
            create_checkpoint(new_path(os.path.dirname(path), other), other)
        return theirs

    def _find_path(self, public: str, known: _Known | None) -> str:
        """Return the path of a checkpoint's file on this machine, if it has one."""
        if known:
            return os.path.join(self._folder, known.path)
        for name in self._list_files():
            path = os.path.join(self._folder, name)
            if public in name and (one := self._read(path)) and one.id == public:
                return path
        return ""

    def _read(self, path: str) -> Handover | None:
        try:
            found = read_checkpoint(path)
        except UnreadableError:
            return None
        return clean_checkpoint(found, self._home, self._redact)

    def _note_file(self, entry: _Known, path: str) -> None:
        state = os.lstat(path)
        entry.path = os.path.relpath(path, self._folder)
        entry.state = [state.st_size, state.st_mtime_ns]
        entry.digest = digest(read_file(path))

    def _publish(self, forgotten: set[str], versions: dict[str, list[Operation]]) -> None:
        """Append new and changed checkpoints to this machine's series."""
        folder = self._space.series_folder(self._home, self._machine)
        make_folder(folder)
        with SeriesLock(folder):
            append_copies(folder, self._machine, list(self._find_new(forgotten, versions)), SEGMENT_BYTES)

    def _find_new(self, forgotten: set[str], versions: dict[str, list[Operation]]) -> Iterator[Operation]:
        by_path = {one.path: name for name, one in self._book.known.items() if one.path}
        seen = read_clock(self._home)
        for name, state in sorted(self._list_files().items()):
            known = self._book.known.get(by_path.get(name, ""))
            is_shared = by_path.get(name) in versions
            if known and is_shared and known.state == state:
                continue
            path = os.path.join(self._folder, name)
            one = self._read(path)
            public = one.id if one else ""
            other = self._book.known.get(public)
            if (
                not one
                or not is_checkpoint_id(public)
                or public in forgotten
                or (other and other.path not in ("", name))
            ):
                continue
            entry = other or _Known()
            was = entry.digest
            self._note_file(entry, path)
            self._book.known[public] = entry
            text = format_checkpoint(one)
            if (is_shared and entry.digest == was) or len(text.encode("utf-8", "replace")) > _MAX_TEXT:
                continue
            if entry.version:
                entry.before = [*entry.before, entry.version][-_MAX_BEFORE:]
            entry.version = os.urandom(8).hex()
            payload = {
                IDENTITY: entry.version, _PLACE: os.path.dirname(name), _TEXT: text, _BEFORE: entry.before,
            } | ({CLOCK: seen + 1} if seen >= self._now else {})  # fmt: skip
            yield Operation(self._machine, 0, self._now, CHECKPOINT, public, one.by, payload)

    def _save(self) -> None:
        write_private(self._book_path, dump_json(asdict(self._book)).encode())


def _list_before(operation: Operation) -> list[str]:
    found = (operation.payload or {}).get(_BEFORE)
    return [one for one in found if isinstance(one, str)][-_MAX_BEFORE:] if isinstance(found, list) else []


def _load_book(path: str) -> _Book:
    try:
        found = load_json(read_text(path))
        known = {name: _Known(**row) for name, row in found["known"].items()}
        return _Book(dict(found["heads"]), dict(found["files"]), known)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return _Book()
