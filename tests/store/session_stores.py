"""The same sessions in both stores, for tests that run on each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

from told.model import Checkpoint, Facts, Ref, Touch
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import fetch
from told.store.postgres.database import Connection, Database, Viewer
from told.store.postgres.sessions.match import TeamTurnIndex
from told.store.postgres.sessions.queries import project_number
from told.store.postgres.sessions.read import TeamSessionReader
from told.store.postgres.sessions.write import PushedSession, TeamSessionWriter
from told.store.sessions.checkpoints import Projects
from told.store.sessions.erase import SessionEraser, purge_sessions
from told.store.sessions.match import TurnIndex
from told.store.sessions.read import SessionReader, TimelineReader, TurnText
from told.store.sessions.schema import migrate
from told.store.sessions.write import SessionWriter

NOON = 1_762_344_000_000  # 2025-11-05 12:00 UTC
MINUTE, DAY = 60_000, 86_400_000
ANN, BEN = Viewer("t1", "ann"), Viewer("t1", "ben")
STRANGER = Viewer("t2", "eve")


@dataclass(frozen=True)
class Told:
    """A session to store."""

    native: str
    turns: tuple[tuple[str, ...], ...]  # what was asked, answered and done
    at: int = NOON
    agent: str = "codex"
    project: str = "github.com/ann/shop"
    title: str = ""
    kind: str = ""
    branch: str = ""
    cwd: str = ""
    part: str = ""
    touches: tuple[tuple[str, str, int], ...] = ()
    refs: tuple[tuple[str, str, int], ...] = ()
    checkpoints: tuple[Checkpoint, ...] = field(default=())
    first: int = 0  # number of the first turn

    @property
    def texts(self) -> list[TurnText]:
        """The turns, a minute apart."""
        return [
            TurnText(n, self.at + n * MINUTE, "", *(*texts, "", "", "")[:3])
            for n, texts in enumerate(self.turns, self.first)
        ]


class SqliteSessions:
    """Sessions in `sessions.db`."""

    def __init__(self) -> None:
        self.db = apsw.Connection(":memory:")
        assert migrate(self.db)
        self.writer = SessionWriter(self.db, make_extra_words, make_near_words)
        self._sources: dict[str, int] = {}

    def put(self, told: Told) -> int:
        writer = self.writer
        source = self._sources.setdefault(told.native, len(self._sources) + 1)
        with writer.transaction():
            session = writer.session(told.agent, told.native) or writer.new_session(told.agent, told.native)
            if told.project:
                name = told.project.rpartition("/")[2]
                project = Projects(self.db).put(told.project, name, "")
                writer.place_session(session.id, project.id, told.part)
            facts = Facts(told.native, cwd=told.cwd, branch=told.branch, title=told.title, kind=told.kind)
            writer.facts.put(session.id, source, facts, 0, replace=False)
            writer.facts.update_session(session.id)
            session = self._state(told)
            writer.put_title(session)
            writer.put_turns(session, told.texts, replace=False)
            writer.close_session(
                session.id, told.first + len(told.turns), told.turns[0][0] if told.turns else ""
            )
            writer.put_touches(session.id, [Touch(told.native, *one) for one in told.touches])
            writer.put_refs(session.id, source, [Ref(told.native, *one) for one in told.refs])
            for note in told.checkpoints:
                writer.put_checkpoint(session, source, note)
            number: int = session.id
        return number

    def delete_session(self, session_id: int) -> None:
        eraser = SessionEraser(self.db)
        agent, native = eraser.names(session_id)
        session = self.writer.session(agent, native)
        assert session is not None
        with self.writer.transaction():
            eraser.drop_session(self.writer, session)

    def delete_checkpoint(self, public: str) -> None:
        sql = "SELECT s.agent, s.native, c.source_id FROM checkpoint c JOIN session s ON s.id = c.session_id"
        agent, native, source = fetch(self.db, f"{sql} WHERE c.public = ?", (public,))[0]
        session = self.writer.session(agent, native)
        assert session is not None
        with self.writer.transaction():
            self.writer.clear_source(session, source)

    def purge(self) -> None:
        purge_sessions(self.db)

    def dump(self) -> str:
        """Return all that the tables contain, the words of the index included."""
        tables = [name for (name,) in fetch(self.db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return "\n".join(
            str(fetch(self.db, f"SELECT * FROM {name}")) for name in [*tables, "turn_vocabulary"]
        )

    def project(self, key: str) -> int:
        return int(fetch(self.db, "SELECT id FROM project WHERE key = ?", (key,))[0][0])

    @contextmanager
    def reading(self) -> Iterator[tuple[SessionReader, TimelineReader, TurnIndex]]:
        yield SessionReader(self.db), TimelineReader(self.db), TurnIndex(self.db)

    def notes(self) -> TurnIndex:
        return TurnIndex(self.db, notes=True)

    def _state(self, told: Told) -> Any:
        return self.writer.session(told.agent, told.native)


class PostgresSessions:
    """Sessions of one person of a team."""

    def __init__(self, database: Database, viewer: Viewer = ANN) -> None:
        self.database = database
        self.viewer = viewer

    def put(self, told: Told, *, shared: bool = False) -> int:
        with self.writing() as writer:
            session = writer.put_session(
                PushedSession(
                    told.agent,
                    told.native,
                    project=told.project,
                    project_name=told.project.rpartition("/")[2],
                    title=told.title,
                    summary=told.turns[0][0] if told.turns else "",
                    cwd=told.cwd,
                    part=told.part,
                    branch=told.branch,
                    kind=told.kind,
                    shared=shared,
                )
            )
            writer.put_turns(session, told.texts)
            writer.put_touches(session, [Touch(told.native, *one) for one in told.touches])
            writer.put_refs(session, [Ref(told.native, *one) for one in told.refs])
            for note in told.checkpoints:
                writer.put_checkpoint(session, note)
        return session

    def delete_session(self, session_id: int) -> None:
        with self.writing() as writer:
            assert writer.delete_session(session_id)

    def delete_checkpoint(self, public: str) -> None:
        with self.writing() as writer:
            assert writer.delete_checkpoint(public)

    def purge(self) -> None:
        """Do nothing: rows and words of deleted sessions are gone."""

    def dump(self) -> str:
        with self.database.owning() as connection:
            return dump_tables(connection)

    def project(self, key: str) -> int:
        return project_number(key)

    @contextmanager
    def reading(self) -> Iterator[tuple[TeamSessionReader, None, TeamTurnIndex]]:
        viewer = self.viewer
        with self.database.viewing(viewer) as connection:
            yield TeamSessionReader(connection, viewer), None, TeamTurnIndex(connection, viewer)

    @contextmanager
    def writing(self) -> Iterator[TeamSessionWriter]:
        with self.database.viewing(self.viewer) as connection:
            yield TeamSessionWriter(connection, self.viewer, make_extra_words, make_near_words)


def dump_tables(connection: Connection) -> str:
    """Return all that the tables contain, as the owner sees them."""
    sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'told' ORDER BY 1"
    tables = [name for (name,) in connection.execute(sql)]
    assert {"session", "turn", "touch", "ref", "checkpoint"} <= set(tables)
    return "\n".join(str(connection.execute(f"SELECT * FROM told.{name}").fetchall()) for name in tables)


def add_people(database: Database) -> None:
    """Add two people of one team, and one of another."""
    with database.owning() as connection:
        for team in ("t1", "t2"):
            connection.execute("INSERT INTO team(team, name) VALUES(%s, %s)", (team, team))
        for viewer in (ANN, BEN, STRANGER):
            connection.execute(
                "INSERT INTO person(team, person, name, role) VALUES(%s, %s, %s, 'member')",
                (viewer.team, viewer.person, viewer.person),
            )
