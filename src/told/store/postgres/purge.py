"""Remove the bytes of deleted rows from the database's files.

PostgreSQL leaves them until it needs the space, and never removes a word from a GIN index. So the tables are
rewritten, by an item of the queue. What remains: PostgreSQL's log (WAL) and backups.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any

from told.errors import BusyError
from told.store.postgres.database import SCHEMA, Connection, Viewer, fetch_value
from told.store.postgres.jobs import enqueue

PURGE = "purge"  # kind of the queue's items
# Without the vectors for search, which have no words: rebuilding their HNSW index takes minutes.
MEMORY_TABLES = (
    "operation", "operation_of", "memory", "memory_own", "word_of", "trigger_of",
    "meaning_of", "evidence_of", "edge", "shown", "noted", "orphan",
)  # fmt: skip
SESSION_TABLES = ("session", "turn", "touch", "ref", "checkpoint")
SERIES_TABLES = ("series_head", "series_file")
AGENT_MEMORY_TABLES = (
    "agent_memory_session", "agent_memory_observation", "agent_memory_lesson", "agent_memory_item",
)  # fmt: skip
ALL_TABLES = (*MEMORY_TABLES, *SESSION_TABLES, *SERIES_TABLES, *AGENT_MEMORY_TABLES)
_STATISTICS = "pg_catalog.pg_statistic"  # samples of texts, for the planner
# A larger table would be unusable for too long while it is rewritten; docs/server.md says what to do then.
MOST_BYTES = 128 * 1024 * 1024
_WAIT_MS = 2_000  # for those who read a table; everybody else waits behind
_FILES = (
    "SELECT c.relname::text, pg_relation_filenode(c.oid)::bigint FROM pg_class c"
    " WHERE c.relnamespace = %s::regnamespace AND c.relname = ANY(%s)"
)
# A table that was rewritten without what a transaction deleted: it is in another file, and has no row that
# somebody with an older view might still read.
_CLEAN = (
    "SELECT pg_relation_filenode(c.oid) <> %(file)s AND age(c.relfrozenxid) < age(%(by)s::xid8::xid)"
    " FROM pg_class c WHERE c.oid = %(table)s::regclass"
)


def request_purge(connection: Connection, viewer: Viewer, tables: Collection[str]) -> None:
    """Let a worker rewrite tables from which rows were just deleted, in the same transaction.

    The item names the transaction, and the files that the tables are in. So of many items, one rewrites a
    table for all that were added before.
    """
    payload = {
        "files": dict(connection.execute(_FILES, (SCHEMA, list(tables))).fetchall()),
        "by": fetch_value(connection, "SELECT pg_current_xact_id()::text"),
    }
    enqueue(connection, viewer, PURGE, payload, secrets.token_hex(16))


def purge_deleted_rows(connection: Connection, payload: dict[str, Any], *, most: int = MOST_BYTES) -> None:
    """Rewrite the tables of an item, with their indexes, unless that was done since.

    Args:
        connection: The owner's, which commits each statement.
        payload: What `request_purge` noted.
        most: Tables that take more bytes are left alone.

    Raises:
        BusyError: somebody may still read what was deleted.
    """
    by = str(payload["by"])
    connection.execute(f"SET lock_timeout = {_WAIT_MS}")
    future = "SELECT pg_snapshot_xmax(pg_current_snapshot()) <= %s::xid8"
    if fetch_value(connection, future, (by,)):
        return  # a backup of another server was restored since
    is_rewritten = False
    for table in (one for one in ALL_TABLES if one in payload["files"]):
        name = f"{SCHEMA}.{table}"
        values = {"table": name, "file": int(payload["files"][table]), "by": by}
        if fetch_value(connection, _CLEAN, values):
            continue
        if fetch_value(connection, "SELECT pg_total_relation_size(%s::regclass)", (name,)) > most:
            continue
        _rewrite(connection, name)
        is_rewritten = True
        if not fetch_value(connection, _CLEAN, values):
            raise BusyError(f"A transaction older than the deletion may still read {table}.")
    if is_rewritten:
        connection.execute(f"VACUUM (FULL) {_STATISTICS}")


def _rewrite(connection: Connection, name: str) -> None:
    connection.execute(f"VACUUM (FULL, ANALYZE) {name}")
    is_superuser = fetch_value(connection, "SELECT current_setting('is_superuser') = 'on'")
    if is_superuser and fetch_value(connection, f"SELECT NOT EXISTS (SELECT FROM {name})"):
        # ANALYZE keeps the samples of a table that is empty by now.
        connection.execute(f"DELETE FROM {_STATISTICS} WHERE starelid = %s::regclass", (name,))
