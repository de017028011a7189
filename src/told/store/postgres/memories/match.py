"""Match memories by words and vectors in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

from told.store.memories.match import SIGN_BYTES, pack_vector_signs, restrict_to_scopes
from told.store.memories.records import Embedding
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.fts import (
    Phrase,
    format_tsquery,
    list_phrases,
    parse_expression,
)
from told.store.postgres.memories.queries import ViewerQueries, clean, clean_all, limit_of

_COUNTED = 3_000  # memories; more are estimated
_FREQUENT = 300  # a word in more memories is as common as one in this share of them
_RANKED = 2000  # the newest matches that are scored
_MAX_RANKED_PHRASES = 32
_LOWEST_RARITY = 1e-6
_COUNTS = (
    "SELECT w.word, (SELECT count(*) FROM (SELECT FROM word_of t WHERE t.team = %(team)s AND t.word = w.word"
    " AND t.reader = ANY(%(readers)s){within} LIMIT %(most)s) AS few)"
    " FROM unnest(%(words)s::text[]) AS w(word)"
    " UNION ALL SELECT NULL, CASE WHEN f.many < %(counted)s THEN f.many"
    " ELSE greatest(f.many, c.reltuples::bigint) END"
    " FROM pg_class c, (SELECT count(*) AS many FROM (SELECT FROM memory WHERE team = %(team)s"
    " AND reader = ANY(%(readers)s) LIMIT %(counted)s) AS few) AS f WHERE c.oid = 'memory'::regclass"
)
# The weight labels of the columns; nobody writes the words of scopes.
LABELS = {"text": "A", "words": "B", "extra": "C", "scope_word": ""}


def reader_mark(team: str, reader: str) -> str:
    """Return the indexed word of memories that somebody may read, which no text has."""
    return f"={team}/{reader}"


class WordCounts(NamedTuple):
    """How many memories have each indexed word, and how many there are."""

    words: Mapping[str, int]
    total: int  # an estimate if there are many

    def weigh(self, words: Sequence[str]) -> float:
        """Return how much a phrase counts: less if its rarest word is in many memories."""
        count = min(self.words[word] for word in words)
        if count >= _FREQUENT:  # how much more common it is does not matter
            count = max(count, self.total // 4)
        return log((self.total - count + 0.5) / (count + 0.5)) if self.total > 2 * count else _LOWEST_RARITY


class MemoryIndex(ViewerQueries):
    """Full-text queries; without scopes they also match ended and archived memories."""

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        super().__init__(connection, viewer)
        readers = (reader_mark(viewer.team, reader) for reader in (viewer.person, ""))
        self._readable = f"({' | '.join(_quote(one) for one in readers)})"

    def memory_count(self) -> int:
        """Return how many memories are indexed; an estimate if there are many."""
        return self.count_words((), 0).total

    def frequency(self, phrase: str, cap: int, *, scopes: Sequence[str] = ()) -> int:
        """Count the memories that match an expression, up to `cap`."""
        word = _find_single_word(phrase)
        if word and scopes:
            return len(self._newest("word_of", "t.word = %(word)s", scopes, cap, word=word))
        query = self._query(restrict_to_scopes(phrase, clean_all(scopes)))
        if query is None:
            return 0
        statement = "SELECT count(*) FROM word_rows(%(query)s::tsquery, 0, %(cap)s) WHERE %(team)s <> ''"
        return int(self._fetch_value(statement, query=query, cap=cap))

    def latest(self, expression: str, limit: int, *, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of the newest matches, not ranked."""
        query = self._query(restrict_to_scopes(expression, clean_all(scopes)))
        if query is None:
            return []
        statement = "SELECT r FROM word_rows(%(query)s::tsquery, 0, %(limit)s) AS r WHERE %(team)s <> ''"
        return self._fetch_column(statement, query=query, limit=limit_of(limit))

    def with_term(self, term: str, limit: int, *, scopes: Sequence[str]) -> list[int]:
        """Return the rows of the newest memories that contain a quoted term."""
        word = _find_single_word(term)
        if not word:
            return self.latest(term, limit, scopes=scopes)
        return self._newest("word_of", "t.word = %(word)s", scopes, limit, word=word)

    def span(self, scopes: Sequence[str], newest: int) -> tuple[int, int]:
        """Return how many of the newest memories scopes have, and the oldest row."""
        found = self._newest("memory", "t.status = 'active'", scopes, newest)
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
        inside = clean_all(scopes)
        whole = restrict_to_scopes(expression, inside, ended=ended, archived=archived, status=status)
        asked = self._describe(expression, whole)
        if asked is None:
            return []
        text, words, extra = map(float, weights)
        found: list[tuple[int, float]] = self._fetch(
            "SELECT memory_row, score FROM rank_words(%(query)s::tsquery, %(terms)s::tsquery[],"
            " %(rarities)s::real[], %(weights)s::real[], %(newest)s, %(limit)s) WHERE %(team)s <> ''",
            **asked, weights=[0.0, extra, words, text], newest=newest or _RANKED, limit=limit_of(limit),
        )  # fmt: skip
        return found

    def noted(self, topic: str) -> dict[str, str]:
        """Return the notes of a topic by name."""
        statement = (
            "SELECT name, value FROM noted WHERE team = %(team)s AND owner = %(person)s"
            " AND topic = %(topic)s AND value <> ''"
        )
        return dict(self._fetch(statement, topic=clean(topic)))

    def close(self) -> None:
        """Do nothing: the transaction belongs to the caller."""

    def _describe(
        self, expression: str, whole: str, counts: WordCounts | None = None
    ) -> dict[str, Any] | None:
        """Return what `rank_words` is asked; None if nothing can match.

        Args:
            expression: What is ranked by.
            whole: The same, restricted to scopes and statuses.
            counts: Of all its words, if they are known.
        """
        query = self._query(whole)
        asked = list_phrases(parse_expression(clean(expression)))
        phrases = [one for one in asked if one.words][:_MAX_RANKED_PHRASES]
        if not phrases or query is None:
            return None
        terms = [format_tsquery(one, LABELS) for one in phrases]
        counts = counts or self.count_words((word for one in phrases for word in one.words), _FREQUENT)
        return {"query": query, "terms": terms, "rarities": [counts.weigh(one.words) for one in phrases]}

    def count_words(self, words: Iterable[str], cap: int, *, scopes: Sequence[str] = ()) -> WordCounts:
        """Count the active memories with each indexed word, up to `cap`, and all memories."""
        found = dict(
            self._fetch(
                _COUNTS.format(within=" AND t.scope = ANY(%(scopes)s)" if scopes else ""),
                words=sorted(set(words)), most=cap, scopes=clean_all(scopes), counted=_COUNTED,
            )
        )  # fmt: skip
        return WordCounts(found, found.pop(None))

    def _query(self, expression: str) -> str | None:
        """Return a tsquery of what the viewer may read; None if it matches nothing."""
        found = format_tsquery(parse_expression(clean(expression)), LABELS)
        return f"{self._readable} & {found}" if found else None


