"""Observations: keep, list, show and search."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from told.search.vectors.table import make_vector
from told.server.agent_memory.keep import keep_observation, redact
from told.server.agent_memory.models import ObservationIn, SearchIn, SearchOut
from told.server.context import AsMember, AsReader, Client, Server, TheServer
from told.store.postgres.agent_memory.observations import (
    MAX_WORD,
    ObservationRow,
    Wanted,
    get_observation,
    list_observations,
    search_observations,
)
from told.text import clean

router = APIRouter(prefix="/api/observations", tags=["agent-memory"])
HYBRID, VECTOR, FTS = "hybrid", "vector", "fts"
_MAX_WORDS = 10  # of a query that must all be there


@router.post("")
def create(given: ObservationIn, server: TheServer, client: AsMember) -> ObservationRow:
    """Keep an observation; its project and session are created if they are new."""
    return keep_observation(server, client, given.model_dump())


@router.get("")
def find(
    server: TheServer,
    client: AsReader,
    *,
    project: str | None = None,
    type: str | None = None,  # noqa: A002 - its name in the API
    limit: Annotated[int, Query(ge=0, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> list[ObservationRow]:
    """List observations, latest first."""
    with server.database.viewing(client.viewer) as connection:
        return list_observations(
            connection, client.viewer.team, project=redact(server, project), type_name=redact(server, type),
            limit=limit, offset=offset,
        )  # fmt: skip


@router.get("/{obs_id}")
def show(obs_id: int, server: TheServer, client: AsReader) -> ObservationRow:
    """Show an observation."""
    with server.database.viewing(client.viewer) as connection:
        found = get_observation(connection, client.viewer.team, obs_id)
    if found is None:
        raise HTTPException(404, "Observation not found")
    return found


@router.post("/search", response_model=SearchOut)
def search(wanted: SearchIn, server: TheServer, client: AsReader) -> dict[str, object]:
    """Search observations by words, by meaning, or by both."""
    project = None if wanted.cross_project else redact(server, wanted.project)
    types = redact(server, wanted.type)
    found = search_text(
        server, client, wanted.query, Wanted(project, types), mode=wanted.mode, limit=wanted.limit
    )
    return {
        "observations": found,
        "query": clean(wanted.query),
        "mode": clean(wanted.mode),
        "total": len(found),
    }


def search_text(
    server: Server, client: Client, query: str, wanted: Wanted, *, mode: str = HYBRID, limit: int
) -> list[ObservationRow]:
    """Return the observations that match a query, best first."""
    query = redact(server, query)
    words, vector = [word[:MAX_WORD] for word in query.split()[:_MAX_WORDS]], make_vector(query, asking=True)
    with server.database.viewing(client.viewer) as connection:
        return search_observations(
            connection, client.viewer.team, words, vector, wanted, limit=limit,
            by_words=mode in (HYBRID, FTS), by_vector=mode in (HYBRID, VECTOR),
        )  # fmt: skip
