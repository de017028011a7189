"""Sync `sessions.db` with the checkpoint files, which may be edited by hand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import islice

import apsw

from told.ingest.checkpoint_approval import UNAPPROVED, is_approved
from told.ingest.checkpoint_files import (
    SUFFIX,
    UnreadableError,
    home_folder,
    is_home_folder,
    list_files,
    list_folders,
    project_folder,
    read_checkpoint,
)
from told.ingest.checkpoint_markdown import read_id_from_name
from told.ingest.checkpoint_rows import (
    close_sessions,
    foreign_session_id,
    is_agent_name,
    redact_checkpoint,
    remove_forgotten,
    to_row,
)
from told.ingest.forgotten import Forgotten, Tombstones
from told.ingest.projects import Locator, normalize_remote
from told.journal.registry import list_projects
from told.model import OPEN, Handover
from told.redact.names import redact_id, redact_path
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import load_key, public_id
from told.store.sessions.checkpoints import KnownFile, OwnCheckpoints, Project, Projects
from told.store.sessions.write import SessionState, SessionWriter

State = tuple[int, int]  # size, change time in ns

_NO_AGENT = "told"  # the agent of a checkpoint that names none
_BATCH_FILES, _BATCH_BYTES = 200, 2 << 20  # in one transaction
_MAX_SIBLINGS = 5  # read to find the project of a folder
_MAX_RECENT = 100  # files checked for edits; the sweep checks all


def sync_checkpoints(
    connection: apsw.Connection, home: str, redact: Callable[[str], str], *, folder: str = "", most: int = 0,
    seconds: float = 0.0,
) -> int:  # fmt: skip
    """Read new and changed files and drop deleted ones; return how many, -1 for more than `most`.

    In one folder or all; no further batch starts after so many seconds.
    """
    found, unreadable = _list_found(home, folder)
    known = OwnCheckpoints(connection).known(folder)
    changed = {
        path: state for path, state in found.items() if path not in known or known[path].state != state
    }
    gone = {path for path in known if path not in found and os.path.dirname(path) not in unreadable}
    if most and len(changed) > most:
        return -1
    count = 0
    if changed or gone:
        writer = _CheckpointWriter(connection, home, redact)
        deadline = time.monotonic() + seconds
        for batch in _split(changed):
            writer.write(batch, gone)
            count += len(batch) + len(gone)
            gone = set()
            if seconds and time.monotonic() > deadline:
                break
    return count


def _split(changed: dict[str, State]) -> Iterator[dict[str, State]]:
    """Yield batches, latest files first; an empty one if nothing changed."""
    batch: dict[str, State] = {}
    size = 0
    for path in sorted(changed, reverse=True):  # names start with the time
        if batch and (len(batch) == _BATCH_FILES or size + changed[path][0] > _BATCH_BYTES):
            yield batch
            batch, size = {}, 0
        batch[path] = changed[path]
        size += changed[path][0]
    yield batch


def _list_found(home: str, folder: str = "") -> tuple[dict[str, State], set[str]]:
    """Return the existing files, and the folders that cannot be read."""
    found: dict[str, State] = {}
    unreadable = set()
    for one in [folder] if folder else list_folders(home):
        try:
            found |= list_files(one)
        except OSError:
            unreadable.add(one)
    return found, unreadable


class _CheckpointWriter:
    def __init__(self, connection: apsw.Connection, home: str, redact: Callable[[str], str]) -> None:
        self._home = home
        self._redact = redact
        self._own = OwnCheckpoints(connection)
        self._writer = SessionWriter(connection, make_extra_words, make_near_words)
        # Not a bound method: a reference cycle would keep the database open.
        self._projects = Projects(connection, lambda name: redact_path(name, redact))
        self._tombstones = Tombstones(home)

    def write(self, changed: dict[str, State], gone: Collection[str]) -> None:
        """Write and drop files in one transaction."""
        read = {path: self._read(path) for path in changed}
        with self._writer.transaction():
            forgotten = self._tombstones.current()
            known = self._own.known()
            # Skip what changed meanwhile, or what another process wrote.
            read = {path: one for path, one in read.items() if _is_unchanged(path, changed[path])}
            gone = {*gone} - _list_found(self._home)[0].keys() if gone else ()
            touched = {known[path].id for path in (*read, *gone) if path in known}
            touched |= {one.id for one in read.values() if one is not None}
            # Read all files with the same id again: which one keeps it must not depend on the order.
            again = [one.path for one in known.values() if one.id and one.id in touched]
            read |= {path: self._read(path) for path in again if path not in read and path not in gone}
            states = {path: changed.get(path) or known[path].state for path in read}
            ids = {path: one.id for path, one in known.items() if path not in gone}
            ids |= {path: "" if one is None else one.id for path, one in read.items()}
            left = set()
            for path in (*read, *gone):
                if path in known:
                    left.update(self._own.clear(self._writer, known[path].source_id))
            for path in gone:
                if path in known:
                    self._own.drop_source(known[path].source_id)
            owners = _find_owners(ids, self._home)
            locator = Locator(self._projects, self._writer)
            for path in sorted(read):
                one = read[path]
                source_id = self._own.add(path, os.path.dirname(path), ids[path], states[path])
                if one is not None:
                    if owners[one.id] != path:  # a copy is a checkpoint of its own
                        one = replace(one, id=public_id("c", one.id, path, length=9))
                    left.discard(self._put(path, source_id, one, locator, forgotten))
            close_sessions(self._own, self._writer, left)

    def _read(self, path: str) -> Handover | None:
        try:
            return redact_checkpoint(read_checkpoint(path), self._redact)
        except UnreadableError:
            return None  # `told health` reports it

    def _put(
        self, path: str, source_id: int, one: Handover, locator: Locator, forgotten: Forgotten
    ) -> tuple[str, str]:
        """Store a checkpoint; return its session."""
        folder = os.path.dirname(os.path.dirname(path))
        root = next((project.root for project in list_projects(self._home) if project.folder == folder), "")
        if not root:
            one = self._add_project(one, path)
        agent, native = self._find_session(one)
        if forgotten.has(agent, native):
            return "", ""
        one = remove_forgotten(replace(one, agent=agent, session=native), forgotten)
        if self._is_foreign(agent, native, self._find_project(one, root, locator), bool(root)):
            native = foreign_session_id(native, os.path.dirname(path))
        session = self._writer.session(agent, native) or self._writer.new_session(agent, native)
        session = self._place(session, one, root or one.folder, locator)
        if one.status == OPEN and not is_approved(self._home, path):
            one = replace(one, status=UNAPPROVED)
        self._writer.put_checkpoint(session, source_id, to_row(one, path))
        self._writer.close_session(session.id, session.next_n, session.summary)
        return agent, native

    def _add_project(self, one: Handover, path: str) -> Handover:
        """Add the project of the file's folder, as other files there name it."""
        folder = os.path.dirname(path)
        if one.project or one.folder or is_home_folder(folder, ""):
            return one
        paths = sorted(list_files(folder), reverse=True)
        siblings = [other for other in paths if other != path and read_id_from_name(other)]
        for other in siblings[:_MAX_SIBLINGS]:
            try:
                found = read_checkpoint(other)
            except UnreadableError:
                continue
            project = redact_path(found.project, self._redact)
            if found.project and is_home_folder(folder, project):
                return replace(one, project=project, folder=redact_path(found.folder, self._redact))
        return one

    def _find_session(self, one: Handover) -> tuple[str, str]:
        """Return agent and native id of a checkpoint's session."""
        agent = one.agent if is_agent_name(one.agent) else _NO_AGENT
        if not one.session:
            return agent, f"checkpoint-{one.id}"
        native = redact_id(one.session, self._redact, lambda: load_key(self._home))
        if self._writer.session(agent, native) is None:
            return self._own.find_session(one.session) or (agent, native)
        return agent, native

    def _find_project(self, one: Handover, root: str, locator: Locator) -> int:
        """Return the project of a file, by its folder or its text; 0 if none."""
        if root:
            return locator.locate(root, "")[0]
        known = self._projects.by_key(one.project) if one.project else None
        return known.id if known is not None else 0

    def _is_foreign(self, agent: str, native: str, project_id: int, in_project: bool) -> bool:
        """Return whether the session belongs to another project than its checkpoint.

        Anybody can write a project's files: they must not change sessions of other projects.
        """
        known = self._writer.session(agent, native)
        if known is None or not project_id or known.project_id == project_id:
            return False
        return bool(known.project_id) or (in_project and bool(known.next_n or known.cwd))

    def _place(self, session: SessionState, one: Handover, folder: str, locator: Locator) -> SessionState:
        """Assign a session without a project to the one its checkpoint names."""
        if session.project_id:
            return session
        project_id, part = 0, ""
        if folder and os.path.isdir(folder):
            project_id, part = locator.locate(folder, "")
        else:
            known = self._projects.at(folder) if folder else None
            if known is None and one.project:
                known = self._projects.put(one.project, _project_name(one.project, one.folder), one.folder)
            project_id = known.id if known is not None else 0
        if not project_id:
            return session
        self._writer.place_session(session.id, project_id, self._projects.hide(part))
        return self._writer.session(session.agent, session.native) or session


