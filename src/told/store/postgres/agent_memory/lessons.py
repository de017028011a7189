"""Lessons: rules that may have a trigger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import sql

from told.store.postgres.agent_memory.observations import MAX_WORD
from told.store.postgres.agent_memory.sessions import ensure_project, take_id
from told.store.postgres.database import Connection, Viewer

_MAX_WORDS = 100  # of a query
SEVERITIES = ("critical", "warning", "info")
_LESSONS = (
    "SELECT l.id, l.project_id, p.name, l.title, l.rule, l.severity, l.trigger_tool, l.trigger_pattern,"
    " l.source_observation_id, l.trigger_count, l.last_triggered_at, l.active, l.created_at"
    " FROM agent_memory_lesson l"
    " LEFT JOIN agent_memory_project p ON p.team = l.team AND p.id = l.project_id"
)
_ORDER = "array_position(ARRAY['critical', 'warning', 'info'], l.severity), l.created_at DESC, l.id DESC"


class NewLesson(NamedTuple):
    """A lesson to keep, already redacted."""

    title: str
    rule: str
    severity: str = "warning"
    project: str | None = None  # None: global
    trigger_tool: str | None = None
    trigger_pattern: str | None = None
    source_observation_id: int | None = None


@dataclass(frozen=True, slots=True)
class LessonRow:
    """A lesson as agent-memory shows it."""

    id: int
    project_id: int | None
    project_name: str | None
    title: str
    rule: str
    severity: str
    trigger_tool: str | None
    trigger_pattern: str | None
    source_observation_id: int | None
    trigger_count: int
    last_triggered_at: datetime | None
    active: bool
    created_at: datetime


def add_lesson(connection: Connection, viewer: Viewer, new: NewLesson) -> LessonRow:
    """Add a lesson, and its project if it is new."""
    team = viewer.team
    project = ensure_project(connection, team, new.project) if new.project is not None else None
    number = take_id(connection, team, "lesson")
    connection.execute(
        "INSERT INTO agent_memory_lesson(team, id, project_id, title, rule, severity, trigger_tool,"
        " trigger_pattern, source_observation_id, created_by)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            team, number, project, new.title, new.rule, new.severity, new.trigger_tool, new.trigger_pattern,
            new.source_observation_id, viewer.person,
        ),
    )  # fmt: skip
    found = get_lesson(connection, team, number)
    assert found
    return found


def get_lesson(connection: Connection, team: str, number: int) -> LessonRow | None:
    """Return a lesson by its id."""
    row = connection.execute(f"{_LESSONS} WHERE l.team = %s AND l.id = %s", (team, number)).fetchone()
    return LessonRow(*row) if row else None


def list_lessons(
    connection: Connection, team: str, *, project: str | None, severity: str | None, active: bool, limit: int
) -> list[LessonRow]:
    """Return lessons, the severe ones first; those of a project are without the global ones."""
    statement = (
        f"{_LESSONS} WHERE l.team = %(team)s AND (%(project)s::text IS NULL OR p.name = %(project)s)"
        " AND (%(severity)s::text IS NULL OR l.severity = %(severity)s) AND l.active = %(active)s"
        f" ORDER BY {_ORDER} LIMIT %(limit)s"
    )
    values = {"team": team, "project": project, "severity": severity, "active": active, "limit": limit}
    return [LessonRow(*row) for row in connection.execute(statement, values)]


def list_for_tool(
    connection: Connection, team: str, tool: str, project: str | None, limit: int
) -> list[LessonRow]:
    """Return the active lessons of a project and the global ones that a tool may trigger."""
    statement = (
        f"{_LESSONS} WHERE l.team = %(team)s AND l.active"
        " AND (l.trigger_tool IS NULL OR l.trigger_tool = %(tool)s)"
        " AND (l.project_id IS NULL OR p.name = %(project)s)"
        f" ORDER BY {_ORDER} LIMIT %(limit)s"
    )
    values = {"team": team, "tool": tool, "project": project, "limit": limit}
    return [LessonRow(*row) for row in connection.execute(statement, values)]


def search_lessons(
    connection: Connection, team: str, query: str, project: str | None, limit: int
) -> list[LessonRow]:
    """Return the active lessons that have all words of a query, best first."""
    statement = (
        f"{_LESSONS}, plainto_tsquery('english', %(query)s) AS q(query)"
        " WHERE l.team = %(team)s AND l.active AND l.words @@ q.query"
        " AND (%(project)s::text IS NULL OR l.project_id IS NULL OR p.name = %(project)s)"
        " ORDER BY ts_rank_cd(l.words, q.query) DESC, l.created_at DESC, l.id DESC LIMIT %(limit)s"
    )
    words = " ".join(word[:MAX_WORD] for word in query.split()[:_MAX_WORDS])
    values = {"team": team, "query": words, "project": project, "limit": limit}
    return [LessonRow(*row) for row in connection.execute(statement, values)]


def update_lesson(
    connection: Connection, team: str, number: int, changes: dict[str, Any]
) -> LessonRow | None:
    """Set columns of a lesson; None if there is none of this id."""
    assignments = sql.SQL(", ").join(
        sql.SQL("{} = {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in changes
    )
    connection.execute(
        sql.SQL("UPDATE agent_memory_lesson SET {} WHERE team = {} AND id = {}").format(
            assignments, sql.Placeholder("_team"), sql.Placeholder("_id")
        ),
        {**changes, "_team": team, "_id": number},
    )
    return get_lesson(connection, team, number)


def note_triggered(connection: Connection, team: str, number: int) -> None:
    """Count that a lesson was shown for a tool call."""
    connection.execute(
        "UPDATE agent_memory_lesson SET trigger_count = trigger_count + 1, last_triggered_at = now()"
        " WHERE team = %s AND id = %s",
        (team, number),
    )
