"""Rank memories by BM25 where PostgreSQL has the extension pg_textsearch."""

from __future__ import annotations

import psycopg

from told.store.postgres.database import Connection, Database

INDEX = "memory_bm25"
_OLDEST = (1, 1)  # the first version with indexes on expressions
_STATE = (
    "SELECT x.default_version, current_setting('shared_preload_libraries'), to_regclass(%s) IS NOT NULL"
    " FROM pg_available_extensions x WHERE x.name = 'pg_textsearch'"
)
_CREATE = (
    f"CREATE INDEX {INDEX} ON memory USING bm25 (indexed_words(tokens)) WITH (text_config = 'simple')"
    " WHERE status = 'active'"
)


def enable_bm25(database: Database) -> bool:
    """Index the words of memories for BM25; return False where PostgreSQL cannot do that."""
    with database.owning() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('told.bm25'))")
        found = connection.execute(_STATE, (INDEX,)).fetchone()
        if found is None or not _is_usable(*found[:2]):
            return False
        if not found[2]:
            try:
                with connection.transaction():
                    connection.execute("CREATE EXTENSION IF NOT EXISTS pg_textsearch WITH SCHEMA public")
            except psycopg.errors.InsufficientPrivilege:  # an administrator has not allowed it
                return False
            connection.execute(_CREATE)
        return True


def has_bm25(connection: Connection) -> bool:
    """Tell whether memories can be ranked by BM25."""
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (INDEX,)).fetchone()
    return bool(row and row[0])


def _is_usable(version: str, preloaded: str) -> bool:
    numbers = tuple(int(one) for one in version.partition("-")[0].split(".")[:2] if one.isdigit())
    return numbers >= _OLDEST and "pg_textsearch" in {one.strip(' "') for one in preloaded.split(",")}