def _find_owners(ids: dict[str, str], home: str) -> dict[str, str]:
    """Return the file that keeps each id: in told's home first, then the one named by it."""
    found: dict[str, str] = {}
    own = os.path.join(home, "")
    for path in sorted(
        ids, key=lambda path: (not path.startswith(own), read_id_from_name(path) != ids[path], path)
    ):
        found.setdefault(ids[path], path)
    return found


def _file_state(path: str) -> State:
    found = os.lstat(path)
    return found.st_size, found.st_mtime_ns


def _is_unchanged(path: str, state: State) -> bool:
    try:
        return _file_state(path) == state
    except OSError:
        return False


def _project_name(key: str, folder: str) -> str:
    """Return a name for a project that is known only by its key."""
    where = key.removeprefix("path:") if key.startswith("path:") else folder
    named = "" if key.startswith(("path:", "commit:")) else normalize_remote(key)[1]
    return named or where.rstrip("/").rpartition("/")[2] or key


def find_changed_folders(connection: apsw.Connection, home: str, project: Project | None) -> list[str]:
    """Return the checkpoint folders that changed, of one project or of all."""
    own = OwnCheckpoints(connection)
    if project is not None:
        at_home = home_folder(home, project.key, project.name)
        paths = dict.fromkeys((project_folder(home, project.key, project.name, project.root), at_home))
        return [folder for folder in paths if _has_changed(folder, own.known(folder))]
    known: dict[str, dict[str, KnownFile]] = {}
    for path, one in own.known().items():
        known.setdefault(os.path.dirname(path), {})[path] = one
    paths = dict.fromkeys((*list_folders(home), *known))
    return [folder for folder in paths if _has_changed(folder, known.get(folder, {}))]


def _has_changed(folder: str, known: dict[str, KnownFile]) -> bool:
    """Return whether files were added, deleted or, among the latest, edited."""
    try:
        names = {name for name in os.listdir(folder) if name.endswith(SUFFIX) and not name.startswith(".")}
        if names == {path[len(folder) + 1 :] for path in known}:
            return any(_file_state(path) != one.state for path, one in islice(known.items(), _MAX_RECENT))
        return list_files(folder) != {path: one.state for path, one in known.items()}
    except (FileNotFoundError, NotADirectoryError):
        return bool(known)
    except OSError:
        return False
