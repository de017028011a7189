"""Observations: what an agent did or found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from told.store.postgres.agent_memory.sessions import ensure_project, ensure_session, take_id
from told.store.postgres.database import Connection, Viewer, fetch_value

DIMENSIONS = 256
_COLUMNS = (
    "o.id, o.session_id, o.project_id, p.name, o.title, o.subtitle, o.type, o.narrative, o.facts, o.concepts,"
    " o.files_read, o.files_modified, o.tool_name, o.prompt_number, o.embedding IS NOT NULL, o.created_at"
)
_JOINED = "agent_memory_observation o JOIN agent_memory_project p ON p.team = o.team AND p.id = o.project_id"
_OBSERVATIONS = f"SELECT {_COLUMNS} FROM {_JOINED}"
MAX_WORD = 200  # characters; longer ones are indexed in pieces
_RANK_CONSTANT = 60  # of rank fusion
_MAX_ID = 2**63 - 1
_MAX_SCAN = 500  # candidates; the index of vectors returns fewer than asked for beyond it


class NewObservation(NamedTuple):
    """An observation to keep, already redacted."""

    session_id: str
    project: str
    title: str
    type: str = "discovery"
    subtitle: str | None = None
    narrative: str | None = None
    facts: Sequence[str] = ()
    concepts: Sequence[str] = ()
    files_read: Sequence[str] = ()
    files_modified: Sequence[str] = ()
    tool_name: str | None = None
    prompt_number: int | None = None
    agent_type: str = "claude-code"

    @property
    def raw_text(self) -> str:
        """Return all of its text, which is what search and vectors see."""
        parts = (self.title, self.subtitle, self.narrative, *(f"- {fact}" for fact in self.facts))
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An observation as agent-memory shows it."""

    id: int
    session_id: int
    project_id: int
    project_name: str
    title: str
    subtitle: str | None
    type: str
    narrative: str | None
    facts: list[Any]
    concepts: list[Any]
    files_read: list[Any]
    files_modified: list[Any]
    tool_name: str | None
    prompt_number: int | None
    has_embedding: bool
    created_at: datetime
    score: float | None = None


class Wanted(NamedTuple):
    """What a search may return."""

    project: str | None = None
    types: Sequence[str] | None = None
    start: datetime | None = None
    end: datetime | None = None


def format_vector(vector: bytes | None) -> str | None:
    """Write a vector of whole numbers as pgvector reads it."""
    return str(memoryview(vector).cast("b").tolist()) if vector else None


def add_observation(
    connection: Connection, viewer: Viewer, new: NewObservation, vector: bytes | None, model: str
) -> ObservationRow:
    """Add an observation, and its project and session if they are new."""
    team = viewer.team
    project = ensure_project(connection, team, new.project)
    session = ensure_session(connection, viewer, new.session_id, new.project, new.agent_type)
    number = take_id(connection, team, "observation")
    connection.execute(
        "INSERT INTO agent_memory_observation(team, id, session_id, project_id, title, subtitle, type,"
        " narrative, facts, concepts, files_read, files_modified, raw_text, embedding, embedding_model,"
        " tool_name,"
        " prompt_number, created_by) VALUES"
        " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::halfvec, %s, %s, %s, %s)",
        (
            team, number, session.id, project, new.title, new.subtitle, new.type, new.narrative,
            *(Jsonb(list(one)) for one in (new.facts, new.concepts, new.files_read, new.files_modified)),
            new.raw_text, format_vector(vector), model if vector else None, new.tool_name, new.prompt_number,
            viewer.person,
        ),
    )  # fmt: skip
    found = get_observation(connection, team, number)
    assert found
    return found


def get_observation(connection: Connection, team: str, number: int) -> ObservationRow | None:
    """Return an observation by its id."""
    found = get_observations(connection, team, [number])
    return found[0] if found else None


def get_observations(connection: Connection, team: str, numbers: Sequence[int]) -> list[ObservationRow]:
    """Return observations by their ids, latest first."""
    statement = (
        f"{_OBSERVATIONS} WHERE o.team = %s AND o.id = ANY(%s::bigint[])"
        " ORDER BY o.created_at DESC, o.id DESC"
    )
    possible = [number for number in numbers if abs(number) <= _MAX_ID]
    return [ObservationRow(*row) for row in connection.execute(statement, (team, possible))]


def list_observations(
    connection: Connection, team: str, *, project: str | None, type_name: str | None, limit: int, offset: int
) -> list[ObservationRow]:
    """Return observations, latest first."""
    statement = (
        f"{_OBSERVATIONS} WHERE o.team = %(team)s AND (%(project)s::text IS NULL OR p.name = %(project)s)"
        " AND (%(type)s::text IS NULL OR o.type = %(type)s)"
        " ORDER BY o.created_at DESC, o.id DESC LIMIT %(limit)s OFFSET %(offset)s"
    )
    values = {"team": team, "project": project, "type": type_name, "limit": limit, "offset": offset}
    return [ObservationRow(*row) for row in connection.execute(statement, values)]


