"""Connect to PostgreSQL: a pool, and transactions that see what one person may see."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from told.errors import BusyError, DiskFullError, MissingError, UsageError

Connection = psycopg.Connection[TupleRow]
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it warns at each attempt; callers get the error

SCHEMA = "told"
ROLE = "told_app"  # owns nothing and cannot log in: row-level security always applies to it
_WAIT_SECONDS = 10.0  # for a free connection, or for a server that restarts
# Compiling a statement takes longer than any that told runs. With so many neighbours kept while it searches,
# HNSW finds the nearest ones of 1,000,000; it goes on where rows of other people or scopes leave too few.
_FOR_SEARCH = (
    "SET jit = off; SET hnsw.ef_search = 400; SET hnsw.iterative_scan = 'relaxed_order';"
    " SET hnsw.max_scan_tuples = 200000; SET hnsw.scan_mem_multiplier = 4"
)
_VIEW = (
    "SELECT set_config('role', %s, true), set_config('told.team', %s, true),"
    " set_config('told.person', %s, true)"
)
_VIEW_FOR_A_WHILE = f"{_VIEW}, set_config('statement_timeout', '60s', true)"

# What only another connection string helps with; PostgreSQL gives no code for it.
_REFUSALS = ("does not exist", "authentication failed", "no pg_hba.conf entry", "not permitted to log in")


class Viewer(NamedTuple):
    """Whose rows a transaction sees."""

    team: str
    person: str
    team_name: str = ""
    person_name: str = ""


class Database:
    """A pool of connections to one database.

    A broken connection is replaced before it is handed out, so that calls work again as soon as PostgreSQL
    does.
    """

    def __init__(self, url: str, *, size: int = 8) -> None:
        """Name the database; connections are opened when they are needed.

        Args:
            url: A connection string of libpq.
            size: The largest number of connections.
        """
        self.url = url
        self._pool = ConnectionPool(
            url, min_size=0, max_size=size, open=True, timeout=_WAIT_SECONDS,
            check=ConnectionPool.check_connection, configure=_configure, max_idle=300,
            reconnect_timeout=_WAIT_SECONDS, kwargs={"application_name": "told"},
        )  # fmt: skip

    @contextmanager
    def viewing(self, viewer: Viewer) -> Iterator[Connection]:
        """Run a block in a transaction that sees and writes what one person may."""
        with self._transaction() as connection:
            connection.execute(_VIEW_FOR_A_WHILE, (ROLE, viewer.team, viewer.person))
            yield connection

    @contextmanager
    def owning(self, *, wait_seconds: float = _WAIT_SECONDS) -> Iterator[Connection]:
        """Run a block in a transaction that sees all rows: for migrations, workers and tokens."""
        with self._transaction(wait_seconds) as connection:
            yield connection

    @contextmanager
    def _transaction(self, wait_seconds: float = _WAIT_SECONDS) -> Iterator[Connection]:
        with translated(), self._pool.connection(wait_seconds) as connection, connection.transaction():
            yield connection

    def stats(self) -> dict[str, int]:
        """Return the counters of the pool."""
        return self._pool.get_stats()

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def view_as(connection: Connection, viewer: Viewer) -> None:
    """Let the rest of a transaction see and write what one person may."""
    connection.execute(_VIEW, (ROLE, viewer.team, viewer.person))


def set_timeouts(connection: Connection, seconds: float) -> None:
    """Let PostgreSQL end the rest of a transaction that takes longer, or that waits longer for its client."""
    connection.execute(
        "SELECT set_config('statement_timeout', %(most)s, true),"
        " set_config('idle_in_transaction_session_timeout', %(most)s, true)",
        {"most": f"{int(seconds * 1000)}ms"},
    )


def connect(url: str) -> Connection:
    """Open one connection outside a pool, which commits each statement.

    Raises:
        UsageError: the url is none.
        BusyError: the server does not answer.
        MissingError: it does not let told in.
    """
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its message may have the password
        raise UsageError(
            "TOLD_DATABASE_URL is not a connection string. Write postgresql://USER:PASSWORD@HOST/DATABASE."
        ) from None
    with translated():
        try:
            connection = psycopg.connect(url, autocommit=True, application_name="told")
        except psycopg.OperationalError as error:
            why = _first_line(error)
            if any(part in why for part in _REFUSALS):
                raise MissingError(
                    f"PostgreSQL refuses the connection ({why}). Check TOLD_DATABASE_URL."
                ) from None
            raise
        _configure(connection)
        return connection


def _configure(connection: Connection) -> None:
    with connection.transaction():
        connection.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(SCHEMA)))
        connection.execute("SET timezone = 'UTC'")
        connection.execute(_FOR_SEARCH)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what PostgreSQL reports into errors that say what to do."""
    try:
        yield
    except psycopg.errors.DiskFull:
        raise DiskFullError("The disk of the database is full. Free some space there, then retry.") from None
    except psycopg.errors.ProgramLimitExceeded:
        raise UsageError("A name or a value is too long to be stored. Shorten it.") from None
    except psycopg.errors.QueryCanceled:
        raise BusyError("PostgreSQL took too long for this. Ask for less, or retry in a moment.") from None
    except psycopg.errors.InsufficientPrivilege as error:
        raise MissingError(
            f"PostgreSQL refuses this ({_first_line(error)}). Check the role's rights."
        ) from None
    except (PoolTimeout, psycopg.errors.AdminShutdown, psycopg.errors.CrashShutdown) as error:
        raise BusyError(f"PostgreSQL does not answer ({_first_line(error)}). Retry in a moment.") from None
    except psycopg.OperationalError as error:
        raise BusyError(f"PostgreSQL cannot be reached ({_first_line(error)}). Retry in a moment.") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def fetch_value(connection: Connection, statement: str, values: Any = ()) -> Any:
    """Return the first value of the first row; None if there is none."""
    row = connection.execute(statement, values).fetchone()
    return row[0] if row else None


def database_size(connection: Connection) -> int:
    """Return how many bytes the database takes."""
    return int(fetch_value(connection, "SELECT pg_database_size(current_database())"))


def read_versions(connection: Connection) -> tuple[str, str]:
    """Return the versions of PostgreSQL and of pgvector."""
    pgvector = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    return str(fetch_value(connection, "SELECT version()")).partition(",")[0], fetch_value(
        connection, pgvector
    )
