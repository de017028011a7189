"""A real PostgreSQL for tests: one server for each test process, a database of its own for each test."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from told.server.embedded import EmbeddedPostgres
from told.store.postgres.database import Database, connect
from told.store.postgres.migrate import migrate

_FAST = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=60",
    "shared_buffers=32MB",
)
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """Start PostgreSQL and prepare a database that others are copied from."""
    server = EmbeddedPostgres(os.fspath(tmp_path_factory.mktemp("postgres")), settings=_FAST)
    server.start()
    try:
        with connect(server.url) as connection:
            connection.execute("CREATE DATABASE empty")
        database = Database(url_of(server, "empty"))
        migrate(database)
        database.close()
        yield server
    finally:
        server.stop()


def url_of(server: EmbeddedPostgres, name: str) -> str:
    """Return the connection string of another database of a server."""
    return server.url.replace("/postgres?", f"/{name}?")


@contextmanager
def new_database(server: EmbeddedPostgres) -> Iterator[str]:
    """Create a migrated database, and drop it at the end; yield its connection string."""
    name = f"test{next(_numbers)}"
    with connect(server.url) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE empty STRATEGY file_copy")
        yield url_of(server, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """Create a migrated database for one test."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def module_postgres(postgres_server: EmbeddedPostgres) -> Iterator[Database]:
    """Open a migrated database for the tests of one module."""
    with new_database(postgres_server) as url:
        database = Database(url, size=4)
        yield database
        database.close()


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    """Open a migrated database for one test."""
    database = Database(postgres_url, size=4)
    yield database
    database.close()