def _find_single_word(phrase: str) -> str:
    """Return the indexed form of a quoted word; empty if it is several or a prefix."""
    found = parse_expression(clean(phrase))
    is_word = isinstance(found, Phrase) and len(found.words) == 1 and not (found.prefix or found.columns)
    return found.words[0] if is_word and isinstance(found, Phrase) else ""


def _quote(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


class PostgresVectors(ViewerQueries):
    """Reads and writes the vectors by which told compares memories exactly."""

    def signs(self, scopes: Sequence[str], model: str, most: int) -> list[tuple[memoryview[int], bytes]]:
        """Return blocks of (rows, signs by columns) of each scope's newest memories."""
        found = []
        for scope in scopes:
            rows = self._fetch(
                "SELECT f.row, f.signs FROM unnest(%(readers)s::text[]) AS r(reader), LATERAL ("
                "SELECT t.row, t.signs FROM meaning_of t WHERE t.team = %(team)s AND t.scope = %(scope)s"
                " AND t.model = %(model)s AND t.reader = r.reader ORDER BY t.row DESC LIMIT %(most)s) f"
                " ORDER BY f.row DESC LIMIT %(most)s",
                scope=scope, model=model, most=most,
            )  # fmt: skip
            if rows:
                rows.reverse()
                packed = b"".join([row.to_bytes(8, "little") for row, _ in rows])
                signs = b"".join([one for _, one in rows])
                columns = b"".join([signs[at::SIGN_BYTES] for at in range(SIGN_BYTES)])
                found.append((memoryview(packed).cast("q"), columns))
        return found

    def vectors(self, numbers: Sequence[int], model: str) -> dict[int, bytes]:
        """Return the vectors of a model by row: the one of a text, then those of its phrases."""
        statement = (
            "SELECT row, vector FROM meaning_of WHERE team = %(team)s AND reader = ANY(%(readers)s)"
            " AND row = ANY(%(rows)s) AND model = %(model)s"
        )
        found = dict(self._fetch(statement, rows=list(numbers), model=model)) if numbers else {}
        return {row: found[row] for row in numbers if row in found}

    def counts(self) -> dict[str, int]:
        """Return how many vectors each model has."""
        statement = (
            "SELECT model, count(*) FROM meaning_of WHERE team = %(team)s AND reader = ANY(%(readers)s)"
            " GROUP BY model ORDER BY model"
        )
        return dict(self._fetch(statement))

    def missing(self, model: str, most: int = -1) -> list[int]:
        """Return the rows of active memories without a vector, the oldest first."""
        statement = (
            "SELECT m.row FROM memory m WHERE m.team = %(team)s AND m.owner = %(person)s"
            " AND m.status = 'active' AND m.text <> '' AND NOT EXISTS (SELECT FROM meaning_of o"
            " WHERE o.team = %(team)s AND o.row = m.row AND o.model = %(model)s)"
            " ORDER BY m.row LIMIT %(most)s"
        )
        return self._fetch_column(statement, model=model, most=limit_of(most))

    def put(self, row: int, scope: str, embedding: Embedding) -> None:
        """Replace the vector of a memory."""
        if not embedding.vector:
            self.drop(row)
            return
        self._run(
            "INSERT INTO meaning_of(team, scope, model, reader, row, vector, signs)"
            " SELECT %(team)s, %(scope)s, %(model)s, m.reader, m.row, %(vector)s, %(signs)s"
            " FROM memory m WHERE m.team = %(team)s AND m.row = %(row)s AND m.owner = %(person)s"
            " ON CONFLICT (team, row) DO UPDATE SET scope = excluded.scope, model = excluded.model,"
            " reader = excluded.reader, vector = excluded.vector, signs = excluded.signs",
            row=row, scope=clean(scope), model=embedding.model, vector=embedding.vector,
            signs=pack_vector_signs(embedding.vector),
        )  # fmt: skip

    def drop(self, row: int) -> None:
        """Remove the vectors of a memory."""
        for table in ("meaning_of", "memory_vector"):
            self._run(f"DELETE FROM {table} WHERE team = %(team)s AND row = %(row)s", row=row)