def list_around(
    connection: Connection, team: str, number: int, before: int, after: int
) -> list[tuple[str, ObservationRow]]:
    """Return an observation between those before and after it in its session."""
    anchor = get_observation(connection, team, number)
    if anchor is None:
        return []
    found = [("anchor", anchor)]
    for position, sign, order, limit in (("before", "<", "DESC", before), ("after", ">", "ASC", after)):
        statement = (
            f"{_OBSERVATIONS} WHERE o.team = %s AND o.session_id = %s AND o.id {sign} %s"
            f" ORDER BY o.id {order} LIMIT %s"
        )
        rows = connection.execute(statement, (team, anchor.session_id, number, limit))
        found += [(position, ObservationRow(*row)) for row in rows]
    return sorted(found, key=lambda one: one[1].id)


def search_observations(
    connection: Connection,
    team: str,
    words: Sequence[str],
    vector: bytes | None,
    wanted: Wanted,
    *,
    limit: int,
    by_words: bool,
    by_vector: bool,
) -> list[ObservationRow]:
    """Return the observations that match words or a vector, best first.

    Two lists of twice the limit are merged by their ranks, and later observations count more. Without a
    vector, the second list has the latest observations.
    """
    values: dict[str, Any] = {
        "team": team, "limit": limit, "arm": 2 * limit, "vector": format_vector(vector),
        "project": wanted.project, "types": list(wanted.types or ()), "start": wanted.start,
        "end": wanted.end,
    }  # fmt: skip
    where = ["o.team = %(team)s"]
    if wanted.project is not None:
        where.append(
            "o.project_id ="
            " (SELECT id FROM agent_memory_project WHERE team = %(team)s AND name = %(project)s)"
        )
    if wanted.types is not None:
        where.append("o.type = ANY(%(types)s)")
    where += [
        f"o.created_at {sign} %({name})s" for name, sign in (("start", ">="), ("end", "<")) if values[name]
    ]
    arms = []
    if by_words and words:
        values |= {f"word{at}": word for at, word in enumerate(words)}
        arms.append(_words_arm([f"%(word{at})s" for at in range(len(words))], where))
    if by_vector:
        arms.append(_vector_arm(where, is_latest=vector is None, exact=2 * limit > _MAX_SCAN))
        connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
    if not arms or not limit:
        return []
    age = "extract(epoch FROM now() - o.created_at)::float8 / 86400"
    score = f"f.score * (1 + exp(-least({age}, 5000) / 10))"
    statement = f"""
        WITH arm AS ({" UNION ALL ".join(f"({one})" for one in arms)}),
        fused AS (SELECT id, sum(1.0 / ({_RANK_CONSTANT} + rank)) AS score FROM arm GROUP BY id)
        SELECT {_COLUMNS}, round(({score})::numeric, 4)::float8 AS shown
        FROM fused f JOIN {_JOINED} ON o.team = %(team)s AND o.id = f.id
        ORDER BY {score} DESC, o.created_at DESC, o.id DESC LIMIT %(limit)s
    """
    return [ObservationRow(*row) for row in connection.execute(statement, values)]


def _words_arm(words: Sequence[str], where: Sequence[str]) -> str:
    """Rank by words: all must be there; signs within a word make it a phrase."""
    query = " && ".join(f"phraseto_tsquery('english', {word})" for word in words)
    return (
        "SELECT o.id, row_number() OVER (ORDER BY m.score DESC, o.created_at DESC, o.id DESC) - 1 AS rank"
        f" FROM agent_memory_matches({query}) m"
        " JOIN agent_memory_observation o ON o.team = %(team)s AND o.id = m.observation"
        f" WHERE {' AND '.join(where)} ORDER BY rank LIMIT %(arm)s"
    )


def _vector_arm(where: Sequence[str], *, is_latest: bool, exact: bool) -> str:
    """Rank by meaning, or by time if the query has none."""
    distance = "o.embedding <=> %(vector)s::halfvec"
    order = "o.created_at DESC, o.id DESC" if is_latest else f"({distance}) + 0" if exact else distance
    shown = "0" if is_latest else distance
    return (
        "SELECT id, row_number() OVER (ORDER BY distance, created_at DESC, id DESC) - 1 AS rank FROM ("
        f"SELECT o.id, o.created_at, {shown} AS distance FROM agent_memory_observation o"
        f" WHERE {' AND '.join(where)} AND o.embedding IS NOT NULL ORDER BY {order} LIMIT %(arm)s) near"
    )


def count_observations(connection: Connection, team: str) -> int:
    """Return how many observations a team has."""
    statement = "SELECT count(*) FROM agent_memory_observation WHERE team = %s"
    return int(fetch_value(connection, statement, (team,)))
