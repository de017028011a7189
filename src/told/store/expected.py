"""Compares how a database is laid out with how told lays it out."""

from __future__ import annotations

import apsw

from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LAID_OUT = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"


def layout_damage(
    connection: apsw.Connection, migrate: Callable[[apsw.Connection], bool], index: str
) -> list[str]:
    """Return what is not laid out as `migrate` does it: tables, indexes, triggers, settings of an index."""
    fresh = apsw.Connection(":memory:")
    try:
        migrate(fresh)
        for sql in ("PRAGMA user_version", "PRAGMA encoding", _LAID_OUT, f"SELECT * FROM {index}_config"):
            if rows(connection, sql) != rows(fresh, sql):
                return ["it is not laid out as told does it"]
    finally:
        fresh.close()
    return []


def structure_damage(connection: apsw.Connection) -> list[str]:
    """Return what SQLite finds wrong with the file's structure and with indexes that do not fit."""
    # `quick_check` does not look whether indexes fit their tables.
    return [str(row[0]) for row in rows(connection, "PRAGMA integrity_check(5)") if row[0] != "ok"]


def words_damage(connection: apsw.Connection, index: str) -> list[str]:
    """Compare a full-text index with the table its words come from."""
    try:
        connection.execute(f"INSERT INTO {index}({index}, rank) VALUES('integrity-check', 1)")
    except (apsw.CorruptError, apsw.SQLError):
        return ["the full-text index does not fit"]
    return []
