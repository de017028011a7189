"""Read new conversation data: find changed files, run the readers, commit batches."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import apsw

from told.agents import all_agents, find_agent
from told.agents.base import Agent, Folder, find_roots, find_sources, is_inside
from told.files import is_utf8
from told.ingest.archive import restore_sessions, restore_texts
from told.ingest.batch import Batch, Portion, fingerprint
from told.ingest.complete_sessions import CompleteSessions, Texts
from told.ingest.fold import SessionBuilder
from told.ingest.forgotten import Tombstones
from told.ingest.projects import load_places
from told.ingest.scan import Changes, file_state, hash_environment
from told.ingest.secret_paths import SecretPaths
from told.model import Cursor, Event, Mark, Problem, Source
from told.redact.names import redact_id, redact_path
from told.search.index_text import make_extra_words, make_near_words
from told.settings import Settings
from told.store.database import load_key
from told.store.sessions.checkpoints import Projects
from told.store.sessions.erase import SessionEraser
from told.store.sessions.read import SessionReader, TurnText
from told.store.sessions.schema import migrate
from told.store.sessions.source_states import SourceStates
from told.store.sessions.sources import KnownSource, Sources
from told.store.sessions.write import SessionWriter

_BATCH = 4_000_000  # characters; bounds memory use
# Variables that decide where agents keep their files, besides the agents' own.
_ROOT_VARIABLES = {
    "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a sweep."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int


Report = Callable[[Progress], None]


class Sweep:
    """Read agents' files; commit sessions in batches, together with the cursors."""

    def __init__(
        self, connection: apsw.Connection, settings: Settings, environ: Mapping[str, str],
        redact: Callable[[str], str],
    ) -> None:  # fmt: skip
        self._connection = connection
        self._settings = settings
        self._environ = environ
        self._redact = redact
        self._writer = SessionWriter(connection, make_extra_words, make_near_words)
        self._sources = Sources(connection)
        # Not a bound method: a reference cycle would keep the database open.
        self._projects = Projects(connection, lambda name: redact_path(name, redact))
        self._secret_paths = SecretPaths(self._sources, settings, redact)
        self._batch = Batch(self._writer, self._sources, self._projects, now, Tombstones(settings.home))

    def read_some(self, changes: Changes, cwd: str, seconds: float) -> int:
        """Read changed files until time is up; return how many are left."""
        deadline = time.monotonic() + seconds
        roots = self._projects.roots()
        left = self._read(self._find_changed(changes, cwd), deadline)
        found = self._find_in_new_projects(roots)
        return left + len(found) if left else self._read(found, deadline)

    def read_file(self, name: str, path: str, cwd: str, seconds: float) -> bool:
        """Read one file of an agent until time is up; return False if it is not the agent's."""
        known = self._sources.get(path)
        agent = find_agent(name)
        if known is None and agent is not None and agent.is_readable:
            self._list_files([agent], cwd)
            known = self._sources.get(path)
        if known is None:
            return False
        if file_state(path) != (known.size, known.changed):
            self._read([known], time.monotonic() + seconds)
        return True

    def read_source(self, source: Source) -> None:
        """Read one file from its start."""
        with self._writer.transaction():
            self._sources.add([source])
        known = self._sources.get(source.path)
        assert known is not None
        self._read([known])

    def read_all(self, changes: Changes, cwd: str, report: Report | None = None) -> int:
        """Read all changed files; return how many.

        The first sweep also restores sessions from the archive.
        """
        roots = self._projects.roots()
        todo = self._find_changed(changes, cwd)
        self._read(todo, report=report)
        found = self._find_in_new_projects(roots)
        self._read(found)
        if not SourceStates(self._connection).last_sweep()[0]:
            restore_sessions(self._connection, self._settings.home, self._redact)
        return len(todo) + len(found)

    def _find_changed(self, changes: Changes, cwd: str) -> list[KnownSource]:
        agents: Iterable[Agent]
        if changes.moved:
            agents = all_agents().values()
            with self._writer.transaction():
                load_places(self._projects, self._settings.home)
        else:
            agents = [agent for name in changes.agents if (agent := find_agent(name)) is not None]
        self._list_files([agent for agent in agents if agent.name not in self._settings.agents_off], cwd)
        if changes.moved:
            with self._writer.transaction():
                names = _ROOT_VARIABLES | {agent.root_variable for agent in agents if agent.root_variable}
                self._sources.put_surroundings(hash_environment(self._environ, names, self._settings.chosen))
        return self._list_unread(changes)

    def _list_files(self, agents: list[Agent], cwd: str) -> None:
        """List the files of some agents; store new files and their folders."""
        if not agents:
            return
        known = self._sources.paths()
        projects = list(dict.fromkeys([*self._projects.roots(), *([cwd] if cwd else [])]))
        listed = []
        for agent in agents:  # outside the transaction, since a disk may be slow
            roots = find_roots(agent, self._environ, self._settings.folder_of(agent.name))
            folders: dict[str, int] = {}
            sources: list[Source] = []
            for found in find_sources(agent, roots, projects if agent.project_layouts else ()):
                if isinstance(found, Folder):
                    folders |= {found.path: found.changed} if is_utf8(found.path) else {}
                elif found[0].path not in known and is_utf8(found[0].path):
                    sources.append(found[0])
            listed.append((agent.name, folders, sources))
        with self._writer.transaction():
            for name, folders, sources in listed:
                self._sources.add(self._secret_paths.filter_sources(sources, now()))
                self._sources.put_folders(name, self._secret_paths.filter_folders(folders.items()))

    def _find_in_new_projects(self, roots: list[str]) -> list[KnownSource]:
        """Find agents' files in project folders that are not among the roots."""
        new = sorted({*self._projects.roots()} - {*roots})
        if not new:
            return []
        listed = [
            (agent.name, list(find_sources(agent, (), new)))
            for agent in all_agents().values()
            if agent.project_layouts and agent.name not in self._settings.agents_off
        ]
        sources = [one[0] for _, found in listed for one in found if not isinstance(one, Folder)]
        with self._writer.transaction():
            for name, found in listed:
                folders = [(one.path, one.changed) for one in found if isinstance(one, Folder)]
                self._sources.add_folders(name, self._secret_paths.filter_folders(folders))
            sources = self._secret_paths.filter_sources(sources, now())
            self._sources.add(sources)
        known = [self._sources.get(source.path) for source in sources]
        return [one for one in known if one is not None and not one.changed]

    def _list_unread(self, changes: Changes) -> list[KnownSource]:
        """List changed sources, latest first; mark deleted ones."""
        paths = {*changes.files}
        todo, gone = [], []
        for known in self._sources.all():
            if known.gone or known.source.agent in self._settings.agents_off:
                continue
            if known.changed and known.source.path not in paths and not changes.moved:
                continue
            state = file_state(known.source.path)
            if state is None or _leads_outside(known.source):
                gone.append(known.source.path)
            elif state != (known.size, known.changed):
                todo.append((state[1], known))
        if gone:
            with self._writer.transaction():
                self._sources.mark_gone(gone)
        todo.sort(key=lambda item: (-item[0], item[1].source.path))
        return [known for _, known in todo]

    def _read(
        self, todo: list[KnownSource], deadline: float | None = None, report: Report | None = None
    ) -> int:
        """Read sources; return how many are left at the deadline."""
        sizes = [(file_state(known.source.path) or (0, 0))[0] for known in todo] if report else []
        done, total = 0, sum(sizes)
        for at, known in enumerate(todo):
            # The latest file is always read: an answer should include today's work.
            if at and deadline is not None and time.monotonic() > deadline:
                self._batch.commit()
                return len(todo) - at
            if not self._read_one(known, deadline):
                return len(todo) - at
            if report is not None:
                done += sizes[at]
                report(Progress(at + 1, len(todo), done, total))
        self._batch.commit()
        for source_id in self._batch.take_again():
            outgrown = self._sources.by_id(source_id)
            if outgrown is not None and not self._read_one(outgrown, deadline):
                return 1
        self._batch.commit()
        return 0

    def _read_one(self, known: KnownSource, deadline: float | None) -> bool:
        """Read one source; return False if the deadline came first."""
        state = file_state(known.source.path)
        agent = find_agent(known.source.agent)
        if state is None or agent is None:
            return True
        start = known.cursor
        if start.offset and known.print and (
            start.offset > state[0] or fingerprint(known.source.path, start.offset) != known.print
        ):  # fmt: skip
            start = Cursor()
        fresh = from_start = start == Cursor()
        begun: set[str] = set()
        builder = self._make_builder(agent, from_start, begun)
        for event in _read_events(agent, known.source, start):
            builder.add(event)
            if not isinstance(event, Mark):
                continue
            is_late = deadline is not None and time.monotonic() > deadline
            if is_late or builder.weight > _BATCH:
                self._add_portion(known, builder, start, fresh, state, finished=False)
                self._batch.commit()
                if is_late:
                    return False
                begun |= builder.drafts.keys()
                start, fresh = builder.cursor or start, False
                builder = self._make_builder(agent, from_start, begun)
        self._add_portion(known, builder, start, fresh, state, finished=True)
        if self._batch.weight > _BATCH:
            self._batch.commit()
        return True

    def _make_builder(self, agent: Agent, from_start: bool, begun: set[str]) -> SessionBuilder:
        def reread(agent_name: str, native: str) -> Texts:
            name = (agent_name, native)
            return reread_texts(self._connection, self._settings, self._environ, self._redact, name)

        def open_turn(native: str) -> tuple[int, TurnText | None]:
            session = self._writer.session(agent.name, native)
            if session is None or not session.next_n:
                return 0, None
            if self._writer.trimmed.has(session.id):  # it continues, so it needs its texts
                reader = CompleteSessions(self._connection, self._settings.home, reread)
                restore_texts(self._writer, reader, session)
            return session.next_n, self._writer.turn(session.id, session.next_n - 1)

        return SessionBuilder(
            from_start=from_start,
            begun=begun,
            redact=self._redact,
            open_turn=open_turn,
            name=lambda session: redact_id(session, self._redact, lambda: load_key(self._settings.home)),
        )

    def _add_portion(
        self, known: KnownSource, builder: SessionBuilder, start: Cursor, fresh: bool,
        state: tuple[int, int], *, finished: bool,
    ) -> None:  # fmt: skip
        drafts, problems = builder.finish(), tuple(builder.problems)
        cursor = builder.cursor or start
        begin = known.cursor if fresh else start
        portion = Portion(known, drafts, problems, begin, cursor, *state, finished, fresh)
        self._batch.add(portion, builder.weight)


