"""The queue: items that are added once, leased to one worker, and end done or dead."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from told.store.postgres.database import Connection, Viewer, fetch_value

READY, RUNNING, DONE, DEAD = "ready", "running", "done", "dead"
STATES = (READY, RUNNING, DONE, DEAD)
KEEP_DAYS = 7  # how long a repetition of what is done is recognised
_PRUNED_AT_ONCE = 5_000
_MOST_BACKOFF_SECONDS = 900.0
_LOST = "The worker ended, or took too long."
# What became of an item whose attempt failed: it is tried again, later each time, or it is dead.
_FAIL = """
state = CASE WHEN attempts < %(most)s THEN 'ready' ELSE 'dead' END,
run_at = now() + make_interval(secs => (0.5 + random()) * least(%(longest)s, %(wait)s * 2 ^ (attempts - 1))),
finished = CASE WHEN attempts < %(most)s THEN NULL ELSE now() END,
error = %(error)s, worker = '', lease_until = NULL
"""


class Limits(NamedTuple):
    """How items are leased and retried."""

    batch: int = 20  # items that a worker takes at once
    lease_seconds: float = 60.0
    attempts: int = 8  # then it is dead
    wait_seconds: float = 5.0  # before the second attempt; doubled for each one after it


class Job(NamedTuple):
    """An item that a worker has taken."""

    id: int
    kind: str
    person: str
    payload: Any
    attempts: int


class DeadJob(NamedTuple):
    """An item that failed too often."""

    id: int
    kind: str
    person: str
    attempts: int
    error: str
    created: datetime
    finished: datetime


def enqueue(
    connection: Connection, viewer: Viewer, kind: str, payload: dict[str, Any], key: str, *,
    wait_seconds: float = 0.0,
) -> bool:  # fmt: skip
    """Add an item in the caller's transaction; return False if one of its kind and key was added before.

    Args:
        connection: A transaction of the same viewer.
        viewer: For whom it is processed, with their rights.
        kind: Which handler processes it.
        payload: What the handler gets; redacted by the caller.
        key: What makes it the same item when it is sent twice.
        wait_seconds: How long it waits before it is processed.
    """
    added = connection.execute(
        "INSERT INTO job(team, kind, key, person, payload, run_at)"
        " VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s))"
        " ON CONFLICT (team, kind, key) DO NOTHING",
        (viewer.team, kind, key, viewer.person, Jsonb(payload), wait_seconds),
    )
    return added.rowcount == 1


def is_waiting(connection: Connection, viewer: Viewer, kind: str) -> bool:
    """Tell whether a person has an item of a kind that no worker has taken yet."""
    statement = (
        "SELECT EXISTS (SELECT FROM job WHERE team = %s AND kind = %s AND person = %s"
        " AND state = 'ready' AND attempts = 0)"
    )
    return bool(fetch_value(connection, statement, (viewer.team, kind, viewer.person)))


def take(connection: Connection, team: str, worker: str, limits: Limits, *, again: bool = False) -> list[Job]:
    """Lease the next items to a worker: several new ones, or one that was tried before.

    So an item that kills its worker takes no others with it a second time.
    """
    # A lease that is lost in a crash of the database does no harm: its items are taken again.
    connection.execute("SET LOCAL synchronous_commit = off")
    which = "attempts > 0" if again else "attempts = 0"
    rows = connection.execute(
        "UPDATE job SET state = 'running', attempts = attempts + 1, worker = %(worker)s,"
        " lease_until = now() + make_interval(secs => %(lease)s)"
        " WHERE team = %(team)s AND id = ANY(ARRAY(SELECT id FROM job"
        f" WHERE team = %(team)s AND state = 'ready' AND {which} AND run_at <= now()"
        " ORDER BY run_at, id LIMIT %(many)s"
        " FOR UPDATE SKIP LOCKED)) RETURNING id, kind, person, payload, attempts",
        {"team": team, "worker": worker, "lease": limits.lease_seconds, "many": 1 if again else limits.batch},
    )
    return sorted((Job(*row) for row in rows), key=lambda job: job.id)


def extend(connection: Connection, team: str, worker: str, seconds: float) -> None:
    """Renew the leases of a worker for some seconds."""
    connection.execute(
        "UPDATE job SET lease_until = now() + make_interval(secs => %s)"
        " WHERE team = %s AND state = 'running' AND worker = %s",
        (seconds, team, worker),
    )


def lock_leased(connection: Connection, viewer: Viewer, worker: str, ids: Sequence[int]) -> set[int]:
    """Lock a worker's items until the transaction ends; return those that it still has."""
    rows = connection.execute(
        "SELECT id FROM job WHERE team = %s AND id = ANY(%s) AND state = 'running' AND worker = %s"
        " FOR UPDATE",
        (viewer.team, list(ids), worker),
    )
    return {number for (number,) in rows}


