"""Figures, health, and re-embedding in the background."""

from __future__ import annotations

import logging
import threading
from typing import Annotated, Any

import psycopg
from fastapi import APIRouter, Query
from psycopg_pool import PoolClosed

from told.errors import ToldError
from told.search.vectors.table import DIMENSIONS, make_vector, table_model_id
from told.server.context import AsAdmin, AsReader, TheServer
from told.store.postgres.agent_memory.embedding_runs import (
    CANCELLED,
    CANCELLING,
    DONE,
    RUNNING,
    cancel_run,
    note_progress,
    read_batch,
    read_run,
    start_run,
    write_vectors,
)
from told.store.postgres.agent_memory.items import count_all
from told.store.postgres.database import Database, Viewer

router = APIRouter(prefix="/api/admin", tags=["agent-memory"])
_AT_ONCE = 100  # observations that are embedded before the answer
_log = logging.getLogger(__name__)


def describe_model() -> dict[str, Any]:
    """Return the embedding model as agent-memory's health shows it."""
    model = table_model_id()
    status = "ok" if model else "error"
    return {"status": status, "model": model, "dimensions": DIMENSIONS, "provider": "told"}


@router.get("/stats")
def stats(server: TheServer, client: AsReader) -> dict[str, Any]:
    """Count what is kept."""
    with server.database.owning() as connection:  # the items of other people count, too
        return count_all(connection, client.viewer.team)


@router.post("/re-embed")
def re_embed(
    server: TheServer,
    client: AsAdmin,
    only_missing: bool = True,
    batch_size: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> dict[str, Any]:
    """Compute vectors in the background: the missing ones, or all."""
    viewer, model = client.viewer, table_model_id() or ""
    with server.database.viewing(viewer) as connection:
        total = start_run(connection, viewer.team, model, only_missing=only_missing)
    if total is None:
        return {"error": "Re-embed already in progress", "status": re_embed_status(server, client)}
    arguments = (server.database, viewer, model, only_missing, batch_size)
    if total <= _AT_ONCE:
        _run(*arguments)
    else:
        threading.Thread(target=_run, args=arguments, daemon=True, name="re-embed").start()
    return {"status": "started", "only_missing": only_missing, "batch_size": batch_size}


@router.get("/re-embed/status")
def re_embed_status(server: TheServer, client: AsReader) -> dict[str, Any]:
    """Return the progress of the latest re-embedding."""
    with server.database.viewing(client.viewer) as connection:
        run = read_run(connection, client.viewer.team)
    if run is None:
        return {"status": "idle"}
    done = run._asdict()
    seconds = done.pop("seconds")
    done["rate"] = round(run.processed / seconds, 1) if seconds else 0.0
    is_over = run.status in (DONE, CANCELLED)
    return {**done, "elapsed_seconds": round(seconds, 1)} if is_over else done


@router.post("/re-embed/cancel")
def cancel(server: TheServer, client: AsAdmin) -> dict[str, str]:
    """End a re-embedding after its current batch."""
    with server.database.viewing(client.viewer) as connection:
        is_running = cancel_run(connection, client.viewer.team)
    return {"status": "cancelling" if is_running else "no job running"}


def _run(database: Database, viewer: Viewer, model: str, only_missing: bool, batch_size: int) -> None:
    """Re-embed batch by batch; a batch is one transaction."""
    try:
        after, status = 0, RUNNING
        while status == RUNNING:
            with database.viewing(viewer) as connection:
                batch = read_batch(
                    connection, viewer.team, model, after, batch_size, only_missing=only_missing
                )
                vectors = [(number, make_vector(text)) for number, text in batch]
                write_vectors(connection, viewer.team, model, vectors)
                missing = sum(vector is None for _, vector in vectors)
                status = note_progress(
                    connection, viewer.team, processed=len(batch) - missing, errors=missing,
                    status=RUNNING if len(batch) == batch_size else DONE,
                )  # fmt: skip
                if status == CANCELLING:
                    note_progress(connection, viewer.team, processed=0, errors=0, status=CANCELLED)
                after = batch[-1][0] if batch else after
    except (ToldError, psycopg.Error, PoolClosed) as error:
        # The run is reported as cancelled after a minute without progress.
        _log.warning("Re-embedding ended early: %s", error)
