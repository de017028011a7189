"""Projects and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from told.store.postgres.database import Connection, Viewer, fetch_value

UNKNOWN, CLAUDE_CODE = "unknown", "claude-code"
_NEXT_ID = (
    "INSERT INTO agent_memory_counter AS c (team, kind, last) VALUES (%s, %s, 1)"
    " ON CONFLICT (team, kind) DO UPDATE SET last = c.last + 1 RETURNING last"
)
_SESSIONS = (
    "SELECT s.id, s.session_id, s.project_id, p.name, s.agent_type, s.status, s.started_at, s.completed_at,"
    " s.summary, s.prompt_count FROM agent_memory_session s"
    " JOIN agent_memory_project p ON p.team = s.team AND p.id = s.project_id"
)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as agent-memory shows it."""

    id: int
    session_id: str
    project_id: int
    project_name: str
    agent_type: str
    status: str
    started_at: datetime
    completed_at: datetime | None
    summary: str | None
    prompt_count: int


def take_id(connection: Connection, team: str, kind: str) -> int:
    """Return the next id of a kind; other transactions of the team wait until this one ends."""
    return int(fetch_value(connection, _NEXT_ID, (team, kind)))


def find_project(connection: Connection, team: str, name: str) -> int | None:
    """Return the id of a project; None if there is none of this name."""
    statement = "SELECT id FROM agent_memory_project WHERE team = %s AND name = %s"
    found: int | None = fetch_value(connection, statement, (team, name))
    return found


def ensure_project(connection: Connection, team: str, name: str, path: str | None = None) -> int:
    """Return the id of a project; add it if it is new."""
    found = find_project(connection, team, name)
    if found is None:
        number = take_id(connection, team, "project")
        # Another request may have added it while this one waited for the counter.
        found = find_project(connection, team, name)
        if found is None:
            connection.execute(
                "INSERT INTO agent_memory_project(team, id, name, full_path) VALUES (%s, %s, %s, %s)",
                (team, number, name, path),
            )
            return number
    if path:
        connection.execute(
            "UPDATE agent_memory_project SET full_path = %s"
            " WHERE team = %s AND id = %s AND full_path IS NULL",
            (path, team, found),
        )
    return found


def find_session(connection: Connection, team: str, session_id: str) -> SessionRow | None:
    """Return a session by the id that its client gave it."""
    statement = f"{_SESSIONS} WHERE s.team = %s AND s.session_id = %s"
    row = connection.execute(statement, (team, session_id)).fetchone()
    return SessionRow(*row) if row else None


def add_session(
    connection: Connection, viewer: Viewer, session_id: str, project: int, agent_type: str = CLAUDE_CODE
) -> bool:
    """Add a session; return False if there is one of this id."""
    number = take_id(connection, viewer.team, "session")
    if find_session(connection, viewer.team, session_id):
        return False
    connection.execute(
        "INSERT INTO agent_memory_session(team, id, session_id, project_id, agent_type, created_by)"
        " VALUES (%s, %s, %s, %s, %s, %s)",
        (viewer.team, number, session_id, project, agent_type, viewer.person),
    )
    return True


def ensure_session(
    connection: Connection, viewer: Viewer, session_id: str, project: str, agent_type: str = CLAUDE_CODE
) -> SessionRow:
    """Return a session; add it and its project if it is new."""
    found = find_session(connection, viewer.team, session_id)
    if found is None:
        number = ensure_project(connection, viewer.team, project)
        add_session(connection, viewer, session_id, number, agent_type)
        found = find_session(connection, viewer.team, session_id)
    assert found
    return found


def update_session(
    connection: Connection, team: str, session_id: str, *, status: str | None, summary: str | None
) -> bool:
    """Set what is given; return False if there is no such session."""
    changed = connection.execute(
        "UPDATE agent_memory_session SET status = coalesce(%s, status), summary = coalesce(%s, summary),"
        " completed_at = CASE WHEN %s::text = 'completed' THEN now() ELSE completed_at END"
        " WHERE team = %s AND session_id = %s",
        (status, summary, status, team, session_id),
    )
    return changed.rowcount == 1


def list_sessions(
    connection: Connection, team: str, *, project: str | None, status: str | None, limit: int
) -> list[SessionRow]:
    """Return sessions, latest first."""
    statement = (
        f"{_SESSIONS} WHERE s.team = %(team)s AND (%(project)s::text IS NULL OR p.name = %(project)s)"
        " AND (%(status)s::text IS NULL OR s.status = %(status)s)"
        " ORDER BY s.started_at DESC, s.id DESC LIMIT %(limit)s"
    )
    values = {"team": team, "project": project, "status": status, "limit": limit}
    return [SessionRow(*row) for row in connection.execute(statement, values)]
