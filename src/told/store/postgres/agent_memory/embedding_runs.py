"""Re-embed observations in batches, with progress that every server of the team sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from told.store.postgres.agent_memory.observations import format_vector
from told.store.postgres.database import Connection, fetch_value

RUNNING, CANCELLING, DONE, CANCELLED = "running", "cancelling", "done", "cancelled"
_SILENT_SECONDS = 60  # after them, the server of a run is gone
_IS_ALIVE = (
    f"status IN ('running', 'cancelling') AND noted_at > now() - make_interval(secs => {_SILENT_SECONDS})"
)
_MISSING = "(NOT %(only_missing)s OR embedding IS NULL OR embedding_model IS DISTINCT FROM %(model)s)"


class EmbeddingRun(NamedTuple):
    """The progress of a re-embedding."""

    status: str
    total: int
    processed: int
    errors: int
    model: str
    only_missing: bool
    seconds: float


def read_run(connection: Connection, team: str) -> EmbeddingRun | None:
    """Return the latest run; None if there was none."""
    row = connection.execute(
        "SELECT status, total, processed, errors, model, only_missing,"
        f" extract(epoch FROM noted_at - started_at)::float8, {_IS_ALIVE}"
        " FROM agent_memory_embedding_run WHERE team = %s",
        (team,),
    ).fetchone()
    if row is None:
        return None
    run = EmbeddingRun(*row[:-1])
    is_gone = run.status in (RUNNING, CANCELLING) and not row[-1]
    return run._replace(status=CANCELLED) if is_gone else run


def start_run(connection: Connection, team: str, model: str, *, only_missing: bool) -> int | None:
    """Begin a run; return how many observations it has, or None if one is running."""
    values = {"team": team, "model": model, "only_missing": only_missing}
    total: int = fetch_value(
        connection,
        f"SELECT count(*) FROM agent_memory_observation WHERE team = %(team)s AND {_MISSING}",
        values,
    )
    started = connection.execute(
        "INSERT INTO agent_memory_embedding_run AS run (team, status, total, model, only_missing)"
        " VALUES (%(team)s, 'running', %(total)s, %(model)s, %(only_missing)s)"
        " ON CONFLICT (team) DO UPDATE SET status = 'running', total = excluded.total, processed = 0,"
        " errors = 0, model = excluded.model, only_missing = excluded.only_missing, started_at = now(),"
        " noted_at = now()"
        f" WHERE NOT ({_IS_ALIVE.replace('status', 'run.status').replace('noted_at', 'run.noted_at')})",
        {**values, "total": total},
    )
    return total if started.rowcount == 1 else None


def note_progress(connection: Connection, team: str, *, processed: int, errors: int, status: str) -> str:
    """Add to the progress of a run; return its status, which may have become cancelling."""
    found = fetch_value(
        connection,
        "UPDATE agent_memory_embedding_run SET processed = processed + %s, errors = errors + %s,"
        " noted_at = clock_timestamp(), status = CASE WHEN %s = 'running' THEN status ELSE %s END"
        " WHERE team = %s RETURNING status",
        (processed, errors, status, status, team),
    )
    return str(found)


def cancel_run(connection: Connection, team: str) -> bool:
    """Ask a run to end; return False if none is running."""
    changed = connection.execute(
        f"UPDATE agent_memory_embedding_run SET status = 'cancelling' WHERE team = %s AND {_IS_ALIVE}",
        (team,),
    )
    return changed.rowcount == 1


def read_batch(
    connection: Connection, team: str, model: str, after: int, limit: int, *, only_missing: bool
) -> list[tuple[int, str]]:
    """Return the ids and texts of the next observations to embed."""
    values = {"team": team, "model": model, "after": after, "limit": limit, "only_missing": only_missing}
    return connection.execute(
        "SELECT id, raw_text FROM agent_memory_observation"
        f" WHERE team = %(team)s AND id > %(after)s AND {_MISSING} ORDER BY id LIMIT %(limit)s",
        values,
    ).fetchall()


def write_vectors(
    connection: Connection, team: str, model: str, vectors: Sequence[tuple[int, bytes | None]]
) -> None:
    """Replace the vectors of observations."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE agent_memory_observation SET embedding = %s::halfvec, embedding_model = %s"
            " WHERE team = %s AND id = %s",
            [(format_vector(vector), model if vector else None, team, number) for number, vector in vectors],
        )
