"""Whether `memory.db` is as it was written, and how nothing is left of what was forgotten."""

from __future__ import annotations

import apsw

from told.store.database import purge as purge_database
from told.store.database import rows
from told.store.expected import layout_damage, structure_damage, words_damage
from told.store.memory_meaning import apart, check_of, signs
from told.store.memory_rows import COLUMNS, INDEXED, PATHS, WRITTEN, hash_of_row, memory_of, paths
from told.store.memory_schema import migrate
from told.store.memory_tokens import tokens_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OTHERS = ("shown", "noted", "orphan", "word_of")
_MEANING = "SELECT * FROM meaning_of ORDER BY row"
_MEMORIES = f"SELECT {', '.join(WRITTEN)} FROM memory ORDER BY row"


def damaged(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with the file, each in a few words; nothing if all is as it was written."""
    found: list[str] = []
    for check in (structure_damage, _layout, _memories, _words, _meanings, _shown, _noted):
        try:
            found += check(connection)
        except (apsw.Error, UnicodeDecodeError) as error:
            found.append(f"cannot be read: {error}")
    return found


def empty() -> apsw.Connection:
    """Return a database of memories in memory alone."""
    connection = apsw.Connection(":memory:")
    migrate(connection)
    return connection


def purge(connection: apsw.Connection) -> None:
    """Leave no byte of what was deleted, neither in the index nor in free pages nor in the log.

    Raises:
        BusyError: another told is reading.
    """
    connection.execute("PRAGMA temp_store=MEMORY")
    purge_database(connection, "memory_words")


def optimize(connection: apsw.Connection) -> None:
    """Make the full-text index one piece, after much was written: searching takes two thirds of the time."""
    connection.execute("INSERT INTO memory_words(memory_words) VALUES('optimize')")


def dump(connection: apsw.Connection) -> dict[str, list[Any]]:
    """Return every row of every table that the journal decides; two equal dumps give equal answers."""
    tables = {name: rows(connection, f"SELECT * FROM {name}") for name in (*PATHS, *_OTHERS)}
    tables["memory"] = rows(connection, _MEMORIES)
    tables["meaning_of"] = rows(connection, _MEANING)
    terms = rows(connection, "SELECT term, doc, cnt FROM memory_vocabulary")
    return {name: sorted(found) for name, found in tables.items()} | {"words": sorted(terms)}


def facts(connection: apsw.Connection) -> dict[str, list[Any]]:
    """Return what the journal alone decides: all but the extra words, which depend on place and program."""
    columns = ", ".join(name for name in WRITTEN if name not in ("extra", "about", "hash"))
    tables = {name: sorted(rows(connection, f"SELECT * FROM {name}")) for name in (*PATHS, *_OTHERS)}
    return tables | {"memory": rows(connection, f"SELECT {columns} FROM memory ORDER BY row")}


def _layout(connection: apsw.Connection) -> list[str]:
    return layout_damage(connection, migrate, "memory_words")


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
            expected |= paths(values[0], memory_of(values[1:end]), values[-2])
        except (ValueError, TypeError):
            found.append(f"memory {values[1]} was changed")
    stored = {(table, *row) for table in PATHS for row in rows(connection, f"SELECT * FROM {table}")}
    if expected != stored and not found:
        found.append("triggers, entities or edges do not fit the memories")
    return found


def _words(connection: apsw.Connection) -> list[str]:
    """Compare the full-text index with the memories, and every word in it with one that is made anew.

    The check that the index has of its own misses some changes.
    """
    found = words_damage(connection, "memory_words")
    columns = ", ".join(INDEXED)
    laid_out = rows(connection, "SELECT sql FROM sqlite_schema WHERE name = 'memory_words'")[0][0]
    tokenize = laid_out.partition("tokenize=")[2]
    connection.execute(f"CREATE VIRTUAL TABLE temp.anew USING fts5({columns}, tokenize={tokenize}")
    try:
        connection.execute(f"INSERT INTO temp.anew(rowid, {columns}) SELECT row, {columns} FROM memory")
        if not found and _places(connection, "temp", "anew") != _places(connection, "main", "memory_words"):
            found = ["the full-text index does not fit"]
        stored = set(rows(connection, "SELECT word, scope, row FROM word_of"))
        if not found and _words_of(connection) != stored:
            found = ["the table of words does not fit"]
    finally:
        connection.execute("DROP TABLE temp.anew")
    return found


def _words_of(connection: apsw.Connection) -> set[tuple[str, str, int]]:
    """Return what the table of words should have."""
    tokens = tokens_with(connection)
    sql = f"SELECT row, {', '.join(INDEXED)} FROM memory WHERE status = 'active'"
    return {
        (word, scope, row) for row, scope, *texts in connection.execute(sql)
        for word in tokens("\n".join(texts)) if scope
    }  # fmt: skip


def _places(connection: apsw.Connection, where: str, index: str) -> int:
    """Return one number for every word in an index and its place."""
    total = 0
    connection.execute(f"CREATE VIRTUAL TABLE temp.places USING fts5vocab({where}, {index}, instance)")
    try:
        for row in connection.execute("SELECT term, doc, col, offset FROM temp.places"):
            total ^= int.from_bytes(hash_of_row(row), "big")
    finally:
        connection.execute("DROP TABLE temp.places")
    return total


def _meanings(connection: apsw.Connection) -> list[str]:
    """Compare each vector with its hash and its memory, and the signs with the vectors."""
    stored = rows(connection, _MEANING)
    active = dict(rows(connection, "SELECT row, scope FROM memory WHERE status = 'active' AND text != ''"))
    if any(check_of(row[:-1]) != row[-1] or active.get(row[0]) != row[1] for row in stored):
        return ["what memories mean does not fit them"]
    expected = {(scope, model, row): signs(vector) for row, scope, model, vector, _ in stored}
    found = {
        (scope, model, row): one
        for scope, model, numbers, many in rows(
            connection, "SELECT scope, model, rows, signs FROM meaning_signs"
        )
        for row, one in apart(numbers, many).items()
    }
    return [] if found == expected else ["what memories mean does not fit its signs"]


def _shown(connection: apsw.Connection) -> list[str]:
    changed = [row for row in rows(connection, "SELECT * FROM shown") if hash_of_row(row[:-1]) != row[-1]]
    return [f"{len(changed)} places where memories were shown were changed"] if changed else []


def _noted(connection: apsw.Connection) -> list[str]:
    changed = [row for row in rows(connection, "SELECT * FROM noted") if hash_of_row(row[:-1]) != row[-1]]
    return [f"{len(changed)} notes were changed"] if changed else []
