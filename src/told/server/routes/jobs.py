"""The queue: what is in it, what failed, and another attempt."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from told.errors import NotFoundError
from told.server.context import AsAdmin, TheServer
from told.store.postgres.database import Connection
from told.store.postgres.jobs import count_jobs, delete_dead, list_dead, retry_dead
from told.store.postgres.people import add_audit

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"])
JobId = Annotated[int, Field(ge=1, lt=2**63)]


class RetryRequest(BaseModel):
    """Which failed items to try again."""

    ids: list[JobId] = Field(default=[], max_length=10_000, description="All if it is empty.")


@router.get("")
def jobs(
    server: TheServer, client: AsAdmin, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> dict[str, Any]:
    """Count the items of the queue by kind and state, and list those that failed, latest first."""
    with server.database.owning() as connection:
        return describe_jobs(connection, client.viewer.team, limit)


def describe_jobs(connection: Connection, team: str, limit: int) -> dict[str, Any]:
    """Return the state of the queue as JSON."""
    dead = [
        {**one._asdict(), "created": one.created.isoformat(), "finished": one.finished.isoformat()}
        for one in list_dead(connection, team, limit)
    ]
    return {"counts": count_jobs(connection, team), "dead": dead}


@router.post("/retry")
def retry(server: TheServer, client: AsAdmin, wanted: RetryRequest | None = None) -> dict[str, int]:
    """Try failed items again: those named, or all."""
    ids = wanted.ids if wanted else []
    with server.database.owning() as connection:
        retried = retry_dead(connection, client.viewer.team, ids)
        add_audit(connection, client.viewer, client.token, "jobs.retry", retried=retried)
    return {"retried": retried}


@router.delete("/{job}")
def delete(job: Annotated[int, Path(ge=1, lt=2**63)], server: TheServer, client: AsAdmin) -> dict[str, int]:
    """Delete a failed item."""
    with server.database.owning() as connection:
        if not delete_dead(connection, client.viewer.team, job):
            raise NotFoundError(f"No failed item has the id {job}.")
        add_audit(connection, client.viewer, client.token, "jobs.delete", str(job))
    return {"deleted": job}
