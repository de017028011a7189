"""Full-text matching over memories, in the shape that the query planner asks for."""

from __future__ import annotations

from told.store.database import rows
from told.store.memory_records import ARCHIVED, SUPERSEDED
from told.store.memory_rows import AWAY, scope_word
from told.store.memory_tokens import tokens_with
from told.store.words import indexed_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw


class MemoryMatching:
    """What recall asks of the full-text index.

    Without scopes it looks everywhere, at ended and archived ones as well.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._tokens: Callable[[str], list[str]] | None = None

    def memory_count(self) -> int:
        """Return how many memories are indexed."""
        return indexed_rows(self._db, "memory_words")

    def frequency(self, phrase: str, cap: int, *, scopes: Sequence[str] = ()) -> int:
        """Return in how many memories an FTS5 expression occurs, counting no further than `cap`."""
        word = self._one_word(phrase) if scopes else ""
        if word:
            sql = "SELECT count(*) FROM (SELECT 1 FROM word_of WHERE word = ? AND scope = ? LIMIT ?)"
            names = [scope_word(scope) for scope in scopes]
            return min(cap, sum(int(rows(self._db, sql, (word, name, cap))[0][0]) for name in names))
        found = rows(
            self._db,
            "SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ?)",
            (within(phrase, scopes), cap),
        )
        return int(found[0][0])

    def latest(self, expression: str, limit: int, *, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of the newest memories that an FTS5 expression fits, without ranking them."""
        found = rows(
            self._db,
            "SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?",
            (within(expression, scopes), limit),
        )
        return [row[0] for row in found]

    def with_term(self, term: str, limit: int, *, scopes: Sequence[str]) -> list[int]:
        """Return the rows of the newest memories that have a quoted term: quickly if it is one word."""
        word = self._one_word(term)
        if not word:
            return self.latest(term, limit, scopes=scopes)
        sql = "SELECT row FROM word_of WHERE word = ? AND scope = ? ORDER BY row DESC LIMIT ?"
        return self._newest(sql, [(word, scope_word(scope)) for scope in scopes], limit)

    def _one_word(self, phrase: str) -> str:
        """Return the one word that a quoted phrase stands for, as the index has it; empty if it is more."""
        if not (phrase.startswith('"') and phrase.endswith('"')):
            return ""
        if self._tokens is None:
            self._tokens = tokens_with(self._db)
        words = self._tokens(phrase)
        return words[0] if len(words) == 1 else ""

    def span(self, scopes: Sequence[str], newest: int) -> tuple[int, int]:
        """Return how many of the newest memories of some scopes there are, and the row of the oldest."""
        sql = "SELECT row FROM memory WHERE scope = ? AND status = 'active' ORDER BY row DESC LIMIT ?"
        kept = self._newest(sql, [(scope,) for scope in scopes], newest)
        return len(kept), kept[-1] if kept else 0

    def _newest(self, sql: str, asked: Sequence[tuple[str, ...]], limit: int) -> list[int]:
        """Return the newest rows that a query finds, asked once for each scope: so SQLite need not sort."""
        found = [row[0] for values in asked for row in rows(self._db, sql, (*values, limit))]
        return sorted(found, reverse=True)[:limit]

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        scopes: Sequence[str] = (), ended: bool = False, archived: bool | None = None, newest: int = 0,
    ) -> list[tuple[int, float]]:  # fmt: skip
        """Return (row, score) of the best matches; a lower score is better.

        Args:
            expression: What to look for, in the language of the index.
            weights: Of the text, of entities and triggers, and of the extra words.
            limit: How many to return.
            scopes: Only active memories of these scopes.
            ended: With scopes: also those that are no longer active.
            archived: Only archived ones; or none, also where no scopes are given.
            newest: Only that many of the latest matching memories are scored.
        """
        held = within(expression, scopes, ended=ended, archived=archived)
        oldest = 0
        if newest:
            oldest = rows(
                self._db,
                "SELECT min(rowid) FROM (SELECT rowid FROM memory_words WHERE memory_words MATCH ?"
                " ORDER BY rowid DESC LIMIT ?)",
                (held, newest),
            )[0][0]
        marks = ", ".join(str(float(weight)) for weight in (0.0, *weights))
        return rows(
            self._db,
            f"SELECT rowid, bm25(memory_words, {marks}) AS score FROM memory_words"
            " WHERE memory_words MATCH ? AND rowid >= ? ORDER BY score, rowid DESC LIMIT ?",
            (held, oldest or 0, limit),
        )


def within(
    expression: str, scopes: Sequence[str], *, ended: bool = False, archived: bool | None = None
) -> str:
    """Hold an expression to some scopes, and to what is archived or is not, inside the index."""
    if not scopes:
        if archived is None:
            return expression
        return f"{AWAY} AND ({expression})" if archived else f"({expression}) NOT ({AWAY})"
    if archived:
        words = [scope_word(scope, ARCHIVED) for scope in scopes]
    else:
        words = [scope_word(scope) for scope in scopes]
        words += [scope_word(scope, SUPERSEDED) for scope in scopes] if ended else []
    return f"({' OR '.join(words)}) AND ({expression})"
