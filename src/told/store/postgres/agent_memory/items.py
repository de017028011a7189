"""Tool calls that clients sent, and the figures of the whole."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from told.hashing import blake2s
from told.jsontext import dump_json
from told.store.postgres.agent_memory.observations import count_observations
from told.store.postgres.agent_memory.sessions import ensure_session
from told.store.postgres.database import Connection, Viewer, fetch_value
from told.store.postgres.jobs import DEAD, READY, RUNNING, STATES, count_jobs, enqueue

CAPTURE = "capture"  # the kind of its jobs
PENDING, DONE, SKIPPED = "pending", "done", "skipped"
_MAX_EARLIER = 200  # items of a session that are read with a new one


class NewItem(NamedTuple):
    """A tool call to learn from, already redacted."""

    session_id: str
    project: str
    tool_name: str | None = None
    tool_input: dict[str, Any] | None = None
    tool_response_preview: str | None = None
    cwd: str | None = None
    last_user_message: str | None = None


class Item(NamedTuple):
    """A tool call of a session."""

    id: int
    tool_name: str
    tool_input: dict[str, Any]
    preview: str
    cwd: str
    message: str
    created_at: datetime
    status: str


class ItemSession(NamedTuple):
    """The session of an item."""

    session_id: str
    project: str
    full_path: str


def add_item(connection: Connection, viewer: Viewer, new: NewItem) -> None:
    """Add a tool call and its job, unless the session has the same one already."""
    session = ensure_session(connection, viewer, new.session_id, new.project)
    digest = blake2s(dump_json(new[2:]).encode(), digest_size=16).digest()
    found: int | None = fetch_value(
        connection,
        "INSERT INTO agent_memory_item(team, session_id, tool_name, tool_input, tool_response_preview, cwd,"
        " last_user_message, created_by, hash) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (team, session_id, hash) DO NOTHING RETURNING id",
        (
            viewer.team, session.id, new.tool_name, None if new.tool_input is None else Jsonb(new.tool_input),
            new.tool_response_preview, new.cwd, new.last_user_message, viewer.person, digest,
        ),
    )  # fmt: skip
    if found is not None:
        enqueue(connection, viewer, CAPTURE, {"item": found}, str(found))


def read_session_items(
    connection: Connection, team: str, number: int
) -> tuple[ItemSession | None, list[Item]]:
    """Return the session of an item, and its items up to this one, the latest last."""
    row = connection.execute(
        "SELECT s.session_id, p.name, coalesce(i.cwd, p.full_path, ''), i.session_id FROM agent_memory_item i"
        " JOIN agent_memory_session s ON s.team = i.team AND s.id = i.session_id"
        " JOIN agent_memory_project p ON p.team = s.team AND p.id = s.project_id"
        " WHERE i.team = %s AND i.id = %s",
        (team, number),
    ).fetchone()
    if row is None:
        return None, []
    rows = connection.execute(
        "SELECT id, coalesce(tool_name, ''), coalesce(tool_input, '{}'), coalesce(tool_response_preview, ''),"
        " coalesce(cwd, ''), coalesce(last_user_message, ''), created_at, status FROM agent_memory_item"
        " WHERE team = %s AND session_id = %s AND id <= %s ORDER BY id DESC LIMIT %s",
        (team, row[3], number, _MAX_EARLIER),
    )
    return ItemSession(*row[:3]), [Item(*one) for one in rows][::-1]


def lock_item(connection: Connection, team: str, number: int) -> str:
    """Keep other workers from an item until the transaction ends; return its status, empty if it is gone."""
    statement = "SELECT status FROM agent_memory_item WHERE team = %s AND id = %s FOR UPDATE"
    return str(fetch_value(connection, statement, (team, number)) or "")


def set_item_status(connection: Connection, team: str, number: int, status: str) -> None:
    """Note how the work on an item ended."""
    connection.execute(
        "UPDATE agent_memory_item SET status = %s, processed_at = now() WHERE team = %s AND id = %s",
        (status, team, number),
    )


def count_all(connection: Connection, team: str) -> dict[str, Any]:
    """Return the figures of a team as agent-memory shows them."""
    total = count_observations(connection, team)
    embedded = fetch_value(
        connection,
        "SELECT count(*) FROM agent_memory_observation WHERE team = %s AND embedding IS NOT NULL",
        (team,),
    )
    done = fetch_value(
        connection,
        "SELECT count(*) FROM agent_memory_item WHERE team = %s AND status = 'done'",
        (team,),
    )
    jobs = count_jobs(connection, team).get(CAPTURE) or dict.fromkeys(STATES, 0)
    by_type = connection.execute(
        "SELECT type, count(*) FROM agent_memory_observation WHERE team = %s"
        " GROUP BY type ORDER BY count(*) DESC, max(id) DESC",
        (team,),
    )
    by_project = connection.execute(
        "SELECT p.name, count(*) FROM agent_memory_observation o"
        " JOIN agent_memory_project p ON p.team = o.team AND p.id = o.project_id WHERE o.team = %s"
        " GROUP BY p.name ORDER BY count(*) DESC, max(o.id) DESC",
        (team,),
    )
    return {
        "observations": {"total": total, "with_embedding": embedded, "without_embedding": total - embedded},
        "sessions": fetch_value(
            connection, "SELECT count(*) FROM agent_memory_session WHERE team = %s", (team,)
        ),
        "projects": fetch_value(
            connection, "SELECT count(*) FROM agent_memory_project WHERE team = %s", (team,)
        ),
        "queue": {"pending": jobs[READY] + jobs[RUNNING], "done": done, "failed": jobs[DEAD]},
        "by_type": dict(by_type.fetchall()),
        "by_project": dict(by_project.fetchall()),
    }
