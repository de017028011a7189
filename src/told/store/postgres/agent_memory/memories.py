"""Which memories of told were made of observations and lessons."""

from __future__ import annotations

from collections.abc import Iterable

from told.store.postgres.agent_memory.lessons import LessonRow
from told.store.postgres.agent_memory.observations import ObservationRow
from told.store.postgres.database import Connection, Viewer, fetch_value
from told.store.postgres.purge import AGENT_MEMORY_TABLES, request_purge

_OBSERVATIONS, _LESSONS = "agent_memory_observation", "agent_memory_lesson"


def find_memory(connection: Connection, team: str, row: ObservationRow | LessonRow) -> str:
    """Return the id of the memory that was made of a row; empty if there is none."""
    statement = f"SELECT memory FROM {_table_of(row)} WHERE team = %s AND id = %s"
    return str(fetch_value(connection, statement, (team, row.id)) or "")


def note_memory(connection: Connection, team: str, row: ObservationRow | LessonRow, memory: str) -> None:
    """Note which memory was made of a row."""
    statement = f"UPDATE {_table_of(row)} SET memory = %s WHERE team = %s AND id = %s"
    connection.execute(statement, (memory or None, team, row.id))


def delete_of_memories(connection: Connection, viewer: Viewer, memories: Iterable[str]) -> int:
    """Delete the observations and lessons of memories that were forgotten; return how many."""
    names = list(memories)
    deleted = sum(
        connection.execute(
            f"DELETE FROM {table} WHERE team = %s AND memory = ANY(%s)", (viewer.team, names)
        ).rowcount
        for table in (_LESSONS, _OBSERVATIONS)
    )
    if deleted:
        request_purge(connection, viewer, AGENT_MEMORY_TABLES)
    return deleted


def _table_of(row: ObservationRow | LessonRow) -> str:
    return _LESSONS if isinstance(row, LessonRow) else _OBSERVATIONS
