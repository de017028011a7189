"""The schema of the server is made and updated without a hand."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.postgres import url_of
from told.errors import MissingError
from told.server.embedded import EmbeddedPostgres
from told.server.people import ensure_team
from told.store.postgres.database import Database, Viewer, connect, fetch_value
from told.store.postgres.migrate import list_migrations, list_pending, migrate


def test_migrates_an_empty_database_once(postgres: Database) -> None:
    assert migrate(postgres) == []
    with postgres.owning() as connection:
        assert list_pending(connection) == []
        rows = connection.execute("SELECT number, name FROM migration ORDER BY number").fetchall()
    assert rows == [(one.number, one.name) for one in list_migrations()]


def run_together(databases: list[Database], action: Callable[[Database], None]) -> None:
    """Do the same with each database at the same time, then close them."""
    threads = [threading.Thread(target=action, args=(one,)) for one in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in databases:
        one.close()


def test_servers_that_start_together_migrate_once(postgres_server: EmbeddedPostgres) -> None:
    with connect(postgres_server.url) as connection:
        connection.execute("CREATE DATABASE together")
    databases = [Database(url_of(postgres_server, "together")) for _ in range(4)]
    applied: list[int] = []
    run_together(databases, lambda one: applied.extend(done.number for done in migrate(one)))
    assert sorted(applied) == [one.number for one in list_migrations()]


def test_servers_that_start_together_make_one_team(postgres_url: str) -> None:
    databases = [Database(postgres_url) for _ in range(4)]
    begin = threading.Barrier(len(databases))
    made: list[str] = []

    def start(database: Database) -> None:
        begin.wait()
        made.append(ensure_team(database, "acme").team)

    run_together(databases, start)
    assert (len(made), len(set(made))) == (4, 1)


def test_a_role_that_may_not_connect_is_named(postgres_server: EmbeddedPostgres) -> None:
    with pytest.raises(MissingError, match="Check TOLD_DATABASE_URL"):
        connect(postgres_server.url.replace("told@", "nobody@"))


def test_an_old_pgvector_is_named(postgres: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("told.store.postgres.migrate._MIN_PGVECTOR", (99, 1))  # there is one version here
    with pytest.raises(MissingError, match=r"needs pgvector 99\.1 or later, .* has 0\.\d.*ALTER EXTENSION"):
        migrate(postgres)


def test_refuses_a_database_of_a_newer_told(postgres: Database) -> None:
    with postgres.owning() as connection:
        connection.execute("INSERT INTO migration(number, name) VALUES (9999, 'future')")
    with pytest.raises(MissingError, match="Update told"):
        migrate(postgres)


def test_viewer_cannot_leave_the_role_of_its_transaction(postgres: Database) -> None:
    with postgres.owning() as connection:
        connection.execute("INSERT INTO team(team, name) VALUES ('t1', 'one'), ('t2', 'two')")
    with postgres.viewing(Viewer("t1", "u1")) as connection:
        assert fetch_value(connection, "SELECT string_agg(name, ' ') FROM team") == "one"
        assert fetch_value(connection, "SELECT current_user") == "told_app"
    with postgres.owning() as connection:
        assert fetch_value(connection, "SELECT count(*) FROM team") == 2
        assert fetch_value(connection, "SELECT current_setting('told.team', true)") in ("", None)
