"""Writes folded memories into `memory.db`, and everything that leads to them."""

from __future__ import annotations

from told.record import record
from told.store.database import rows
from told.store.memory_meaning_writing import MeaningWriter
from told.store.memory_records import ACTIVE
from told.store.memory_rows import (
    ACTIVE_SCOPE,
    COLUMNS,
    INDEXED,
    PATHS,
    WRITTEN,
    hash_of_row,
    memory_of,
    paths,
    row_of,
    written,
)  # fmt: skip
from told.store.memory_tokens import tokens_with
from told.store.words import WordsTransaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    import apsw

    from told.store.memory_records import Memory, Position, Worked

_INDEXED = ", ".join(INDEXED)
_INSERT = f"INSERT INTO memory({', '.join(WRITTEN)}) VALUES({', '.join('?' * len(WRITTEN))})"
_UPDATE = f"UPDATE memory SET {', '.join(f'{name} = ?' for name in WRITTEN[1:])} WHERE row = ?"
_STORED = f"SELECT row, about, {_INDEXED}, {', '.join(COLUMNS)} FROM memory WHERE id = ?"
_PLACES = [WRITTEN.index(name) for name in INDEXED]


@record
class _Stored:
    """A memory where it is."""

    row: int
    about: str
    indexed: tuple[str, ...]
    memory: Memory


