"""Both kinds of store behind one fixture: a home with its journal in files and SQLite, and PostgreSQL."""

from __future__ import annotations

import itertools
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.postgres import url_of
from told.journal.apply import open_memories, rebuild
from told.journal.file_journal import FileJournal
from told.journal.postgres_journal import PostgresJournal
from told.memories.journal_writer import JournalWriter
from told.store.database import load_key
from told.store.memories.read import SqliteMemories
from told.store.memories.schema import open_empty
from told.store.postgres.database import Database, Viewer, connect
from told.store.postgres.memories.read import PostgresMemories

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from told.journal.protocol import Journal
    from told.memories.caller import Caller
    from told.server.embedded import EmbeddedPostgres
    from told.store.memories.protocol import Memories

FILES, POSTGRES = "files", "postgres"
_numbers = itertools.count()


class Kept(Protocol):
    """An open journal and the memories that are derived from it."""

    @property
    def kind(self) -> str: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def memories(self) -> Memories: ...

    def writer(self, now: int, caller: Caller | None = None) -> JournalWriter: ...

    def rebuild(self) -> None:
        """Derive the memories again from the journal."""

    def empty(self) -> Memories:
        """Return other memories, without any."""


class _Files:
    kind = FILES

    def __init__(self, home: str, stack: ExitStack) -> None:
        self._stack = stack
        load_key(home)
        self.journal = FileJournal(home)
        self.memories = stack.enter_context(closing(open_memories(home)))

    def writer(self, now: int, caller: Caller | None = None) -> JournalWriter:
        return JournalWriter(self.journal, self.memories, now, caller)

    def rebuild(self) -> None:
        self.memories.close()
        self.memories = self._stack.enter_context(closing(rebuild(self.journal.home)))

    def empty(self) -> SqliteMemories:
        return SqliteMemories(open_empty())


class _Postgres:
    kind = POSTGRES

    def __init__(self, database: Database, stack: ExitStack) -> None:
        self._database, self._stack = database, stack
        viewer = add_team(database, "ann")[0]
        connection = stack.enter_context(database.viewing(viewer))
        self.journal = PostgresJournal(connection, viewer)
        self.memories = PostgresMemories(connection, viewer)

    def writer(self, now: int, caller: Caller | None = None) -> JournalWriter:
        return JournalWriter(self.journal, self.memories, now, caller)

    def rebuild(self) -> None:
        self.journal.rebuild()

    def empty(self) -> PostgresMemories:
        return empty_postgres(self._database, self._stack)


def empty_postgres(database: Database, stack: ExitStack) -> PostgresMemories:
    """Return the memories of a new team."""
    viewer = add_team(database, "ann")[0]
    return PostgresMemories(stack.enter_context(database.viewing(viewer)), viewer)


def add_team(database: Database, *names: str) -> list[Viewer]:
    """Add a team of some people."""
    number = next(_numbers)
    team = Viewer(f"team{number}", "", f"red{number}")
    people = [team._replace(person=f"u{at}", person_name=name) for at, name in enumerate(names, 1)]
    with database.owning() as connection:
        connection.execute("INSERT INTO team(team, name) VALUES (%s, %s)", (team.team, team.team_name))
        for one in people:
            connection.execute(
                "INSERT INTO person(team, person, name, role) VALUES (%s, %s, %s, 'member')",
                (one.team, one.person, one.person_name),
            )
    return people


@pytest.fixture(scope="session")
def teams(postgres_server: EmbeddedPostgres) -> Iterator[Database]:
    """Open one database for tests that each have a team of their own."""
    with connect(postgres_server.url) as connection:
        connection.execute("CREATE DATABASE teams TEMPLATE empty STRATEGY file_copy")
    with closing(Database(url_of(postgres_server, "teams"), size=24)) as database:
        yield database


@pytest.fixture(params=[FILES, POSTGRES])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """Open an empty store of each kind."""
    with ExitStack() as stack:
        if request.param == FILES:
            yield _Files(str(tmp_path), stack)
        else:
            yield _Postgres(request.getfixturevalue("teams"), stack)
