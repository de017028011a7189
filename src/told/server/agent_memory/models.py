"""What agent-memory's clients send and get; what a row has is beside its statements."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from told.store.postgres.agent_memory.observations import ObservationRow
from told.text import fix_surrogates

MAX_TEXT = 200_000  # characters
MAX_LIST = 1000  # texts
MAX_NAME = 500  # characters; longer ones do not fit into an index
_MAX_INTEGER = 2**31 - 1


def _fix(value: Any) -> Any:
    """Accept half a surrogate pair: clients cut previews in the middle of a character."""
    return fix_surrogates(value) if isinstance(value, str) else value


Foreign = Annotated[str, BeforeValidator(_fix)]
Name = Annotated[str, Field(max_length=MAX_NAME), BeforeValidator(_fix)]
Text = Annotated[str, Field(max_length=MAX_TEXT), BeforeValidator(_fix)]
Texts = Annotated[list[Text], Field(max_length=MAX_LIST)]
Count = Annotated[int, Field(ge=0, le=_MAX_INTEGER)]
Number = Annotated[int, Field(ge=-(2**31), le=_MAX_INTEGER)]
Identifier = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
ObservationType = Literal[
    "decision", "bugfix", "feature", "refactor", "discovery", "change", "pattern", "gotcha"
]
Severity = Literal["critical", "warning", "info"]


def _empty_is_none(value: Any) -> Any:
    return None if value == "" else value


Status = Annotated[Literal["active", "completed", "failed"] | None, BeforeValidator(_empty_is_none)]
Summary = Annotated[Text | None, BeforeValidator(_empty_is_none)]


class QueueItem(BaseModel):
    """A tool call to learn from."""

    session_id: Name
    tool_name: Foreign | None = None
    tool_input: dict[str, Any] | None = None
    tool_response_preview: Foreign | None = None
    cwd: Foreign | None = None
    last_user_message: Foreign | None = None


class ObservationIn(BaseModel):
    """An observation to keep."""

    session_id: Name
    project: Name
    title: Text
    subtitle: Text | None = None
    type: ObservationType = "discovery"
    narrative: Text | None = None
    facts: Texts = []
    concepts: Texts = []
    files_read: Texts = []
    files_modified: Texts = []
    tool_name: Text | None = None
    prompt_number: Number | None = None


class SearchIn(BaseModel):
    """A search in observations."""

    query: Text
    project: Text | None = None
    cross_project: bool = False
    type: Texts | None = None
    limit: Count = 10
    mode: Text = "hybrid"


class SearchOut(BaseModel):
    """The result of a search."""

    observations: list[ObservationRow]
    query: str
    mode: str
    total: int


class SessionIn(BaseModel):
    """A session to register."""

    session_id: Name
    project: Name
    project_path: Text | None = None
    agent_type: Text = "claude-code"


class SessionChange(BaseModel):
    """What to change in a session."""

    status: Status = None
    summary: Summary = None


class LessonIn(BaseModel):
    """A lesson to keep."""

    title: Text
    rule: Text
    severity: Severity = "warning"
    project: Name | None = None
    trigger_tool: Text | None = None
    trigger_pattern: Text | None = None
    source_observation_id: Identifier | None = None


class LessonChange(BaseModel):
    """What to change in a lesson; null changes nothing."""

    title: Text | None = None
    rule: Text | None = None
    severity: Severity | None = None
    trigger_tool: Text | None = None
    trigger_pattern: Text | None = None
    active: bool | None = None


class LessonMatch(BaseModel):
    """A lesson that a tool call triggers."""

    id: int
    title: str
    rule: str
    severity: str
    project_name: str | None
    trigger_count: int