class MemoryWriter:
    """Writes inside transactions; words reach the full-text index when the transaction ends."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._pending: list[tuple[int, bool, tuple[str, ...]]] = []
        self._tokens: Callable[[str], list[str]] | None = None
        self.meanings = MeaningWriter(connection)

    def transaction(self) -> WordsTransaction:
        """Begin a transaction that also brings the full-text index up to date."""
        return WordsTransaction(self._db, self)

    def put(self, memory: Memory, words: Callable[[str, int], Worked], *, fresh: bool = False) -> None:
        """Store a memory as it is now.

        Args:
            memory: The memory.
            words: Makes the extra words to index, what it is about and what it means, from its text and time;
                asked only if these are new.
            fresh: It is known not to be stored yet.
        """
        old = None if fresh else self._stored(memory.id)
        if old and _place(old.memory) != _place(memory):
            self._remove(old)
            old = None
        row = old.row if old else self._free_row(row_of(memory))
        worked = None
        if old and old.memory.text == memory.text:
            extra, about = old.indexed[3], old.about
        elif memory.text:
            worked = words(memory.text, memory.created)
            extra, about = worked.extra, worked.about
        else:
            extra = about = ""
        values = written(row, memory, extra, about)
        indexed = tuple(values[place] for place in _PLACES)
        if old is None:
            self._db.execute(_INSERT, values)
            self._pending.append((row, True, indexed))
        else:
            self._db.execute(_UPDATE, (*values[1:], row))
            if indexed != old.indexed:
                self._pending += [(row, False, old.indexed), (row, True, indexed)]
        self._change_paths(paths(row, old.memory, old.about) if old else set(), paths(row, memory, about))
        if memory.status != ACTIVE or not memory.text:
            self.meanings.drop(row)
        elif not old or _meant_from(old.memory) != _meant_from(memory):
            worked = worked or words(memory.text, memory.created)
            self.meanings.put(row, memory.scope, worked.meant)

    def drop(self, memory_id: str) -> None:
        """Remove a memory that turned out never to have been made."""
        old = self._stored(memory_id)
        if old:
            self._remove(old)
            self.clear_shown(memory_id)

    def put_shown(self, memory_id: str, shown: Iterable[tuple[str, int]]) -> None:
        """Store in which sessions a memory was shown, and when last."""
        for session, at in shown:
            known = rows(
                self._db, "SELECT at FROM shown WHERE session = ? AND memory_id = ?", (session, memory_id)
            )
            values = (session, memory_id, max(at, known[0][0]) if known else at)
            self._db.execute(
                "INSERT OR REPLACE INTO shown VALUES(?, ?, ?, ?)", (*values, hash_of_row(values))
            )

    def clear_shown(self, memory_id: str) -> None:
        """Forget where a memory was shown."""
        self._db.execute("DELETE FROM shown WHERE memory_id = ?", (memory_id,))

    def put_noted(self, topic: str, name: str, value: str, key: tuple[int, str, int]) -> None:
        """Store a note; the latest one counts, whichever comes first."""
        known = rows(
            self._db, "SELECT at, machine, number FROM noted WHERE topic = ? AND name = ?", (topic, name)
        )
        if not known or known[0] <= key:
            values = (topic, name, value, *key)
            self._db.execute(
                "INSERT OR REPLACE INTO noted VALUES(?, ?, ?, ?, ?, ?, ?)", (*values, hash_of_row(values))
            )

    # -- how far the journal has been applied -------------------------------------------------------

    def put_position(self, machine: str, segment: str, position: Position) -> None:
        """Store how far a segment has been applied."""
        self._db.execute(
            "INSERT OR REPLACE INTO position VALUES(?, ?, ?, ?, ?)",
            (machine, segment, *position),  # type: ignore[misc]
        )

    def set_stale(self, memory_ids: Iterable[str]) -> None:
        """Say which memories have to be folded anew, beside those that already have to."""
        self._db.executemany("INSERT OR IGNORE INTO stale VALUES(?)", [(one,) for one in memory_ids])

    def clear_stale(self) -> None:
        """Say that all memories are as their operations left them."""
        self._db.execute("DELETE FROM stale")

    def is_orphan(self, memory_id: str) -> bool:
        """Tell whether operations came before the one that makes their memory."""
        return bool(rows(self._db, "SELECT 1 FROM orphan WHERE memory_id = ?", (memory_id,)))

    def set_orphan(self, memory_id: str, *, orphan: bool) -> None:
        """Say whether there are operations for a memory that none has made."""
        sql = "INSERT OR IGNORE INTO orphan VALUES(?)" if orphan else "DELETE FROM orphan WHERE memory_id = ?"
        self._db.execute(sql, (memory_id,))

    # -- words --------------------------------------------------------------------------------------

    def flush_words(self) -> None:
        """Bring the full-text index in line, in the order of row ids: sorted, a batch is one segment."""
        for row, adding, words in sorted(self._pending, key=lambda change: change[0]):
            if adding:
                sql = f"INSERT INTO memory_words(rowid, {_INDEXED}) VALUES(?, ?, ?, ?, ?)"
            else:
                sql = (
                    f"INSERT INTO memory_words(memory_words, rowid, {_INDEXED})"
                    " VALUES('delete', ?, ?, ?, ?, ?)"
                )
            self._db.execute(sql, (row, *words))
            self._put_words(row, words, adding=adding)
        self._pending.clear()
        self.meanings.flush()

    def _put_words(self, row: int, words: tuple[str, ...], *, adding: bool) -> None:
        scope, *texts = words
        if not scope.startswith(ACTIVE_SCOPE):
            return
        if self._tokens is None:
            self._tokens = tokens_with(self._db)
        found = dict.fromkeys(self._tokens("\n".join(texts)))
        sql = (
            "INSERT OR IGNORE INTO word_of VALUES(?, ?, ?)"
            if adding
            else "DELETE FROM word_of WHERE word = ? AND scope = ? AND row = ?"
        )
        self._db.executemany(sql, [(word, scope, row) for word in found])

    def forget_pending(self) -> None:
        """Drop words that belong to a transaction that was rolled back."""
        self._pending.clear()
        self.meanings.forget_pending()

    def _stored(self, memory_id: str) -> _Stored | None:
        found = rows(self._db, _STORED, (memory_id,))
        if not found:
            return None
        row, about, *values = found[0]
        return _Stored(row, about, tuple(values[: len(INDEXED)]), memory_of(values[len(INDEXED) :]))

    def _free_row(self, row: int) -> int:
        while rows(self._db, "SELECT 1 FROM memory WHERE row = ?", (row,)):
            row += 1
        return row

    def _remove(self, old: _Stored) -> None:
        self._db.execute("DELETE FROM memory WHERE row = ?", (old.row,))
        self._pending.append((old.row, False, old.indexed))
        self.meanings.drop(old.row)
        self._change_paths(paths(old.row, old.memory, old.about), set())

    def _change_paths(self, old: set[tuple[Any, ...]], new: set[tuple[Any, ...]]) -> None:
        for table, *values in old - new:
            where = " AND ".join(f"{name} = ?" for name in PATHS[table])
            self._db.execute(f"DELETE FROM {table} WHERE {where}", values)
        for table, *values in new - old:
            marks = ", ".join("?" * len(values))
            self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES({marks})", values)


def _place(memory: Memory) -> tuple[int, str, int]:
    """Return what decides the row of a memory."""
    return memory.created, memory.machine, memory.number


def _meant_from(memory: Memory) -> tuple[str, str, bool]:
    """Return what decides whether a memory has a vector, of what, and where."""
    return memory.text, memory.scope, memory.status == ACTIVE
