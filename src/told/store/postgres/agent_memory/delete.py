"""Delete what clients of agent-memory sent, with all that belongs to it."""

from __future__ import annotations

from told.store.postgres.database import Connection, Viewer
from told.store.postgres.purge import AGENT_MEMORY_TABLES, request_purge

OBSERVATIONS, LESSONS, SESSIONS = "observations", "lessons", "sessions"
# The rows of each kind that are named by a key.
_TABLES = {
    OBSERVATIONS: ("agent_memory_observation", "id::text"),
    LESSONS: ("agent_memory_lesson", "id::text"),
    SESSIONS: ("agent_memory_session", "session_id"),
}
_OF_SESSION = (
    "SELECT o.created_by, o.memory FROM agent_memory_observation o JOIN agent_memory_session s"
    " ON s.team = o.team AND s.id = o.session_id WHERE o.team = %(team)s AND s.session_id = %(key)s"
)


def delete_sent(
    connection: Connection, viewer: Viewer, kind: str, key: str, *, of_all: bool
) -> list[str] | None:
    """Delete an observation, a lesson, or a session with its observations and tool calls.

    Args:
        connection: A transaction of the viewer's.
        viewer: Who deletes.
        kind: OBSERVATIONS, LESSONS or SESSIONS.
        key: The id that clients know.
        of_all: Also what others sent.

    Returns:
        The ids of the memories that were made of the rows; None if there is nothing to delete.
    """
    table, column = _TABLES[kind]
    values = {"team": viewer.team, "key": key}
    own = "created_by, NULL" if kind == SESSIONS else "created_by, memory"
    statement = f"SELECT {own} FROM {table} WHERE team = %(team)s AND {column} = %(key)s"
    rows = connection.execute(statement, values).fetchall()
    if rows and kind == SESSIONS:
        rows += connection.execute(_OF_SESSION, values).fetchall()
    if not rows or not (of_all or {author for author, _ in rows} == {viewer.person}):
        return None
    connection.execute(f"DELETE FROM {table} WHERE team = %(team)s AND {column} = %(key)s", values)
    request_purge(connection, viewer, AGENT_MEMORY_TABLES)
    return [memory for _, memory in rows if memory]
