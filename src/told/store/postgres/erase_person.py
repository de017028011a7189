"""Erase everything that a former member of a team had on the server."""

from __future__ import annotations

from told.store.postgres.database import Connection, Viewer
from told.store.postgres.memories.write import PostgresWriter
from told.store.postgres.purge import ALL_TABLES, request_purge

_OWN = "team = %(team)s AND person = %(person)s"
_SENT = "team = %(team)s AND created_by = %(person)s"
# In this order: what depends on other rows first. Sessions take their turns, files and checkpoints along.
_STATEMENTS = (
    f"DELETE FROM operation_of WHERE {_OWN}",
    f"DELETE FROM operation WHERE {_OWN}",
    f"DELETE FROM series WHERE {_OWN}",
    f"DELETE FROM series_head WHERE {_OWN}",
    f"DELETE FROM server_series WHERE {_OWN}",
    "DELETE FROM session WHERE team = %(team)s AND owner = %(person)s",
    "DELETE FROM turn_total WHERE team = %(team)s AND owner = %(person)s",
    f"DELETE FROM agent_memory_lesson WHERE {_SENT}",
    f"DELETE FROM agent_memory_observation WHERE {_SENT}",
    f"DELETE FROM agent_memory_item WHERE {_SENT}",
    (
        f"DELETE FROM agent_memory_session s WHERE {_SENT} AND NOT EXISTS"
        " (SELECT FROM agent_memory_observation o WHERE o.team = s.team AND o.session_id = s.id)"
    ),
    f"DELETE FROM job WHERE {_OWN}",
)


def erase_person(connection: Connection, person: Viewer, by: Viewer) -> None:
    """Delete a person's memories, journal, sessions, series and what they sent; the audit log stays.

    Args:
        connection: The owner's.
        person: Whose rows.
        by: Who wants it: a worker removes the bytes in their name.
    """
    PostgresWriter(connection, person).clear()
    values = {"team": person.team, "person": person.person}
    for statement in _STATEMENTS:
        connection.execute(statement, values)
    request_purge(connection, by, ALL_TABLES)
