"""The tools of agent-memory's MCP server, by their names and with their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from told.errors import ToldError
from told.jsontext import dump_json
from told.server.agent_memory.keep import keep_lesson, keep_observation, redact
from told.server.agent_memory.models import (
    Identifier,
    Name,
    Severity,
    Text,
)
from told.server.agent_memory.observations import search_text
from told.server.context import Client, Server
from told.server.mcp import ServerTool
from told.store.postgres.agent_memory.lessons import SEVERITIES, LessonRow, search_lessons
from told.store.postgres.agent_memory.observations import (
    ObservationRow,
    Wanted,
    get_observations,
    list_around,
)
from told.store.postgres.people import MEMBER, READER
from told.tables import load_table

_TABLE = load_table(__file__)
INSTRUCTIONS: str = _TABLE["instructions"]
_AS_JSON, _LESSONS_AS_JSON = TypeAdapter(ObservationRow), TypeAdapter(list[LessonRow])
_MAX_TITLE = 80  # characters
_MAX_FOUND = 50
_Limit = Annotated[int, Field(ge=1, le=_MAX_FOUND)]
_Depth = Annotated[int, Field(ge=0, le=100)]


def _as_moment(value: datetime | None) -> datetime | None:
    return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


def _known_severity(value: Any) -> Any:
    return value if value in SEVERITIES else "warning"


class _Guide(BaseModel):
    pass


class _Search(BaseModel):
    query: Text = ""
    project: Text | None = None
    type: Text | None = None
    limit: _Limit = 20
    dateStart: datetime | None = None  # noqa: N815 - its name in the API
    dateEnd: datetime | None = None  # noqa: N815


class _Timeline(BaseModel):
    anchor: Identifier | None = None
    query: Text | None = None
    depth_before: _Depth = 3
    depth_after: _Depth = 3
    project: Text | None = None


class _Ids(BaseModel):
    ids: Annotated[list[Identifier], Field(max_length=_MAX_FOUND)]


class _Note(BaseModel):
    text: Annotated[Text, Field(min_length=1)]
    title: Text | None = None
    project: Name | None = None


class _Lesson(BaseModel):
    rule: Annotated[Text, Field(min_length=1)]
    title: Text | None = None
    severity: Annotated[Severity, BeforeValidator(_known_severity)] = "warning"
    project: Name | None = None
    trigger_tool: Text | None = None
    trigger_pattern: Text | None = None


class _LessonSearch(BaseModel):
    query: Text
    project: Text | None = None
    limit: _Limit = 10


def _show_guide(_: Server, __: Client, ___: _Guide) -> str:
    guide: str = _TABLE["guide"]
    return guide.strip()


def _search(server: Server, client: Client, given: _Search) -> str:
    wanted = Wanted(
        redact(server, given.project), [given.type] if given.type else None, _as_moment(given.dateStart),
        _as_moment(given.dateEnd),
    )  # fmt: skip
    found = search_text(server, client, given.query, wanted, limit=given.limit)
    rows = [
        {"id": one.id, "title": one.title, "type": one.type, "project": one.project_name,
         "created_at": one.created_at.isoformat(), "score": one.score}
        for one in found
    ]  # fmt: skip
    return _with_reminder(rows)


def _show_timeline(server: Server, client: Client, given: _Timeline) -> str:
    anchor = given.anchor
    if anchor is None:
        if not given.query:
            return _error("Give an anchor or a query.")
        found = search_text(server, client, given.query, Wanted(redact(server, given.project)), limit=1)
        if not found:
            return _error("No observation matches.")
        anchor = found[0].id
    with server.database.viewing(client.viewer) as connection:
        rows = list_around(connection, client.viewer.team, anchor, given.depth_before, given.depth_after)
    if not rows:
        return _error(f"Observation {anchor} not found")
    return dump_json([
        {"id": one.id, "title": one.title, "type": one.type, "position": position,
         "created_at": one.created_at.isoformat()}
        for position, one in rows
    ])  # fmt: skip


def _show_observations(server: Server, client: Client, given: _Ids) -> str:
    with server.database.viewing(client.viewer) as connection:
        found = get_observations(connection, client.viewer.team, given.ids)
    return _with_reminder([_describe(one) for one in found])


def _describe(row: ObservationRow) -> dict[str, Any]:
    shown: dict[str, Any] = _AS_JSON.dump_python(row, mode="json", exclude={"score"})
    return shown


def _save(server: Server, client: Client, given: _Note) -> str:
    row = keep_observation(server, client, {
        "session_id": "manual-memories", "project": given.project or "manual", "agent_type": "manual",
        "title": given.title or given.text[:_MAX_TITLE], "narrative": given.text,
    })  # fmt: skip
    return dump_json({"saved": True, "id": row.id, "title": row.title})


def _save_lesson(server: Server, client: Client, given: _Lesson) -> str:
    title = given.title or given.rule[:_MAX_TITLE]
    row = keep_lesson(server, client, {**given.model_dump(), "title": title})
    return dump_json({
        "saved": True, "id": row.id, "title": row.title, "severity": row.severity,
        "project": row.project_name,
    })  # fmt: skip


def _search_lessons(server: Server, client: Client, given: _LessonSearch) -> str:
    with server.database.viewing(client.viewer) as connection:
        found = search_lessons(
            connection, client.viewer.team, redact(server, given.query), redact(server, given.project),
            given.limit,
        )  # fmt: skip
    return _LESSONS_AS_JSON.dump_json(found).decode()


def _with_reminder(rows: Sequence[dict[str, Any]]) -> str:
    return f"{dump_json(rows)}\n\n{_TABLE['reminder']}"


def _error(sentence: str) -> str:
    return dump_json({"error": sentence})


class _Kind(NamedTuple):
    """The arguments of a tool, and what it does."""

    arguments: type[BaseModel]
    run: Callable[[Server, Client, Any], str]
    role: str = READER


_KINDS = {
    "memory_search_guide": _Kind(_Guide, _show_guide),
    "search": _Kind(_Search, _search),
    "timeline": _Kind(_Timeline, _show_timeline),
    "get_observations": _Kind(_Ids, _show_observations),
    "save_memory": _Kind(_Note, _save, MEMBER),
    "create_lesson": _Kind(_Lesson, _save_lesson, MEMBER),
    "search_lessons": _Kind(_LessonSearch, _search_lessons),
}


def _make_tool(name: str, kind: _Kind) -> ServerTool:
    def call(server: Server, client: Client, given: dict[str, Any]) -> str:
        """Run the tool; what went wrong is an answer, as agent-memory's is."""
        try:
            return kind.run(server, client, kind.arguments.model_validate(given))
        except ValidationError as error:
            first = error.errors()[0]
            return _error(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except ToldError as error:
            return _error(str(error))

    schema = kind.arguments.model_json_schema()
    return ServerTool(name, _TABLE["about"][name], schema, call, kind.role)


TOOLS = tuple(_make_tool(name, kind) for name, kind in _KINDS.items())