def finish(connection: Connection, viewer: Viewer, ids: Sequence[int]) -> None:
    """Mark items as done, in the transaction of what they changed; their payload is dropped."""
    connection.execute(
        "UPDATE job SET state = 'done', payload = '{}', finished = now(), worker = '', lease_until = NULL,"
        " error = '' WHERE team = %s AND id = ANY(%s)",
        (viewer.team, list(ids)),
    )


def fail(connection: Connection, team: str, worker: str, job: Job, *, error: str, limits: Limits) -> None:
    """Schedule the next attempt of an item, or give it up."""
    connection.execute(
        f"UPDATE job SET {_FAIL} WHERE team = %(team)s AND id = %(id)s AND state = 'running'"
        " AND worker = %(worker)s",
        {"team": team, "id": job.id, "worker": worker, **_failing(limits, error)},
    )


def give_back(connection: Connection, team: str, worker: str, wait_seconds: float = 0.0) -> None:
    """Return a worker's items that it did not process; the attempt does not count."""
    connection.execute(
        "UPDATE job SET state = 'ready', attempts = attempts - 1, worker = '', lease_until = NULL,"
        " run_at = now() + make_interval(secs => %s) WHERE team = %s AND state = 'running' AND worker = %s",
        (wait_seconds, team, worker),
    )


def release(connection: Connection, team: str, workers: Sequence[str], limits: Limits) -> set[str]:
    """Take the items of workers that ended, and those whose lease is over; return who had the latter.

    Items that a worker writes at this moment are locked, and left to it.
    """
    rows = connection.execute(
        f"UPDATE job SET {_FAIL} FROM (SELECT id, worker AS whose, lease_until < now() AS late FROM job"
        " WHERE team = %(team)s AND state = 'running' AND (worker = ANY(%(workers)s) OR lease_until < now())"
        " FOR UPDATE SKIP LOCKED) AS lost WHERE job.team = %(team)s AND job.id = lost.id"
        " RETURNING whose, late",
        {"team": team, "workers": list(workers), **_failing(limits._replace(wait_seconds=0), _LOST)},
    )
    return {worker for worker, late in rows if late}


def _failing(limits: Limits, error: str) -> dict[str, Any]:
    return {
        "most": limits.attempts, "wait": limits.wait_seconds, "longest": _MOST_BACKOFF_SECONDS, "error": error
    }  # fmt: skip


def prune(connection: Connection, team: str) -> int:
    """Delete some of what was done long ago; return how many items."""
    return connection.execute(
        "DELETE FROM job WHERE team = %s AND id = ANY(ARRAY(SELECT id FROM job WHERE team = %s"
        " AND state = 'done' AND finished < now() - make_interval(days => %s) LIMIT %s"
        " FOR UPDATE SKIP LOCKED))",
        (team, team, KEEP_DAYS, _PRUNED_AT_ONCE),
    ).rowcount


def count_jobs(connection: Connection, team: str) -> dict[str, dict[str, int]]:
    """Return how many items of each kind are in each state; those done are of the last days."""
    counts: dict[str, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT kind, state, count(*) FROM job WHERE team = %s GROUP BY kind, state ORDER BY kind", (team,)
    )
    for kind, state, number in rows:
        counts.setdefault(kind, dict.fromkeys(STATES, 0))[state] = number
    return counts


def count_states(connection: Connection, team: str) -> dict[str, int]:
    """Return how many items of all kinds are in each state."""
    rows = connection.execute("SELECT state, count(*) FROM job WHERE team = %s GROUP BY state", (team,))
    return dict.fromkeys(STATES, 0) | dict(rows)


def count_dead(connection: Connection) -> int:
    """Return how many items of all teams failed too often."""
    return int(fetch_value(connection, "SELECT count(*) FROM job WHERE state = 'dead'"))


def list_dead(connection: Connection, team: str, limit: int) -> list[DeadJob]:
    """Return the items that failed too often, latest first."""
    rows = connection.execute(
        "SELECT id, kind, person, attempts, error, created, finished FROM job"
        " WHERE team = %s AND state = 'dead' ORDER BY id DESC LIMIT %s",
        (team, limit),
    )
    return [DeadJob(*row) for row in rows]


def retry_dead(connection: Connection, team: str, ids: Sequence[int] = ()) -> int:
    """Make dead items ready again, all or those named; return how many."""
    return connection.execute(
        "UPDATE job SET state = 'ready', attempts = 0, run_at = now(), finished = NULL"
        " WHERE team = %s AND state = 'dead' AND (%s OR id = ANY(%s))",
        (team, not ids, list(ids)),
    ).rowcount


def delete_dead(connection: Connection, team: str, number: int) -> bool:
    """Delete a dead item; False if there is none of this id."""
    statement = "DELETE FROM job WHERE team = %s AND id = %s AND state = 'dead'"
    return connection.execute(statement, (team, number)).rowcount == 1
