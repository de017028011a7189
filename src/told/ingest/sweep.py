"""Takes new conversation data in: finds what changed, drives the readers, commits in batches."""

from __future__ import annotations

import os
import time

from told.agents import agent_named, all_agents
from told.agents.base import Folder, find, inside, roots_of
from told.guard.names import plain_id, plain_path
from told.ingest.batch import Batch, Portion, fingerprint
from told.ingest.fold import Fold
from told.ingest.look import state_of, surroundings
from told.ingest.places import recall_places
from told.ingest.telling import Telling
from told.ingest.tombstones import Tombstones
from told.model import Cursor, Mark, Problem
from told.record import record
from told.search.index_text import extra_words, near_words
from told.store.key import own_key
from told.store.projects import Projects
from told.store.sources import Sources
from told.store.watch import Watch
from told.store.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import apsw

    from told.agents.base import Agent
    from told.ingest.look import Look
    from told.ingest.whole import Texts
    from told.model import Event, Source
    from told.settings import Settings
    from told.store.sources import Known
    from told.store.writing import TurnText

# Characters held before they are written: enough for an efficient index, little enough for memory.
_BATCH = 4_000_000
_PLACES = {
    "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
}  # fmt: skip


@record
class Progress:
    """How far a sweep is."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int


class Sweep:
    """One run over agents' files. What is read is committed in batches, with the cursors behind it."""

    def __init__(
        self, connection: apsw.Connection, settings: Settings, environ: Mapping[str, str],
        redact: Callable[[str], str],
    ) -> None:  # fmt: skip
        """Take an open store, the settings, the environment, and what removes secrets."""
        self._connection = connection
        self._settings = settings
        self._environ = environ
        self._redact = redact
        self._writer = Writer(connection, extra_words, near_words)
        self._sources = Sources(connection)
        # Not a method of this: a ring of objects would keep the database open after the sweep.
        self._projects = Projects(connection, lambda name: plain_path(name, redact))
        self._telling = Telling(self._sources, settings, redact)
        self._batch = Batch(self._writer, self._sources, self._projects, now, Tombstones(settings.home))

    def some(self, changed: Look, cwd: str, seconds: float) -> int:
        """Take in what a look found, for at most that long. Returns how many files are left to read."""
        deadline = time.monotonic() + seconds
        places = self._projects.roots()
        left = self._read(self._changed_sources(changed, cwd), deadline, None)
        found = self._in_new_places(places)
        return left + len(found) if left else self._read(found, deadline, None)

    def one(self, name: str, path: str, cwd: str, seconds: float) -> bool:
        """Take in what is new in a file of an agent's, for at most that long; False if it is none of its."""
        known = self._sources.get(path)
        agent = agent_named(name)
        if known is None and agent is not None and agent.reads:
            self._find([agent], cwd)
            known = self._sources.get(path)
        if known is None:
            return False
        if state_of(path) != (known.size, known.changed):
            self._read([known], time.monotonic() + seconds, None)
        return True

    def alone(self, source: Source) -> None:
        """Take in one file, whatever is known of it, and no other."""
        with self._writer.transaction():
            self._sources.add([source])
        known = self._sources.get(source.path)
        assert known is not None
        self._read([known], None, None)

    def everything(self, changed: Look, cwd: str, report: Callable[[Progress], None] | None = None) -> int:
        """Take in all that a look found, to the end. Returns how many files were read.

        The first time, what the agents have deleted comes back from the archive.
        """
        places = self._projects.roots()
        todo = self._changed_sources(changed, cwd)
        self._read(todo, None, report)
        found = self._in_new_places(places)
        self._read(found, None, None)
        if not Watch(self._connection).last_sweep()[0]:
            from told.ingest.archive import restore

            restore(self._connection, self._settings.home, self._redact)
        return len(todo) + len(found)

    def _changed_sources(self, changed: Look, cwd: str) -> list[Known]:
        agents: Iterable[Agent]
        if changed.moved:
            agents = all_agents().values()
        else:
            agents = [agent for name in changed.agents if (agent := agent_named(name)) is not None]
        if changed.moved:
            with self._writer.transaction():
                recall_places(self._projects, self._settings.home)
        self._find([agent for agent in agents if agent.name not in self._settings.agents_off], cwd)
        if changed.moved:
            with self._writer.transaction():
                names = _PLACES | {agent.env for agent in agents if agent.env}
                self._sources.surrounded(surroundings(self._environ, names, self._settings.chosen))
        return self._unread(changed)

    def _find(self, agents: list[Agent], cwd: str) -> None:
        """List the files of some agents, and note the new ones and the folders they lie in."""
        if not agents:
            return
        known = self._sources.paths()
        projects = list(dict.fromkeys([*self._projects.roots(), *([cwd] if cwd else [])]))
        listed = []
        for agent in agents:  # before the transaction: a disk may be slow
            roots = roots_of(agent, self._environ, self._settings.folder_of(agent.name))
            folders: dict[str, int] = {}
            sources: list[Source] = []
            for found in find(agent, roots, projects if agent.in_projects else ()):
                if isinstance(found, Folder):
                    folders[found.path] = found.changed
                elif found[0].path not in known:
                    sources.append(found[0])
            listed.append((agent.name, folders, sources))
        with self._writer.transaction():
            for name, folders, sources in listed:
                self._sources.add(self._telling.apart(sources, now()))
                self._sources.put_folders(name, self._telling.folders(folders.items()))

    def _in_new_places(self, before: list[str]) -> list[Known]:
        """Return the files of agents that lie in the folders of projects which were not known before."""
        new = sorted({*self._projects.roots()} - {*before})
        if not new:
            return []
        listed = [
            (agent.name, list(find(agent, (), new)))
            for agent in all_agents().values()
            if agent.in_projects and agent.name not in self._settings.agents_off
        ]
        sources = [one[0] for _, found in listed for one in found if not isinstance(one, Folder)]
        with self._writer.transaction():
            for name, found in listed:
                folders = [(one.path, one.changed) for one in found if isinstance(one, Folder)]
                self._sources.add_folders(name, self._telling.folders(folders))
            sources = self._telling.apart(sources, now())
            self._sources.add(sources)
        known = [self._sources.get(source.path) for source in sources]
        return [one for one in known if one is not None and not one.changed]

    def _unread(self, changed: Look) -> list[Known]:
        """Return the sources that differ from what was read, the latest first; note those that are gone."""
        paths = {*changed.files}
        todo, gone = [], []
        for known in self._sources.all():
            if known.gone or known.source.agent in self._settings.agents_off:
                continue
            if known.changed and known.source.path not in paths and not changed.moved:
                continue
            state = state_of(known.source.path)
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
        self, todo: list[Known], deadline: float | None, report: Callable[[Progress], None] | None
    ) -> int:
        sizes = [(state_of(known.source.path) or (0, 0))[0] for known in todo] if report else []
        done, total = 0, sum(sizes)
        for place, known in enumerate(todo):
            # However little time there is, the latest file is looked into: an answer should know of today.
            if place and deadline is not None and time.monotonic() > deadline:
                self._batch.commit()
                return len(todo) - place
            if not self._read_one(known, deadline):
                return len(todo) - place
            if report is not None:
                done += sizes[place]
                report(Progress(place + 1, len(todo), done, total))
        self._batch.commit()
        for source_id in self._batch.take_again():
            outgrown = self._sources.by_id(source_id)
            if outgrown is not None and not self._read_one(outgrown, deadline):
                return 1
        self._batch.commit()
        return 0

    def _read_one(self, known: Known, deadline: float | None) -> bool:
        """Read one source to its end, or to the deadline."""
        state = state_of(known.source.path)
        agent = agent_named(known.source.agent)
        if state is None or agent is None:
            return True
        start = known.cursor
        if start.offset and known.print and (
            start.offset > state[0] or fingerprint(known.source.path, start.offset) != known.print
        ):  # fmt: skip
            start = Cursor()
        fresh = from_start = start == Cursor()
        begun: set[str] = set()
        fold = self._fold(agent, from_start, begun)
        for event in _events(agent, known.source, start):
            fold.add(event)
            if not isinstance(event, Mark):
                continue
            late = deadline is not None and time.monotonic() > deadline
            if late or fold.weight > _BATCH:
                self._hold(known, fold, start, fresh, state, finished=False)
                self._batch.commit()
                if late:
                    return False
                begun |= fold.drafts.keys()
                start, fresh = fold.cursor or start, False
                fold = self._fold(agent, from_start, begun)
        self._hold(known, fold, start, fresh, state, finished=True)
        if self._batch.weight > _BATCH:
            self._batch.commit()
        return True

    def _fold(self, agent: Agent, from_start: bool, begun: set[str]) -> Fold:
        def open_turn(native: str) -> tuple[int, TurnText | None]:
            session = self._writer.session(agent.name, native)
            if session is None or not session.next_n:
                return 0, None
            if self._writer.trimmed.has(session.id):  # it goes on, so it is to be found as a whole again
                from told.ingest.trimming import bring_back
                from told.ingest.whole import Whole

                whole = Whole(self._connection, self._settings.home, self._again)
                bring_back(self._writer, whole, session)
            return session.next_n, self._writer.turn(session.id, session.next_n - 1)

        return Fold(
            from_start=from_start, begun=begun, redact=self._redact, open_turn=open_turn, name=self._native
        )

    def _native(self, session: str) -> str:
        return plain_id(session, self._redact, lambda: own_key(self._settings.home))

    def _again(self, agent: str, native: str) -> Texts:
        from told.ingest.rereading import texts_again

        return texts_again(self._connection, self._settings, self._environ, self._redact, (agent, native))

    def _hold(
        self, known: Known, fold: Fold, start: Cursor, fresh: bool, state: tuple[int, int], *, finished: bool
    ) -> None:
        drafts, problems = fold.finished(), tuple(fold.problems)
        cursor = fold.cursor or start
        begin = known.cursor if fresh else start
        portion = Portion(known, drafts, problems, begin, cursor, *state, finished, fresh)
        self._batch.add(portion, fold.weight)


def _events(agent: Agent, source: Source, start: Cursor) -> Iterator[Event | Problem]:
    """Yield what a reader says; should it fail, that is a problem of this file and of no other."""
    try:
        yield from agent.read(source, start)
    except Exception as error:  # noqa: BLE001 - one bad file never stops the others
        yield Problem(0, f"the reader failed: {type(error).__name__}")


def _leads_outside(source: Source) -> bool:
    """Whether a file has become a link to somewhere outside its agent's folder, which is never followed."""
    return os.path.islink(source.path) and not inside(
        os.path.realpath(source.path), os.path.realpath(source.root)
    )


def now() -> int:
    """Return the time in milliseconds."""
    return time.time_ns() // 1_000_000
