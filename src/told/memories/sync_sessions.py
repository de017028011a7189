"""Exchange archived sessions with the user's other machines.

Each machine publishes the sessions of its own agents, redacted again, without what private memories say and
without projects that are excluded from learning. A session of another machine is in the archive here, with
its origin, and is searched like others. A machine never publishes those, but it replaces or removes them at
the place when the user forgets something here: their machine may be switched off for long.
"""

from __future__ import annotations

import io
import os
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from told.files import read_text, write_private
from told.ingest.archive import (
    archive_path,
    format_draft,
    list_archive_files,
    pack_draft,
    read_draft,
    read_origin,
    restore_sessions,
    sync_disk,
    write_lines,
)
from told.ingest.fold import Origin, SessionDraft
from told.ingest.forgotten import SESSION_TOPIC, Forgotten, Tombstones
from told.ingest.leftovers import Forgetting, note_forgetting
from told.journal.files import get_machine_id
from told.journal.transfer import read_own_operations
from told.jsontext import dump_json, load_json
from told.memories.exports import find_private, hide_private
from told.memories.forget import erase_sessions
from told.memories.sync import SyncStores
from told.pattern import lazy_pattern
from told.store.sessions.erase import SessionEraser
from told.store.sessions.read import SessionReader
from told.sync.exchange import Exchanger
from told.sync.heads import BadHeadError, Head
from told.sync.session_files import Parts, SessionFiles, SessionList, SharedSessions, book_path, group_by_size
from told.sync.spaces import Space
from told.sync.state import digest

_AGENT = lazy_pattern(r"[a-z0-9][a-z0-9-]{0,60}")
_GROUP = 50  # files that are fetched before their sessions are imported
State = list[int]  # size and time of a file


@dataclass(slots=True)
class _Own:
    """An archive file of this machine, as it was last read."""

    state: State
    name: str = ""  # agent/native id; empty if it is not shared
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Received:
    """The sessions of another machine, as they were last fetched."""

    listed: str = ""  # the name of its list
    parts: dict[str, list[str]] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)  # of the archive files


@dataclass(slots=True)
class _Book:
    """What was exchanged."""

    folders: str = ""  # digest of the times of the archive's folders
    own: dict[str, _Own] = field(default_factory=dict)  # by path below the archive
    received: dict[str, _Received] = field(default_factory=dict)  # by machine
    erased: list[str] = field(default_factory=list)  # forgotten sessions that are erased here
    checked: dict[str, list[str]] = field(default_factory=dict)  # lists with nothing that was forgotten here


