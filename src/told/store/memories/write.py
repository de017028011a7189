"""Write folded memories and their links into `memory.db`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import apsw

from told.store.database import IndexedWriter, Words, make_tokenizer
from told.store.memories.match import VectorWriter
from told.store.memories.records import (
    ACTIVE,
    ACTIVE_SCOPE,
    COLUMNS,
    INDEXED,
    LINK_TABLES,
    WRITTEN,
    IndexFields,
    MakeFields,
    Memory,
    Position,
    hash_row,
    list_links,
    make_row,
    make_row_id,
    parse_memory,
    row_key,
)

_INSERT = f"INSERT INTO memory({', '.join(WRITTEN)}) VALUES({', '.join('?' * len(WRITTEN))})"
_UPDATE = f"UPDATE memory SET {', '.join(f'{name} = ?' for name in WRITTEN[1:])} WHERE row = ?"
_STORED = f"SELECT row, {', '.join(INDEXED)}, {', '.join(COLUMNS)} FROM memory WHERE id = ?"
_PLACES = [WRITTEN.index(name) for name in INDEXED]


class _Stored(NamedTuple):
    """A memory as it is stored."""

    row: int
    indexed: tuple[str, ...]
    memory: Memory


class MemoryWriter(IndexedWriter):
    """Writes memories; the index follows at the end of the transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._tokens: Callable[[str], list[str]] | None = None
        self.vectors = VectorWriter(connection)

    def put(self, memory: Memory, make_fields: MakeFields, *, fresh: bool = False) -> None:
        """Store a memory; `make_fields` is only called for a new text, `fresh` ones are not stored yet."""
        old = None if fresh else self._stored(memory.id)
        if old and row_key(old.memory) != row_key(memory):
            self._remove(old)
            old = None
        row = old.row if old else self._find_free_row(make_row_id(memory))
        made: IndexFields | None = None
        if old and old.memory.text == memory.text:
            extra = old.indexed[3]
        elif memory.text:
            made = make_fields(memory.text, memory.created, memory.when)
            extra = made.extra
        else:
            extra = ""
        values = make_row(row, memory, extra)
        indexed = tuple(values[place] for place in _PLACES)
        if old is None:
            self._db.execute(_INSERT, values)
            self._pending.append((row, True, indexed))
        else:
            self._db.execute(_UPDATE, (*values[1:], row))
            if indexed != old.indexed:
                self._pending += [(row, False, old.indexed), (row, True, indexed)]
        self._change_paths(list_links(row, old.memory) if old else set(), list_links(row, memory))
        if memory.status != ACTIVE or not memory.text:
            self.vectors.drop(row)
        elif not old or _vector_key(old.memory) != _vector_key(memory):
            made = made or make_fields(memory.text, memory.created, memory.when)
            self.vectors.put(row, memory.scope, made.embedding)

    def drop(self, memory_id: str) -> None:
        """Remove a memory that was never created."""
        old = self._stored(memory_id)
        if old:
            self._remove(old)
            self.clear_shown(memory_id)

    def put_shown(self, memory_id: str, shown: Iterable[tuple[str, int]]) -> None:
        """Store the sessions a memory was shown in, with the last time."""
        for session, at in shown:
            known = self._fetch(
                "SELECT at FROM shown WHERE session = ? AND memory_id = ?", (session, memory_id)
            )
            values = (session, memory_id, max(at, known[0][0]) if known else at)
            self._db.execute("INSERT OR REPLACE INTO shown VALUES(?, ?, ?, ?)", (*values, hash_row(values)))

    def clear_shown(self, memory_id: str) -> None:
        """Delete where a memory was shown."""
        self._db.execute("DELETE FROM shown WHERE memory_id = ?", (memory_id,))

    def put_noted(self, topic: str, name: str, value: str, key: tuple[int, str, int]) -> None:
        """Store a note; the latest by key wins."""
        known = self._fetch(
            "SELECT at, machine, number FROM noted WHERE topic = ? AND name = ?", (topic, name)
        )
        if not known or known[0] <= key:
            values = (topic, name, value, *key)
            self._db.execute(
                "INSERT OR REPLACE INTO noted VALUES(?, ?, ?, ?, ?, ?, ?)", (*values, hash_row(values))
            )

    def put_position(self, machine: str, segment: str, position: Position) -> None:
        """Store how far a segment has been applied."""
        self._db.execute(
            "INSERT OR REPLACE INTO position VALUES(?, ?, ?, ?, ?, ?)", (machine, segment, *position)
        )

    def drop_positions(self, part: str) -> None:
        """Forget how far the series with a part in their names have been applied."""
        self._db.execute("DELETE FROM position WHERE instr(machine, ?)", (part,))

    def set_stale(self, memory_ids: Iterable[str]) -> None:
        """Mark more memories as stale."""
        self._db.executemany("INSERT OR IGNORE INTO stale VALUES(?)", [(one,) for one in memory_ids])

    def clear_stale(self) -> None:
        """Mark all memories as folded."""
        self._db.execute("DELETE FROM stale")

    def is_orphan(self, memory_id: str) -> bool:
        """Tell whether a memory has operations but no creation yet."""
        return bool(self._fetch("SELECT 1 FROM orphan WHERE memory_id = ?", (memory_id,)))

    def set_orphan(self, memory_id: str, *, orphan: bool) -> None:
        """Mark whether a memory has operations but no creation yet."""
        sql = "INSERT OR IGNORE INTO orphan VALUES(?)" if orphan else "DELETE FROM orphan WHERE memory_id = ?"
        self._db.execute(sql, (memory_id,))

    def flush_words(self) -> None:
        """Apply the pending changes to the index and the tables of words and vectors."""
        for row, (removed, added) in self._flush_index("memory_words", INDEXED).items():
            delete = "DELETE FROM word_of WHERE word = ? AND scope = ? AND row = ?"
            self._db.executemany(delete, self._list_words(row, removed))
            self._db.executemany(
                "INSERT OR IGNORE INTO word_of VALUES(?, ?, ?)", self._list_words(row, added)
            )
        self.vectors.flush()

    def _list_words(self, row: int, indexed: Words | None) -> list[tuple[str, str, int]]:
        """Return the rows of `word_of` for the indexed words of an active memory."""
        scope, *texts = indexed or ("",)
        if not scope.startswith(ACTIVE_SCOPE):
            return []
        if self._tokens is None:
            self._tokens = make_tokenizer(self._db)
        return [(word, scope, row) for word in dict.fromkeys(self._tokens("\n".join(texts)))]

    def discard_pending(self) -> None:
        """Drop the changes of a transaction that was rolled back."""
        super().discard_pending()
        self.vectors.discard_pending()

    def _stored(self, memory_id: str) -> _Stored | None:
        found = self._fetch(_STORED, (memory_id,))
        if not found:
            return None
        row, *values = found[0]
        return _Stored(row, tuple(values[: len(INDEXED)]), parse_memory(values[len(INDEXED) :]))

    def _find_free_row(self, row: int) -> int:
        while self._fetch("SELECT 1 FROM memory WHERE row = ?", (row,)):
            row += 1
        return row

    def _remove(self, old: _Stored) -> None:
        self._db.execute("DELETE FROM memory WHERE row = ?", (old.row,))
        self._pending.append((old.row, False, old.indexed))
        self.vectors.drop(old.row)
        self._change_paths(list_links(old.row, old.memory), set())

    def _change_paths(self, old: set[tuple[Any, ...]], new: set[tuple[Any, ...]]) -> None:
        for table, *values in old - new:
            where = " AND ".join(f"{name} = ?" for name in LINK_TABLES[table])
            self._db.execute(f"DELETE FROM {table} WHERE {where}", values)
        for table, *values in new - old:
            marks = ", ".join("?" * len(values))
            self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES({marks})", values)


def _vector_key(memory: Memory) -> tuple[Any, ...]:
    """Return what a memory's vectors depend on."""
    return memory.text, memory.when, memory.scope, memory.status == ACTIVE
