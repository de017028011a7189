"""Create, migrate and checksum `sessions.db`.

The file is derived from the agents' files and told's archive, so a version without a migration is rebuilt.
A migration is never edited once released.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import apsw

from told.hashing import blake2s
from told.store.database import (
    LETTERS,
    check_index,
    check_layout,
    check_structure,
    fetch,
    public_id,
    run_checks,
    spell_number,
    transaction,
)
from told.store.opening import has_tables, read_version

# Notes are stored as turns before the first: the title at TITLE, checkpoint k at FIRST_NOTE - k.
TITLE = -1
FIRST_NOTE = -2
_PROJECT = "toldproject"
_CHECKPOINT_LETTERS = 9
# Agents' own checkpoints have lower numbers; the numbers of told's encode their ids.
OWN_CHECKPOINT = 1 << 5 * _CHECKPOINT_LETTERS
TABLES = (
    "project", "place", "source", "folder", "problem", "session", "fact", "turn", "touch", "ref",
    "checkpoint", "sweep", "fresh", "renamed", "trimmed", "model", "turn_meaning", "sketch",
)  # fmt: skip
# Added after the checksums.
LATER = ("trimmed",)
DROPPED = ("said",)  # by version 6
MEANING = ("model", "turn_meaning", "sketch")
# The data of the full-text index, whose own check misses some changes.
_BLOCKS = "turn_words_data"
_LARGEST = (1 << 64) - 1
_TABLE = "CREATE TABLE seal(name TEXT PRIMARY KEY, total INTEGER NOT NULL) WITHOUT ROWID"


def _xor_row(total: Any, *values: Any) -> Any:
    """Add a row to a checksum, or remove it: XOR does both."""
    text = "\x1f".join(map(str, values)).encode("utf-8", "surrogatepass")
    return total ^ int.from_bytes(blake2s(text, digest_size=8).digest(), "big", signed=True)


def _replace_in_sum(total: Any, *values: Any) -> Any:
    """Replace a row in a checksum: old values, then new ones."""
    old, new = values[: len(values) // 2], values[len(values) // 2 :]
    return total if old == new else _xor_row(_xor_row(total, *old), *new)


def _xor_block(total: Any, number: Any, block: Any) -> Any:
    """Add a block of the index to a checksum, or remove it."""
    hashed = blake2s(block, digest_size=8, salt=(number & _LARGEST).to_bytes(8, "big")).digest()
    return total ^ int.from_bytes(hashed, "big", signed=True)


def _prepare(connection: apsw.Connection) -> None:
    for name, function in (
        ("told_seal", _xor_row), ("told_reseal", _replace_in_sum), ("told_seal_block", _xor_block),
    ):  # fmt: skip
        connection.create_scalar_function(name, function, -1, deterministic=True)  # type: ignore[arg-type]
    # Otherwise a row that REPLACE deletes would stay in the checksum.
    connection.execute("PRAGMA recursive_triggers=ON")


apsw.connection_hooks.append(_prepare)


def add_checksums(connection: apsw.Connection, tables: Sequence[str]) -> None:
    """Start to checksum tables, existing rows included; inside a transaction."""
    is_first = not fetch(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'seal'")
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


def find_broken_checksums(connection: apsw.Connection) -> list[str]:
    """Return the tables whose rows do not match their checksum."""
    known = dict(fetch(connection, "SELECT name, total FROM seal"))
    if known.keys() != {*TABLES, _BLOCKS}:
        return ["seal"]
    return [table for table in (*TABLES, _BLOCKS) if _total(connection, table) != known[table]]


def _total(connection: apsw.Connection, table: str) -> int:
    total = 0
    for row in connection.execute(f"SELECT {', '.join(_columns(connection, table))} FROM {table}"):
        total = _xor_block(total, *row) if table == _BLOCKS else _xor_row(total, *row)
    return total


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    return [row[0] for row in fetch(connection, "SELECT name FROM pragma_table_info(?)", (table,))]


VERSION = 7
_CORE = ("project", "source", "session", "turn", "turn_words")


def is_current(connection: apsw.Connection) -> bool:
    """Tell whether a database is of this version and has its main tables."""
    return read_version(connection) == VERSION and has_tables(connection, _CORE)


def _read_sql(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


# From version N to N + 1.
_MIGRATIONS = {step: _read_sql(f"migrations/{step}.sql") for step in range(1, VERSION)}
_INDEX_REBUILT = 7  # the version whose migration rebuilds the full-text index
# Tables whose checksum starts with a version.
_CHECKSUMMED = {
    2: (*(one for one in TABLES if one not in (*LATER, *MEANING)), *DROPPED), 3: LATER, 4: ("checkpoint",),
    5: MEANING, _INDEX_REBUILT: (_BLOCKS,),
}  # fmt: skip


def migrate(connection: apsw.Connection) -> bool:
    """Migrate a database in one transaction; False if it has to be rebuilt."""
    found = read_version(connection)
    if found == VERSION:
        return True
    if found:
        connection.execute("PRAGMA secure_delete=ON")  # otherwise deleted words stay in free pages
    try:
        return _migrate(connection)
    except apsw.SQLError:
        return False  # its tables are not those of its version


def _migrate(connection: apsw.Connection) -> bool:
    with transaction(connection):
        found = read_version(connection)
        if found == 0 and fetch(connection, "SELECT 1 FROM sqlite_schema LIMIT 1"):
            return False
        if found == 0:
            connection.execute(_read_sql("schema.sql"))
            add_checksums(connection, TABLES)
        while 0 < found < VERSION and found in _MIGRATIONS:
            connection.execute(_MIGRATIONS[found])
            found += 1
            if found in _CHECKSUMMED:
                add_checksums(connection, _CHECKSUMMED[found])
        if found not in (0, VERSION):
            return False
        connection.execute(f"PRAGMA user_version={VERSION}")
    return True


def rebuild_index(connection: apsw.Connection) -> None:
    """Rebuild the full-text index without words of deleted text; inside a transaction."""
    connection.execute(_MIGRATIONS[_INDEX_REBUILT - 1])
    add_checksums(connection, _CHECKSUMMED[_INDEX_REBUILT])


def find_damage(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with `sessions.db`; empty if it is intact."""
    return run_checks(
        connection,
        check_structure,
        lambda one: check_layout(one, migrate, "turn_words"),
        lambda one: [f"rows of the table {name} were changed" for name in find_broken_checksums(one)],
        lambda one: check_index(one, "turn_words"),
    )


def project_token(project_id: int) -> str:
    """Return the index word of a project, which nobody writes."""
    return f"{_PROJECT}{project_id}"


def parse_project_token(token: str) -> int:
    """Return the project of an index word; 0 for none."""
    return int(token.removeprefix(_PROJECT) or 0)


def is_checkpoint_id(text: str) -> bool:
    """Tell whether a text looks like the id of a checkpoint."""
    return len(text) == _CHECKPOINT_LETTERS + 1 and text[0] == "c" and set(text[1:]) <= set(LETTERS)


def checkpoint_number(public: str) -> int:
    """Return the number of one of told's checkpoints by its id."""
    return OWN_CHECKPOINT + sum(LETTERS.index(letter) << 5 * place for place, letter in enumerate(public[1:]))


def checkpoint_id(agent: str, native: str, number: int) -> str:
    """Return the id of a session's checkpoint by its number."""
    if number < OWN_CHECKPOINT:
        return public_id("c", agent, native, str(number), length=_CHECKPOINT_LETTERS)
    return "c" + spell_number(number, _CHECKPOINT_LETTERS)
