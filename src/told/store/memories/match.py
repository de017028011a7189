"""Match memories against the full-text index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw

from told.store.database import Queries, count_indexed_rows, format_bm25, make_tokenizer
from told.store.fts import match_all, match_any, match_except, quote_phrase
from told.store.memories.records import (
    ARCHIVED,
    STATUS_TERMS,
    SUPERSEDED,
    Embedding,
    hash_row,
    make_scope_word,
)


class MemoryIndex(Queries):
    """Full-text queries; without scopes they also match ended and archived memories."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._tokens: Callable[[str], list[str]] | None = None

    def memory_count(self) -> int:
        """Return how many memories are indexed."""
        return count_indexed_rows(self._db, "memory_words")

    def frequency(self, phrase: str, cap: int, *, scopes: Sequence[str] = ()) -> int:
        """Count the memories that match an expression, up to `cap`."""
        word = self._find_single_word(phrase) if scopes else ""
        if word:
            sql = "SELECT count(*) FROM (SELECT 1 FROM word_of WHERE word = ? AND scope = ? LIMIT ?)"
            names = [make_scope_word(scope) for scope in scopes]
            return min(cap, sum(int(self._fetch_value(sql, (word, name, cap))) for name in names))
        sql = "SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ?)"
        return int(self._fetch_value(sql, (restrict_to_scopes(phrase, scopes), cap)))

    def latest(self, expression: str, limit: int, *, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of the newest matches, not ranked."""
        sql = "SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?"
        return self._fetch_column(sql, (restrict_to_scopes(expression, scopes), limit))

    def with_term(self, term: str, limit: int, *, scopes: Sequence[str]) -> list[int]:
        """Return the rows of the newest memories that contain a quoted term."""
        word = self._find_single_word(term)
        if not word:
            return self.latest(term, limit, scopes=scopes)
        sql = "SELECT row FROM word_of WHERE word = ? AND scope = ? ORDER BY row DESC LIMIT ?"
        return self._fetch_newest(sql, [(word, make_scope_word(scope)) for scope in scopes], limit)

    def span(self, scopes: Sequence[str], newest: int) -> tuple[int, int]:
        """Return how many of the newest memories scopes have, and the oldest row."""
        sql = "SELECT row FROM memory WHERE scope = ? AND status = 'active' ORDER BY row DESC LIMIT ?"
        found = self._fetch_newest(sql, [(scope,) for scope in scopes], newest)
        return len(found), found[-1] if found else 0

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        scopes: Sequence[str] = (), ended: bool = False, archived: bool | None = None, newest: int = 0,
        status: str = "",
    ) -> list[tuple[int, float]]:  # fmt: skip
        """Return (row, score) of the best matches; a lower score is better.

        Of scopes only active memories, with `ended` also others. `archived`: only archived ones, or neither
        those nor unconfirmed ones. `newest`: score only so many of the newest matches.
        """
        expression = restrict_to_scopes(expression, scopes, ended=ended, archived=archived, status=status)
        oldest = 0
        if newest:
            sql = (
                "SELECT min(rowid) FROM (SELECT rowid FROM memory_words WHERE memory_words MATCH ?"
                " ORDER BY rowid DESC LIMIT ?)"
            )
            oldest = self._fetch_value(sql, (expression, newest)) or 0
        return self._fetch(
            f"SELECT rowid, {format_bm25('memory_words', (0.0, *weights))} AS score FROM memory_words"
            " WHERE memory_words MATCH ? AND rowid >= ? ORDER BY score, rowid DESC LIMIT ?",
            (expression, oldest, limit),
        )

    def noted(self, topic: str) -> dict[str, str]:
        """Return the notes of a topic by name."""
        return dict(self._fetch("SELECT name, value FROM noted WHERE topic = ? AND value != ''", (topic,)))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def _find_single_word(self, phrase: str) -> str:
        """Return the indexed form of a quoted word; empty if it is several."""
        if not (phrase.startswith('"') and phrase.endswith('"')):
            return ""
        if self._tokens is None:
            self._tokens = make_tokenizer(self._db)
        words = self._tokens(phrase)
        return words[0] if len(words) == 1 else ""

    def _fetch_newest(self, sql: str, asked: Sequence[tuple[str, ...]], limit: int) -> list[int]:
        """Run a query for each scope, so that SQLite need not sort."""
        found = [row[0] for values in asked for row in self._fetch(sql, (*values, limit))]
        return sorted(found, reverse=True)[:limit]


def restrict_to_scopes(
    expression: str,
    scopes: Sequence[str],
    *,
    ended: bool = False,
    archived: bool | None = None,
    status: str = "",
) -> str:
    """Restrict an expression to scopes and a status, or to those that are found by default."""
    status = ARCHIVED if archived else status
    if not scopes:
        if status:
            return match_all((STATUS_TERMS[status], expression))
        return expression if archived is None else match_except(expression, match_any(STATUS_TERMS.values()))
    if status:
        words = [make_scope_word(scope, status) for scope in scopes]
    else:
        words = [make_scope_word(scope) for scope in scopes]
        words += [make_scope_word(scope, SUPERSEDED) for scope in scopes] if ended else []
    return match_all((match_any(map(quote_phrase, words)), expression))


SIGN_BYTES = 31  # with 248 signs, a count of differences fits into a byte
SIGN_COUNT = 8 * SIGN_BYTES
MAX_BLOCK = 1024  # memories
_AS_DIGITS = bytes([ord("1") if value >= 128 else ord("0") for value in range(256)])
_BATCH = 500


class MemoryVectors(Queries):
    """Reads vectors and signs."""

    def signs(self, scopes: Sequence[str], model: str, most: int) -> list[tuple[memoryview[int], bytes]]:
        """Return blocks of (rows, signs by columns) of each scope's newest memories."""
        sql = "SELECT rows, signs FROM meaning_signs WHERE scope = ? AND model = ? ORDER BY first DESC"
        found = []
        for scope in scopes:
            left = most
            for packed, columns in self._db.execute(sql, (scope, model)):
                numbers = memoryview(packed).cast("q")
                found.append((numbers[-left:], columns))
                left -= len(numbers)
                if left <= 0:
                    break
        return found

    def vectors(self, numbers: Sequence[int], model: str) -> dict[int, bytes]:
        """Return the vectors of a model by row: the one of a text, then those of its phrases."""
        found: dict[int, bytes] = {}
        for start in range(0, len(numbers), _BATCH):
            some = numbers[start : start + _BATCH]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT row, vector FROM meaning_of WHERE row IN ({marks}) AND model = ?"
            found.update(self._fetch(sql, (*some, model)))
        return found

    def counts(self) -> dict[str, int]:
        """Return how many vectors each model has."""
        return dict(self._fetch("SELECT model, count(*) FROM meaning_of GROUP BY model ORDER BY model"))

    def missing(self, model: str, most: int = -1) -> list[int]:
        """Return the rows of active memories without a vector, the oldest first."""
        sql = (
            "SELECT row FROM memory WHERE status = 'active' AND text != ''"
            " AND row NOT IN (SELECT row FROM meaning_of WHERE model = ?) ORDER BY row LIMIT ?"
        )
        return self._fetch_column(sql, (model, most))


def pack_vector_signs(vector: bytes) -> bytes:
    """Return the signs of a vector's first 248 numbers."""
    return int(vector[:SIGN_COUNT].translate(_AS_DIGITS), 2).to_bytes(SIGN_BYTES, "little")


def hash_vector(values: tuple[int, str, str, bytes]) -> bytes:
    """Return the checksum of a row (row, scope, model, vector)."""
    return hash_row((*values[:-1], values[-1].hex()))


def pack_sign_columns(found: dict[int, bytes]) -> tuple[bytes, bytes]:
    """Return sorted rows, eight bytes each, and their signs by columns."""
    rows = sorted(found)
    every = b"".join([found[row] for row in rows])
    return (
        b"".join([row.to_bytes(8, "little") for row in rows]),
        b"".join([every[at::SIGN_BYTES] for at in range(SIGN_BYTES)]),
    )


def unpack_sign_columns(rows: bytes, by_columns: bytes) -> dict[int, bytes]:
    """Return the signs of each row."""
    numbers = memoryview(rows).cast("q").tolist()
    return {row: by_columns[at :: len(numbers)] for at, row in enumerate(numbers)}


class VectorWriter(Queries):
    """Writes vectors and signs, all at the end of a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._pending: dict[int, tuple[str, Embedding] | None] = {}

    def put(self, row: int, scope: str, embedding: Embedding) -> None:
        """Replace the vector of a memory."""
        self._pending[row] = (scope, embedding) if embedding.vector else None

    def drop(self, row: int) -> None:
        """Remove the vector of a memory."""
        self._pending[row] = None

    def discard_pending(self) -> None:
        """Drop the changes of a transaction that was rolled back."""
        self._pending.clear()

    def flush(self) -> None:
        """Write the pending changes to both tables."""
        changes: dict[tuple[str, str], dict[int, bytes | None]] = {}
        for row, new in sorted(self._pending.items()):
            for scope, model in self._fetch("SELECT scope, model FROM meaning_of WHERE row = ?", (row,)):
                changes.setdefault((scope, model), {})[row] = None
                self._db.execute("DELETE FROM meaning_of WHERE row = ?", (row,))
            if new:
                scope, embedding = new
                values = (row, scope, embedding.model, embedding.vector)
                self._db.execute(
                    "INSERT INTO meaning_of VALUES(?, ?, ?, ?, ?)", (*values, hash_vector(values))
                )
                changes.setdefault((scope, embedding.model), {})[row] = pack_vector_signs(embedding.vector)
        for (scope, model), listed in changes.items():
            self._change_signs(scope, model, listed)
        self._pending.clear()

    def _change_signs(self, scope: str, model: str, changes: dict[int, bytes | None]) -> None:
        """Change signs; a row belongs to the last block that starts at or before it."""
        waiting = sorted(changes, reverse=True)
        while waiting:
            row = waiting[-1]
            first, block = self._find_block(scope, model, row)
            after = "SELECT min(first) FROM meaning_signs WHERE scope = ? AND model = ? AND first > ?"
            end = self._fetch_value(after, (scope, model, row))
            while waiting and (end is None or waiting[-1] < end):
                changed = waiting.pop()
                if new := changes[changed]:
                    block[changed] = new
                else:
                    block.pop(changed, None)
            delete = "DELETE FROM meaning_signs WHERE scope = ? AND model = ? AND first = ?"
            self._db.execute(delete, (scope, model, first))
            ordered = sorted(block)
            parts = -(-len(ordered) // MAX_BLOCK)
            for at in range(parts):
                part = ordered[at * len(ordered) // parts : (at + 1) * len(ordered) // parts]
                values = pack_sign_columns({one: block[one] for one in part})
                insert = "INSERT INTO meaning_signs VALUES(?, ?, ?, ?, ?)"
                self._db.execute(insert, (scope, model, part[0], *values))

    def _find_block(self, scope: str, model: str, row: int) -> tuple[int, dict[int, bytes]]:
        sql = (
            "SELECT first, rows, signs FROM meaning_signs WHERE scope = ? AND model = ? AND first <= ?"
            " ORDER BY first DESC LIMIT 1"
        )
        for first, numbers, columns in self._fetch(sql, (scope, model, row)):
            return first, unpack_sign_columns(numbers, columns)
        return row, {}
