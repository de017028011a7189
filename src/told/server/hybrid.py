"""Search memories by words and meaning in one statement; write the vectors behind the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from told.search.query import Query
from told.search.rank import plan_query
from told.search.vectors.table import DIMENSIONS, make_vector, table_model_id
from told.server.context import Server
from told.server.jobs import Write
from told.server.memory import TeamMemory
from told.store.fts import unquote_phrase
from told.store.postgres.database import Connection, Database, Viewer
from told.store.postgres.fts import split_words
from told.store.postgres.memories.bm25 import has_bm25
from told.store.postgres.memories.match import WordCounts
from told.store.postgres.memories.queries import clean
from told.store.postgres.memories.search import BUDGET, MemorySearch, Vector
from told.store.postgres.memories.vectors import EmbeddingModel, register_model, write_missing_vectors


def find_hybrid(
    opened: TeamMemory, query: Query, scopes: Sequence[str], limit: int
) -> list[tuple[str, float]]:
    """Return (id, score) of the memories that answer a question, best first."""
    search = MemorySearch(opened.connection, opened.client.viewer)
    vector = _embed_question(query.text)
    terms = {term: split_words(clean(unquote_phrase(term))) for term in (*query.must, *query.terms)}
    every = [word for words in terms.values() for word in words]
    # Its index knows neither scopes nor phrases, so it would rank all matches to find those.
    if not scopes and not query.must and has_bm25(opened.connection):
        return search.search("", vector, limit=limit, bm25=" ".join(every))
    counts = search.count_words(every, BUDGET + 1, scopes=scopes)
    return search.search(_plan(query, terms, counts), vector, scopes=scopes, limit=limit, counts=counts)


def _plan(query: Query, terms: Mapping[str, Sequence[str]], counts: WordCounts) -> str:
    """Return the expression of a question: rare words select, common ones only score."""
    # A phrase is in no more memories than its rarest word.
    frequencies = {
        term: min((counts.words[word] for word in words), default=0) for term, words in terms.items()
    }
    if not all(frequencies[phrase] for phrase in query.must):
        return ""
    wanted = {term: frequencies[term] for term in query.terms}
    return plan_query(wanted, counts.total, BUDGET, must=query.must)


def _embed_question(text: str) -> Vector | None:
    model, vector = table_model_id(), make_vector(text, asking=True)
    return Vector(model, as_numbers(vector)) if model and vector else None


def as_numbers(vector: bytes) -> list[float]:
    """Return the numbers of a vector, which are signed bytes."""
    return [float(value) for value in memoryview(vector).cast("b")]


def _embed_texts(texts: Sequence[str]) -> list[list[float]]:
    nothing = [1.0, *[0.0] * (DIMENSIONS - 1)]  # of a text without a known word; a vector needs a direction
    return [as_numbers(vector) if (vector := make_vector(text)) else nothing for text in texts]


def register_table(database: Database) -> None:
    """Register the built-in table of meaning as an embedding model."""
    if model := table_model_id():
        register_model(database, EmbeddingModel(model, DIMENSIONS))


def embed_memories(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
    """Write the vectors of new memories, or of all of a team that have none."""
    if model := table_model_id():
        ids = payload.get("memories", ())
        write_missing_vectors(server.database, viewer.team, model, _embed_texts, ids=ids)
    return _do_nothing


def _do_nothing(_: Connection) -> None:
    """Leave it: the vectors were committed in batches."""
