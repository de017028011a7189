"""Say whether the server works. The answer has the form that agent-memory's clients expect."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from told import __version__
from told.errors import ToldError
from told.server.agent_memory.admin import describe_model
from told.server.context import AsReader, Server, TheServer
from told.store.postgres.agent_memory.observations import count_observations
from told.store.postgres.database import read_versions
from told.store.postgres.jobs import DEAD, READY, RUNNING, STATES, count_states

router = APIRouter(tags=["health"])


@router.get("/api/health")
@router.get("/api/v1/health")
def health(server: TheServer) -> dict[str, Any]:
    """Report the state of the database, and whether the server works as a whole."""
    return describe_health(server)


def describe_health(server: Server) -> dict[str, Any]:
    """Return the state of the server."""
    try:
        with server.database.owning() as connection:
            version, pgvector = read_versions(connection)
            jobs = count_states(connection, server.team.team)
            observations = count_observations(connection, server.team.team)
    except ToldError as error:
        jobs, observations = dict.fromkeys(STATES, -1), -1
        db: dict[str, Any] = {"status": "error", "error": str(error)}
    else:
        db = {"status": "ok", "version": version, "pgvector": pgvector}
    queue = {
        "pending": jobs[READY] + jobs[RUNNING], "observations_total": observations,
        "running": jobs[RUNNING], "dead": jobs[DEAD],
    }  # fmt: skip
    model = {"embeddings": describe_model()} if server.settings.compat else {}
    status = "ok" if db["status"] == "ok" else "degraded"
    return {"db": db, **model, "queue": queue, "status": status, "version": __version__}


@router.get("/api/v1/me")
def me(client: AsReader) -> dict[str, Any]:
    """Return who you are to this server."""
    viewer = client.viewer
    return {
        "team": {"id": viewer.team, "name": viewer.team_name},
        "person": {"id": viewer.person, "name": viewer.person_name},
        "role": client.role,
    }
