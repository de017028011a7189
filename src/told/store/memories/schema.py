"""Create, check, dump and purge `memory.db`."""

from __future__ import annotations

import os
from typing import Any

import apsw

from told.store.database import (
    check_index,
    check_layout,
    check_structure,
    fetch,
    make_tokenizer,
    purge,
    run_checks,
    transaction,
)
from told.store.memories.match import hash_vector, pack_vector_signs, unpack_sign_columns
from told.store.memories.records import (
    COLUMNS,
    INDEXED,
    LINK_TABLES,
    WRITTEN,
    hash_row,
    list_links,
    parse_memory,
)
from told.store.opening import has_tables, read_version

VERSION = 11
_CORE = ("memory", "memory_words", "noted", "shown")


def migrate(connection: apsw.Connection) -> bool:
    """Create the tables of a new database; False if one of another version has to be rebuilt."""
    if read_version(connection) == VERSION:
        return has_tables(connection, _CORE)
    with transaction(connection):
        found = read_version(connection)
        if found == 0 and not fetch(connection, "SELECT 1 FROM sqlite_schema LIMIT 1"):
            with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
                connection.execute(file.read())
            connection.execute(f"PRAGMA user_version={VERSION}")
            return True
        return found == VERSION and has_tables(connection, _CORE)


_OTHER_TABLES = ("shown", "noted", "orphan", "word_of")
OWN_TABLES = ("memory", "memory_words", *LINK_TABLES, *_OTHER_TABLES)
_MEANING = "SELECT * FROM meaning_of ORDER BY row"
_MEMORIES = f"SELECT {', '.join(WRITTEN)} FROM memory ORDER BY row"


def find_damage(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with `memory.db`; empty if it is intact."""
    return run_checks(
        connection,
        check_structure,
        lambda one: check_layout(one, migrate, "memory_words"),
        _check_memories,
        _check_words,
        _check_vectors,
        _check_hashes,
    )


def open_empty() -> apsw.Connection:
    """Return a new database in memory."""
    connection = apsw.Connection(":memory:")
    migrate(connection)
    return connection


def purge_memories(connection: apsw.Connection) -> None:
    """Remove deleted bytes from the index, free pages and the log."""
    connection.execute("PRAGMA temp_store=MEMORY")
    purge(connection, _rebuild_index)


def _rebuild_index(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO memory_words(memory_words) VALUES('rebuild')")
    optimize_index(connection)


def optimize_index(connection: apsw.Connection) -> None:
    """Merge the full-text index into one segment, which speeds up search."""
    connection.execute("INSERT INTO memory_words(memory_words) VALUES('optimize')")


def dump_facts(connection: apsw.Connection) -> dict[str, list[Any]]:
    """Return what only depends on the journal, not on machine or version."""
    columns = ", ".join(name for name in WRITTEN if name not in ("extra", "hash"))
    tables = {
        name: sorted(fetch(connection, f"SELECT * FROM {name}")) for name in (*LINK_TABLES, *_OTHER_TABLES)
    }
    return tables | {"memory": fetch(connection, f"SELECT {columns} FROM memory ORDER BY row")}


def _check_memories(connection: apsw.Connection) -> list[str]:
    """Compare memories with their checksums, and link tables with memories."""
    found = []
    expected: set[tuple[Any, ...]] = set()
    end = 1 + len(COLUMNS)
    for values in connection.execute(_MEMORIES):
        try:
            if hash_row(values[:-1]) != values[-1]:
                found.append(f"memory {values[1]} was changed")
                continue
            expected |= list_links(values[0], parse_memory(values[1:end]))
        except (ValueError, TypeError):
            found.append(f"memory {values[1]} was changed")
    stored = {(table, *row) for table in LINK_TABLES for row in fetch(connection, f"SELECT * FROM {table}")}
    if expected != stored and not found:
        found.append("triggers, evidence or edges do not fit the memories")
    return found


def _check_words(connection: apsw.Connection) -> list[str]:
    """Compare the full-text index with a new one; its own check misses changes."""
    found = check_index(connection, "memory_words")
    columns = ", ".join(INDEXED)
    laid_out = fetch(connection, "SELECT sql FROM sqlite_schema WHERE name = 'memory_words'")[0][0]
    tokenize = laid_out.partition("tokenize=")[2]
    connection.execute(f"CREATE VIRTUAL TABLE temp.expected USING fts5({columns}, tokenize={tokenize}")
    try:
        connection.execute(f"INSERT INTO temp.expected(rowid, {columns}) SELECT row, {columns} FROM memory")
        if not found and _hash_places(connection, "temp", "expected") != _hash_places(
            connection, "main", "memory_words"
        ):
            found = ["the full-text index does not fit"]
        stored = set(fetch(connection, "SELECT word, scope, row FROM word_of"))
        if not found and _list_words(connection) != stored:
            found = ["the table of words does not fit"]
    finally:
        connection.execute("DROP TABLE temp.expected")
    return found


def _list_words(connection: apsw.Connection) -> set[tuple[str, str, int]]:
    tokens = make_tokenizer(connection)
    sql = f"SELECT row, {', '.join(INDEXED)} FROM memory WHERE status = 'active'"
    return {
        (word, scope, row) for row, scope, *texts in connection.execute(sql)
        for word in tokens("\n".join(texts)) if scope
    }  # fmt: skip


def _hash_places(connection: apsw.Connection, where: str, index: str) -> int:
    """Return a checksum of the words of an index and their places."""
    total = 0
    connection.execute(f"CREATE VIRTUAL TABLE temp.places USING fts5vocab({where}, {index}, instance)")
    try:
        for row in connection.execute("SELECT term, doc, col, offset FROM temp.places"):
            total ^= int.from_bytes(hash_row(row), "big")
    finally:
        connection.execute("DROP TABLE temp.places")
    return total


def _check_vectors(connection: apsw.Connection) -> list[str]:
    """Compare vectors with checksums and memories, and signs with vectors."""
    stored = fetch(connection, _MEANING)
    active = dict(fetch(connection, "SELECT row, scope FROM memory WHERE status = 'active' AND text != ''"))
    if any(hash_vector(row[:-1]) != row[-1] or active.get(row[0]) != row[1] for row in stored):
        return ["what memories mean does not fit them"]
    expected = {(scope, model, row): pack_vector_signs(vector) for row, scope, model, vector, _ in stored}
    found = {
        (scope, model, row): one
        for scope, model, numbers, many in fetch(
            connection, "SELECT scope, model, rows, signs FROM meaning_signs"
        )
        for row, one in unpack_sign_columns(numbers, many).items()
    }
    return [] if found == expected else ["what memories mean does not fit its signs"]


def _check_hashes(connection: apsw.Connection) -> list[str]:
    """Compare the rows of other tables with their checksums."""
    found = []
    for table, what in (("shown", "places where memories were shown"), ("noted", "notes")):
        changed = sum(hash_row(row[:-1]) != row[-1] for row in fetch(connection, f"SELECT * FROM {table}"))
        found += [f"{changed} {what} were changed"] if changed else []
    return found
