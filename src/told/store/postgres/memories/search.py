"""Search memories by words and meaning together, in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from psycopg import sql

from told.store.memories.match import restrict_to_scopes
from told.store.postgres.memories.match import MemoryIndex, WordCounts
from told.store.postgres.memories.queries import clean_all
from told.store.postgres.memories.vectors import format_vector

_POOL = 100  # matches of each kind that are fused
# Neighbours that HNSW looks for. With as many as are fused it stops too early where rows of other people or
# scopes lie between.
_NEAREST = 400
_COMPARED = 30_000  # vectors of scopes that are compared one by one; for more, HNSW is faster
BUDGET = 600  # rows that may be ranked by words; for `plan_query`
_FUSION = 60  # the usual constant of reciprocal rank fusion: how little the first ranks differ

_WORDS = (
    "SELECT memory_row AS row, row_number() OVER (ORDER BY score, memory_row DESC) AS rank"
    " FROM rank_words(%(query)s::tsquery, %(terms)s::tsquery[], %(rarities)s::real[],"
    " '{0,0.4,0.6,1}'::real[], %(budget)s, %(pool)s)"
)
# HNSW returns rows that it finds later out of order; `+ 0` keeps the planner from taking them for sorted.
_NEAR = (
    "SELECT row, rank FROM (SELECT row, row_number() OVER (ORDER BY distance + 0, row DESC) AS rank FROM ("
    "SELECT v.row, {distance} AS distance FROM memory_vector v WHERE v.team = %(team)s AND v.model = {model}"
    " AND v.reader = ANY(%(readers)s){within}{nearest}) AS near) AS ranked WHERE rank <= %(pool)s"
)
_DISTANCE = "v.vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
_BY_HNSW = " ORDER BY {distance} LIMIT %(nearest)s"
_COUNT = (
    "SELECT count(*) FROM (SELECT FROM memory_vector v WHERE v.team = %(team)s AND v.model = %(model)s"
    " AND v.scope = ANY(%(scopes)s) AND v.reader = ANY(%(readers)s) LIMIT %(most)s) AS few"
)
# A lower score is better, and 0 is no match.
_BM25 = (
    "SELECT memory_row AS row, row_number() OVER (ORDER BY score, memory_row DESC) AS rank"
    " FROM rank_bm25(%(bm25)s, %(pool)s) WHERE score < 0"
)
_NONE = "SELECT NULL::bigint AS row, NULL::bigint AS rank WHERE false"
_FUSED = (
    "WITH words AS ({words}), near AS ({near}),"
    " fused AS (SELECT row, sum(1.0 / (%(fusion)s + rank))::float8 AS score"
    " FROM (SELECT * FROM words UNION ALL SELECT * FROM near) AS every GROUP BY row)"
    " SELECT m.id, f.score FROM fused f JOIN memory m ON m.team = %(team)s AND m.row = f.row"
    " AND m.reader = ANY(%(readers)s) AND m.status = 'active'"
    "{within} ORDER BY f.score DESC, m.row DESC LIMIT %(limit)s"
)


class Vector(NamedTuple):
    """The vector of a question."""

    model: str
    values: Sequence[float]


class MemorySearch(MemoryIndex):
    """Hybrid search for one viewer."""

    def search(
        self,
        expression: str,
        vector: Vector | None,
        *,
        scopes: Sequence[str] = (),
        limit: int = 10,
        counts: WordCounts | None = None,
        bm25: str = "",
    ) -> list[tuple[str, float]]:
        """Return (id, score) of the active memories that match best; a higher score is better.

        Args:
            expression: What the words must match, as `plan_query` makes it; empty for none.
            vector: What the question means; None to search by words only.
            scopes: Only of these; all that the viewer may read if empty.
            limit: The largest number of results.
            counts: Of the words of the expression, if they are known.
            bm25: Words to rank by BM25, in place of an expression; see `has_bm25`.
        """
        whole = restrict_to_scopes(expression, clean_all(scopes), archived=None if scopes else False)
        words = self._describe(expression, whole, counts) if expression else None
        if words is None and vector is None and not bm25:
            return []
        values: dict[str, Any] = {
            "limit": limit, "pool": max(_POOL, limit), "nearest": max(_NEAREST, limit), "fusion": _FUSION,
            "budget": BUDGET, "scopes": clean_all(scopes), "bm25": bm25,
        }  # fmt: skip
        near, within = _NONE, " AND {}.scope = ANY(%(scopes)s)" if scopes else ""
        if vector is not None:
            near = self._make_near(vector, scopes, within.format("v"))
            values["vector"] = format_vector(vector.values)
        by_words = _BM25 if bm25 else _WORDS if words else _NONE
        statement = _FUSED.format(words=by_words, near=near, within=within.format("m"))
        return self._fetch(statement, **values, **(words or {}))

    def _make_near(self, vector: Vector, scopes: Sequence[str], within: str) -> str:
        """Return the part of the statement that finds the nearest vectors."""
        # The planner takes the index of a model only if it sees the model's name.
        model = sql.Literal(vector.model).as_string(self._db).replace("%", "%%")
        distance = _DISTANCE.format(dimensions=len(vector.values))
        most = _COMPARED + 1
        is_small = bool(scopes) and most > self._fetch_value(
            _COUNT, model=vector.model, scopes=clean_all(scopes), most=most
        )
        nearest = "" if is_small else _BY_HNSW.format(distance=distance)
        return _NEAR.format(distance=distance, model=model, within=within, nearest=nearest)