def _read_events(agent: Agent, source: Source, start: Cursor) -> Iterator[Event | Problem]:
    """Yield a reader's events; report its failure as a problem of this file."""
    try:
        yield from agent.read(source, start)
    except Exception as error:  # noqa: BLE001 - one bad file never stops the others
        yield Problem(0, f"the reader failed: {type(error).__name__}")


def _leads_outside(source: Source) -> bool:
    """Return whether a file is a link out of its agent's folder."""
    return os.path.islink(source.path) and not is_inside(
        os.path.realpath(source.path), os.path.realpath(source.root)
    )


def now() -> int:
    """Return the time in milliseconds."""
    return time.time_ns() // 1_000_000


def reread_texts(
    connection: apsw.Connection, settings: Settings, environ: Mapping[str, str],
    redact: Callable[[str], str], name: tuple[str, str],
) -> Texts:  # fmt: skip
    """Read a session's texts from its agent's file; {} if the file is gone."""
    owner = Sources(connection).of_session(*name)
    if owner is None or owner.gone:
        return {}
    scratch = apsw.Connection(":memory:")
    try:
        migrate(scratch)
        Sweep(scratch, settings, environ, redact).read_source(owner.source)
        session_id = SessionEraser(scratch).find(*name)
        return {turn.n: turn.texts for turn in SessionReader(scratch).archive_turns(session_id)}
    finally:
        scratch.close()
