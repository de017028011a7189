"""Embedding models, and the vectors that are written behind the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from psycopg import sql

from told.errors import UsageError
from told.store.database import public_id
from told.store.postgres.database import Connection, Database

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]

_MAX_DIMENSIONS = 4000  # of a halfvec that HNSW can index
_BATCH = 200  # memories in one transaction


class EmbeddingModel(NamedTuple):
    """A model of the registry."""

    model: str
    dimensions: int


def register_model(database: Database, model: EmbeddingModel) -> None:
    """Add a model with an index of its own; nothing changes if it is known.

    Raises:
        UsageError: it is known with other dimensions, or has too many.
    """
    if not 0 < model.dimensions <= _MAX_DIMENSIONS:
        raise UsageError(f"{model.model} has {model.dimensions} dimensions. Use at most {_MAX_DIMENSIONS}.")
    with database.owning() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('told.embedding_model'))")
        known = {one.model: one for one in list_models(connection)}
        if model.model in known:
            if known[model.model] != model:
                raise UsageError(
                    f"{model.model} is registered with {known[model.model].dimensions} dimensions,"
                    f" not {model.dimensions}. Give the new one another name."
                )
            return
        connection.execute("INSERT INTO embedding_model(model, dimensions) VALUES(%s, %s)", model)
        statement = sql.SQL(
            "CREATE INDEX {} ON memory_vector USING hnsw ((vector::halfvec({})) halfvec_cosine_ops)"
            " WITH (ef_construction = 128) WHERE model = {}"
        )
        name = sql.Identifier(public_id("memory_vector_", model.model))
        connection.execute(statement.format(name, sql.Literal(model.dimensions), sql.Literal(model.model)))


def list_models(connection: Connection) -> list[EmbeddingModel]:
    """Return the registered models."""
    statement = "SELECT model, dimensions FROM embedding_model ORDER BY model"
    return [EmbeddingModel(*row) for row in connection.execute(statement)]


def write_missing_vectors(
    database: Database, team: str, model: str, embed: Embed, *, most: int = -1, ids: Sequence[str] = ()
) -> int:
    """Embed the active memories of a team that have no vector of a model yet; return how many.

    Each batch is committed, so an interrupted run loses none. Two workers share the work.

    Args:
        database: The database.
        team: Whose memories.
        model: A registered model.
        embed: Returns the vectors of some texts.
        most: Memories to embed; all if negative.
        ids: Only of these; all memories of the team are looked at if empty.
    """
    count = 0
    # Nobody comes back for those that are named, so they are waited for.
    named, skip = (" AND m.id = ANY(%(ids)s)", "") if ids else ("", " SKIP LOCKED")
    while most < 0 or count < most:
        wanted = _BATCH if most < 0 else min(_BATCH, most - count)
        with database.owning() as connection:
            rows = connection.execute(
                "SELECT m.row, m.text FROM memory m WHERE m.team = %(team)s AND m.status = 'active'"
                f" AND m.text <> ''{named} AND NOT EXISTS"
                " (SELECT FROM memory_vector v"
                " WHERE v.team = %(team)s AND v.row = m.row AND v.model = %(model)s)"
                f" ORDER BY m.row DESC LIMIT %(most)s FOR UPDATE OF m{skip}",
                {"team": team, "model": model, "most": wanted, "ids": list(ids)},
            ).fetchall()
            if not rows:
                return count
            vectors = embed([text for _, text in rows])
            connection.execute(
                "INSERT INTO memory_vector(team, row, model, scope, reader, vector)"
                " SELECT m.team, m.row, %(model)s, m.scope, m.reader, v.vector::halfvec"
                " FROM unnest(%(rows)s::bigint[], %(vectors)s::text[]) AS v(row, vector)"
                " JOIN memory m ON m.team = %(team)s AND m.row = v.row ON CONFLICT DO NOTHING",
                {
                    "team": team, "model": model, "rows": [row for row, _ in rows],
                    "vectors": [format_vector(one) for one in vectors],
                },
            )  # fmt: skip
        count += len(rows)
    return count


def format_vector(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it."""
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"
