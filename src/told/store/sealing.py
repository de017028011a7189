"""Keeps a sum of every table's rows, so that a byte that has changed by itself is found.

SQLite has no check of its own for what stands in a row. A row's hash goes into the sum when it is written and
out of it when it is removed; triggers see to it, so no writer can leave it out.
"""

from __future__ import annotations

from _blake2 import blake2s

import apsw

from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

TABLES = (
    "project", "place", "source", "folder", "problem", "session", "fact", "turn", "touch", "ref",
    "checkpoint", "sweep", "fresh", "renamed", "said", "trimmed", "model", "turn_meaning", "sketch",
)  # fmt: skip
# These came with later versions than the sums.
LATER = ("trimmed",)
MEANING = ("model", "turn_meaning", "sketch")
# Where the full-text index keeps its words: the check that it has of its own misses some changes.
_BLOCKS = "turn_words_data"
_LARGEST = (1 << 64) - 1
_TABLE = "CREATE TABLE seal(name TEXT PRIMARY KEY, total INTEGER NOT NULL) WITHOUT ROWID"


def _sealed(total: Any, *values: Any) -> Any:
    """Put a row into a sum, or take it out: both are the same."""
    text = "\x1f".join(map(str, values)).encode("utf-8", "surrogatepass")
    return total ^ int.from_bytes(blake2s(text, digest_size=8).digest(), "big", signed=True)


def _resealed(total: Any, *values: Any) -> Any:
    """Put a row in the place of another: the old values, then the new ones."""
    old, new = values[: len(values) // 2], values[len(values) // 2 :]
    return total if old == new else _sealed(_sealed(total, *old), *new)


def _sealed_block(total: Any, number: Any, block: Any) -> Any:
    """Put a block of the index into a sum, or take it out."""
    hashed = blake2s(block, digest_size=8, salt=(number & _LARGEST).to_bytes(8, "big")).digest()
    return total ^ int.from_bytes(hashed, "big", signed=True)


def _prepare(connection: apsw.Connection) -> None:
    for name, function in (
        ("told_seal", _sealed), ("told_reseal", _resealed), ("told_seal_block", _sealed_block),
    ):  # fmt: skip
        connection.create_scalar_function(name, function, -1, deterministic=True)  # type: ignore[arg-type]
    # Otherwise a row that REPLACE removes would stay in the sum.
    connection.execute("PRAGMA recursive_triggers=ON")


apsw.connection_hooks.append(_prepare)


def seal(connection: apsw.Connection, tables: Sequence[str]) -> None:
    """Begin to keep sums of tables; what is in them already counts. Inside a transaction."""
    is_first = not rows(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'seal'")
    if is_first:
        connection.execute(_TABLE)
    for table in (*tables, _BLOCKS) if is_first else tables:
        columns = _columns(connection, table)
        new, old = (", ".join(f"{which}.{name}" for name in columns) for which in ("new", "old"))
        add = "told_seal_block" if table == _BLOCKS else "told_seal"
        steps = {
            "INSERT": f"{add}(total, {new})",
            "DELETE": f"{add}(total, {old})",
            "UPDATE": f"{add}({add}(total, {old}), {new})",
        }
        if table != _BLOCKS:
            steps["UPDATE"] = f"told_reseal(total, {old}, {new})"
        connection.execute("INSERT INTO seal VALUES(?, ?)", (table, _total(connection, table)))
        for event, total in steps.items():
            connection.execute(
                f"CREATE TRIGGER seal_{table}_{event.lower()} AFTER {event} ON {table} BEGIN"
                f" UPDATE seal SET total = {total} WHERE name = '{table}'; END"
            )


def broken_seals(connection: apsw.Connection) -> list[str]:
    """Return the tables whose rows are not those that were written."""
    known = dict(rows(connection, "SELECT name, total FROM seal"))
    if known.keys() != {*TABLES, _BLOCKS}:
        return ["seal"]
    return [table for table in (*TABLES, _BLOCKS) if _total(connection, table) != known[table]]


def _total(connection: apsw.Connection, table: str) -> int:
    total = 0
    for row in connection.execute(f"SELECT {', '.join(_columns(connection, table))} FROM {table}"):
        total = _sealed_block(total, *row) if table == _BLOCKS else _sealed(total, *row)
    return total


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    return [row[0] for row in rows(connection, "SELECT name FROM pragma_table_info(?)", (table,))]
