"""Whether `memory.db` is as it was written, and how nothing is left of what was forgotten."""

from __future__ import annotations

import apsw

from told.errors import BusyError
from told.store.database import rows
from told.store.memory_rows import COLUMNS, PATHS, WRITTEN, hash_of_row, memory_of, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MEMORIES = f"SELECT {', '.join(WRITTEN)} FROM memory ORDER BY row"


def damaged(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with the file, each in a few words; nothing if all is as it was written."""
    found: list[str] = []
    for check in (_structure, _memories, _words, _shown):
        try:
            found += check(connection)
        except (apsw.Error, UnicodeDecodeError) as error:
            found.append(f"cannot be read: {error}")
    return found


def purge(connection: apsw.Connection) -> None:
    """Leave no byte of what was deleted, neither in the index nor in free pages nor in the log.

    Raises:
        BusyError: another told is reading.
    """
    connection.execute("PRAGMA temp_store=MEMORY")
    try:
        optimize(connection)
        connection.execute("VACUUM")
        blocked = rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    except apsw.BusyError:
        raise BusyError from None
    if blocked:
        raise BusyError


def optimize(connection: apsw.Connection) -> None:
    """Make the full-text index one piece, after much was written: searching takes two thirds of the time."""
    connection.execute("INSERT INTO memory_words(memory_words) VALUES('optimize')")


def dump(connection: apsw.Connection) -> dict[str, list[Any]]:
    """Return every row of every table that the journal decides; two equal dumps give equal answers."""
    tables = {name: rows(connection, f"SELECT * FROM {name}") for name in (*PATHS, "shown", "orphan")}
    tables["memory"] = rows(connection, _MEMORIES)
    terms = rows(connection, "SELECT term, doc, cnt FROM memory_vocabulary")
    return {name: sorted(found) for name, found in tables.items()} | {"words": sorted(terms)}


def _structure(connection: apsw.Connection) -> list[str]:
    # `quick_check` does not look whether indexes fit their tables.
    return [str(row[0]) for row in rows(connection, "PRAGMA integrity_check(5)") if row[0] != "ok"]


def _memories(connection: apsw.Connection) -> list[str]:
    """Compare each memory with its hash, and the ways that lead to it with what it says."""
    found = []
    expected: set[tuple[Any, ...]] = set()
    end = 1 + len(COLUMNS)
    for values in connection.execute(_MEMORIES):
        try:
            if hash_of_row(values[:-1]) != values[-1]:
                found.append(f"memory {values[1]} was changed")
                continue
            expected |= paths(values[0], memory_of(values[1:end]))
        except (ValueError, TypeError):
            found.append(f"memory {values[1]} was changed")
    stored = {(table, *row) for table in PATHS for row in rows(connection, f"SELECT * FROM {table}")}
    if expected != stored and not found:
        found.append("triggers, entities or edges do not fit the memories")
    return found


def _words(connection: apsw.Connection) -> list[str]:
    """Compare the full-text index with the memories."""
    try:
        connection.execute("INSERT INTO memory_words(memory_words, rank) VALUES('integrity-check', 1)")
    except (apsw.CorruptError, apsw.SQLError):
        return ["the index does not fit the memories"]
    return []


def _shown(connection: apsw.Connection) -> list[str]:
    changed = [row for row in rows(connection, "SELECT * FROM shown") if hash_of_row(row[:-1]) != row[-1]]
    return [f"{len(changed)} places where memories were shown were changed"] if changed else []
