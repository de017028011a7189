"""Lessons: keep, list, change, and find those that a tool call triggers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from told.server.agent_memory.keep import change_lesson, keep_lesson, redact
from told.server.agent_memory.models import LessonChange, LessonIn, LessonMatch
from told.server.agent_memory.patterns import PatternMatcher
from told.server.context import AsMember, AsReader, TheServer
from told.store.postgres.agent_memory.lessons import LessonRow, list_for_tool, list_lessons, note_triggered

router = APIRouter(prefix="/api/lessons", tags=["agent-memory"])
_MAX_CHECKED, _MAX_MATCHES = 20, 5
_matcher = PatternMatcher()


@router.post("")
def create(given: LessonIn, server: TheServer, client: AsMember) -> LessonRow:
    """Keep a lesson; without a project it is global."""
    return keep_lesson(server, client, given.model_dump())


@router.get("")
def find(
    server: TheServer,
    client: AsReader,
    *,
    project: str | None = None,
    severity: str | None = None,
    active: bool = True,
    limit: Annotated[int, Query(ge=0, le=100)] = 20,
) -> list[LessonRow]:
    """List lessons, the severe ones first."""
    with server.database.viewing(client.viewer) as connection:
        return list_lessons(
            connection, client.viewer.team, project=redact(server, project),
            severity=redact(server, severity), active=active, limit=limit,
        )  # fmt: skip


@router.get("/match", response_model=list[LessonMatch])
def match(
    server: TheServer,
    client: AsReader,
    tool_name: str,
    tool_input_preview: str = "",
    project: str | None = None,
) -> list[LessonRow]:
    """List the lessons that a tool call triggers."""
    with server.database.viewing(client.viewer) as connection:
        found = list_for_tool(
            connection, client.viewer.team, redact(server, tool_name), redact(server, project), _MAX_CHECKED
        )
    matches = _matcher.find([one.trigger_pattern for one in found], tool_input_preview)
    return [one for one, is_match in zip(found, matches, strict=True) if is_match][:_MAX_MATCHES]


@router.patch("/{lesson_id}")
def change(lesson_id: int, given: LessonChange, server: TheServer, client: AsMember) -> LessonRow:
    """Change a lesson."""
    changes = {name: value for name, value in given.model_dump().items() if value is not None}
    if not changes:
        raise HTTPException(400, "No fields to update")
    found = change_lesson(server, client, lesson_id, changes)
    if found is None:
        raise HTTPException(404, "Lesson not found")
    return found


@router.post("/{lesson_id}/trigger")
def trigger(lesson_id: int, server: TheServer, client: AsMember) -> dict[str, bool]:
    """Count that a lesson was shown for a tool call."""
    with server.database.viewing(client.viewer) as connection:
        note_triggered(connection, client.viewer.team, lesson_id)
    return {"triggered": True}