class SessionExchange:
    """Brings the archived sessions of this machine and of a space together."""

    def __init__(self, source: SyncStores, space: Space, exchanger: Exchanger) -> None:
        self._source, self._space, self._exchanger = source, space, exchanger
        self._home, self._connection = source.home, source.connection
        self._is_excluded = source.is_excluded
        self._files = SessionFiles(space, exchanger.transport)
        self._machine = get_machine_id(source.home)
        self._path = book_path(source.home, space)
        self._book = _load_book(self._path)
        self._folders = ""

    def run(self) -> SharedSessions:
        """Erase what is forgotten, fetch what is new, and return what this machine publishes."""
        self._forget()
        if self._space.sessions:
            for series, head in sorted(self._exchanger.own_heads.items()):
                self._receive(series, head)
        self._folders = _describe_folders(self._home)
        wanted = self._collect() if self._space.sessions else SessionList()
        self._save()
        return SharedSessions(self._files, wanted, self._read_content, self._list_changes)

    def _forget(self) -> None:
        """Erase the sessions that were forgotten on another machine."""
        noted = self._source.memories.noted(SESSION_TOPIC)
        new = sorted(noted.keys() - set(self._book.erased))
        if not new:
            return
        names = {(agent, native) for agent, _, native in (one.partition("/") for one in new)}
        eraser = SessionEraser(self._connection)
        names |= {(agent, helper) for agent, native in names for helper in eraser.helpers(agent, native)}
        known = [
            (agent, native)
            for agent, native in sorted(names)
            if _AGENT.fullmatch(agent)
            and (eraser.find(agent, native) or os.path.exists(archive_path(self._home, agent, native)))
        ]
        if known:
            with note_forgetting(self._home, Forgetting((), tuple(known))):
                erase_sessions(self._connection, self._home, known)
        self._book.erased = sorted(noted)
        self._save()

    def _receive(self, series: str, head: Head) -> None:
        """Fetch the new sessions of another machine; name those that are damaged."""
        got = self._book.received.setdefault(series, _Received())
        if head.sessions == got.listed:
            return
        problems = []
        try:
            listed = self._files.read_list(head)
        except BadHeadError as error:
            self._exchanger.result.problems.append(f"{self._exchanger.describe(series)}: {error}.")
            return
        got.parts = {name: parts for name, parts in got.parts.items() if name in listed.parts}
        new = [(name, parts) for name, parts in listed.parts.items() if got.parts.get(name) != [*parts]]
        for group in group_by_size(new, _GROUP):
            drafts = {}
            for name, parts in group:
                try:
                    drafts[name] = self._fetch(series, name, parts)
                except BadHeadError as error:
                    problems.append(f"{self._exchanger.describe(series)}: session {name}: {error}.")
            kept = {name: draft for name, draft in drafts.items() if draft}
            for name, draft in kept.items():
                write_lines(_path(self._home, name), format_draft(draft))
            if kept:
                sync_disk()
                paths = [(name.partition("/")[0], _path(self._home, name)) for name in kept]
                restore_sessions(self._connection, self._home, self._source.redact, paths)
            for name, parts in group:
                if name in drafts:
                    got.parts[name] = [*parts]
                if drafts.get(name):
                    got.states[name] = _state_of(_path(self._home, name))
            self._save()
        self._exchanger.result.problems += problems
        got.listed = "" if problems else head.sessions

    def _fetch(self, series: str, name: str, parts: Parts) -> SessionDraft | None:
        """Return a session as it is kept here; None if another one counts, or it is forgotten."""
        draft = read_draft(io.BytesIO(self._files.read_session(series, parts)), self._source.redact)
        agent, _, native = name.partition("/")
        if draft is None or not draft.origin or draft.native != native or not _AGENT.fullmatch(agent):
            raise BadHeadError("it is not a session that told wrote")
        draft.origin = draft.origin._replace(machine=series)
        forgotten = Tombstones(self._home).current()
        if forgotten.has(agent, native, draft.facts.parent):
            return None
        forgotten.cut(agent, draft)
        path = _path(self._home, name)
        here = read_draft(path, str) if os.path.exists(path) else None
        if here is None:
            return None if SessionEraser(self._connection).find(agent, native) else draft
        if here.origin is None:  # of an agent on this machine
            return None
        is_older = draft.next_n < here.next_n + (here.origin.machine != series)
        return None if is_older else draft

    def _collect(self) -> SessionList:
        """Return the sessions that this machine shares."""
        if self._folders != self._book.folders:
            places = SessionReader(self._connection).project_names()
            top = os.path.join(self._home, "archive")
            own = {}
            for agent, path in list_archive_files(self._home):
                name, state = os.path.relpath(path, top), _state_of(path)
                known = self._book.own.get(name)
                if known is None or known.state != state:
                    known = self._describe(agent, path, state, places)
                elif known.name and self._is_excluded(places.get(known.name, ("", "", ""))[0]):
                    known = _Own(state)
                own[name] = known
            self._book.own, self._book.folders = own, self._folders
        return SessionList({one.name: tuple(one.parts) for one in self._book.own.values() if one.name})

    def _describe(self, agent: str, path: str, state: State, places: dict[str, tuple[str, str, str]]) -> _Own:
        draft = self._make_draft(agent, path, places)
        parts = [*self._files.split(pack_draft(draft))] if draft else []
        return _Own(state, f"{agent}/{draft.native}", parts) if draft and parts else _Own(state)

    def _make_draft(
        self, agent: str, path: str, places: dict[str, tuple[str, str, str]]
    ) -> SessionDraft | None:  # fmt: skip
        """Return a session as it is published; None if it is not."""
        if read_origin(path) or not _AGENT.fullmatch(agent):
            return None
        draft = read_draft(path, self._source.redact)
        forgotten = Tombstones(self._home).current()
        if draft is None or not draft.turns or forgotten.has(agent, draft.native, draft.facts.parent):
            return None
        place = places.get(f"{agent}/{draft.native}", ("", "", ""))
        if self._is_excluded(place[0]):
            return None
        draft.origin = Origin(self._machine, *place)
        forgotten.cut(agent, draft)
        if self._hidden:
            self._hidden.cut(agent, draft)
        return draft

    @cached_property
    def _hidden(self) -> Forgotten | None:
        """What cuts out what private memories say."""
        operations = read_own_operations(self._home)
        private = find_private(self._source.memories, operations)
        return hide_private(self._source, [one for one in operations if one.memory in private])

    def _read_content(self, name: str) -> bytes | None:
        """Return the content of one of this machine's sessions."""
        places = SessionReader(self._connection).project_names()
        draft = self._make_draft(name.partition("/")[0], _path(self._home, name), places)
        return pack_draft(draft) if draft else None

    def _list_changes(self, head: Head) -> dict[str, bytes | None]:
        """Return what of another machine's sessions was forgotten here, with its new content."""
        mark = [head.sessions, self._folders, digest(dump_json(self._book.erased).encode())]
        if not head.sessions or self._book.checked.get(head.series) == mark:
            return {}
        try:
            found = self._compare(head.series, self._files.read_list(head))
        except BadHeadError:
            return {}
        if not found:
            self._book.checked[head.series] = mark
            self._save()
        return found

    def _compare(self, series: str, there: SessionList) -> dict[str, bytes | None]:
        got = self._book.received.get(series, _Received())
        forgotten = set(self._book.erased)
        found: dict[str, bytes | None] = {name: None for name in there.parts if name in forgotten}
        for name, parts in there.parts.items():
            if name in found or got.parts.get(name) != [*parts] or name not in got.states:
                continue
            path = _path(self._home, name)
            if not os.path.exists(path) or _state_of(path) == got.states[name]:
                continue
            draft = read_draft(path, self._source.redact)
            if draft and draft.origin and draft.origin.machine == series:
                found[name] = pack_draft(draft)
        return found

    def _save(self) -> None:
        write_private(self._path, dump_json(asdict(self._book)).encode(), sync=False)


def _load_book(path: str) -> _Book:
    try:
        found = load_json(read_text(path))
        own = {str(name): _Own(**row) for name, row in found["own"].items()}
        received = {str(name): _Received(**row) for name, row in found["received"].items()}
        return _Book(str(found["folders"]), own, received, found["erased"], found["checked"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return _Book()


def _path(home: str, name: str) -> str:
    agent, _, native = name.partition("/")
    return archive_path(home, agent, native)


def _state_of(path: str) -> State:
    state = os.stat(path)
    return [state.st_size, state.st_mtime_ns]


def _describe_folders(home: str) -> str:
    """Return a digest that changes with every file of the archive, since told replaces files."""
    folders = [one for depth in ("*", "*/*") for one in Path(home, "archive").glob(depth) if one.is_dir()]
    times = sorted((str(one), one.lstat().st_mtime_ns) for one in folders)
    return digest(dump_json(times).encode())
