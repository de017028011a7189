"""Migrate the schema: numbered SQL files, each in one transaction, safe when several servers start."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

from told.errors import MissingError
from told.store.postgres.database import ROLE, SCHEMA, Connection, Database, fetch_value, translated

_LOCK = 0x746F6C64  # of the database, while one server migrates
_MIN_VERSION = 160000  # of PostgreSQL
_MIN_PGVECTOR = (0, 8)  # the first that goes on searching where a filter leaves too few
_TABLE = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.migration(
  number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
"""

_ASIDE = f"{SCHEMA}_replaced"
_CREATE_ROLE = f"""
DO $$ BEGIN
  CREATE ROLE {ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT {ROLE} TO CURRENT_USER
"""


class Migration(NamedTuple):
    """One numbered SQL file."""

    number: int
    name: str
    statements: str


def list_migrations() -> list[Migration]:
    """Return all migrations in order."""
    folder = files("told.store.postgres") / "migrations"
    found = []
    for one in folder.iterdir():
        if one.name.endswith(".sql"):
            number, _, name = one.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, one.read_text(encoding="utf-8")))
    return sorted(found)


def list_pending(connection: Connection) -> list[Migration]:
    """Return the migrations that a database does not have yet.

    Raises:
        MissingError: a newer told has migrated it.
    """
    every = list_migrations()
    if not has_schema(connection):
        return every
    done = {number for (number,) in connection.execute(f"SELECT number FROM {SCHEMA}.migration")}
    if unknown := done - {one.number for one in every}:
        raise MissingError(f"A newer told has migrated this database (to {max(unknown)}). Update told.")
    return [one for one in every if one.number not in done]


def has_schema(connection: Connection) -> bool:
    """Tell whether told has tables in a database."""
    return has_table(connection, "migration")


def has_table(connection: Connection, name: str) -> bool:
    """Tell whether told has a table in a database."""
    return fetch_value(connection, "SELECT to_regclass(%s)", (f"{SCHEMA}.{name}",)) is not None


def prepare_database(connection: Connection) -> None:
    """Create what told needs outside its schema: the extension, and the role that owns nothing."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    connection.execute(_CREATE_ROLE)


def set_aside(connection: Connection) -> None:
    """Rename told's schema while a backup is restored."""
    drop_aside(connection)
    connection.execute(f"ALTER SCHEMA {SCHEMA} RENAME TO {_ASIDE}")


def bring_back(connection: Connection) -> None:
    """Use the schema again that was set aside."""
    connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    connection.execute(f"ALTER SCHEMA {_ASIDE} RENAME TO {SCHEMA}")


def drop_aside(connection: Connection) -> None:
    """Delete the schema that was set aside."""
    connection.execute(f"DROP SCHEMA IF EXISTS {_ASIDE} CASCADE")


def migrate(database: Database) -> list[Migration]:
    """Apply the pending migrations; return those that were applied here.

    Raises:
        MissingError: the server is too old, or has no pgvector.
    """
    applied: list[Migration] = []
    while True:
        with translated(), database.owning() as connection:
            # Other servers wait here, then find that there is nothing left to do.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            check_server(connection)
            pending = list_pending(connection)
            if not pending:
                return applied
            connection.execute(_TABLE)
            prepare_database(connection)
            connection.execute(pending[0].statements)
            connection.execute(
                f"INSERT INTO {SCHEMA}.migration(number, name) VALUES (%s, %s)", pending[0][:2]
            )
            applied.append(pending[0])


def check_server(connection: Connection) -> None:
    """Check the version of PostgreSQL, and that pgvector can be used.

    Raises:
        MissingError: it cannot be used.
    """
    if connection.info.server_version < _MIN_VERSION:
        version = connection.info.server_version // 10_000
        raise MissingError(f"told needs PostgreSQL 16 or later, and this one is {version}. Update it.")
    available = (
        "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions"
        " WHERE name = 'vector'"
    )
    version = fetch_value(connection, available)
    if version is None:
        raise MissingError("This PostgreSQL has no pgvector. Install it on the database server.")
    if tuple(int(one) for one in version.split(".")[:2]) < _MIN_PGVECTOR:
        raise MissingError(
            f"told needs pgvector {_MIN_PGVECTOR[0]}.{_MIN_PGVECTOR[1]} or later, and this PostgreSQL has"
            f" {version}. Update it, then run `ALTER EXTENSION vector UPDATE` in the database."
        )
