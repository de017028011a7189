"""GitHub Copilot CLI: event files in ~/.copilot/session-state, and session-store.db beside them."""

from __future__ import annotations

import json
import os

from told.agents._calls import Calls
from told.agents._copilot_notes import checkpoint, checkpoints, has_checkpoint, workspace
from told.agents._copilot_store import STORE, TABLES, read_store
from told.agents.base import Agent, Layout
from told.agents.text import FAILED, REFUSED, is_failure, items, mapping, millis, step, text
from told.guard.jsonl import json_lines, parse
from told.model import AGENT as BY_AGENT
from told.model import USER, Cursor, Facts, Mark, Problem, Said, Source, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Change, Place
    from told.model import Event

# Where a user message says it comes from when a person typed it; the agent's own say otherwise.
_TYPED = {"", "user", "human", "immediate-prompt"}

_CHANGES = {
    "create": "create", "write": "create", "edit": "edit", "str_replace": "edit", "insert": "edit",
    "str_replace_editor": "edit", "delete": "delete",
}  # fmt: skip
_KINDS = {"create": "create", "add": "create", "delete": "delete", "remove": "delete"}

_NOT_ALLOWED = ("denied", "rejected")

# Calls that were asked for and not yet done; an agent never has this many open.
_MAX_OPEN = 100


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what an event file or the store says, from the cursor on."""
    if source.layout == STORE:
        yield from read_store(source, cursor)
    else:
        yield from _read_events(source, cursor)


def _read_events(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    folder, name = os.path.split(source.path)
    if name == "events.jsonl":
        session = os.path.basename(folder)
    else:
        session = name.removesuffix(".jsonl")
        folder = os.path.join(folder, session)
    events = _Events(session, folder, cursor.state)
    reached: Cursor | None = None
    for found in json_lines(source.path, cursor):
        if reached is not None:
            yield Mark(reached)
            reached = None
        if isinstance(found, Problem):
            yield found
        elif isinstance(found, Cursor):
            reached = Cursor(found.offset, found.line, events.state())
        else:
            yield from events.take(found.value)
    if reached is not None:  # the files beside it belong to what was new
        yield from workspace(folder, session)
        yield from checkpoints(folder, session)
        yield Mark(reached)


class _Events:
    """Turns the lines of one event file into events, and remembers the changes still under way."""

    def __init__(self, session: str, folder: str, state: str) -> None:
        self._session = session
        self._folder = folder
        kept = mapping(parse(state)) if state else {}
        self._open = {
            call: (how, path)
            for call, change in mapping(kept.get("open")).items()
            if len(pair := items(change)) == 2 and (how := text(pair[0])) and (path := text(pair[1]))
        }
        self._calls = Calls(kept.get("calls"))

    def state(self) -> str:
        kept = {"open": self._open, "calls": self._calls.saved()}
        return json.dumps(kept) if any(kept.values()) else ""

    def take(self, line: dict[str, Any]) -> Iterator[Event]:
        data, at, kind = mapping(line.get("data")), millis(line.get("timestamp")), text(line.get("type"))
        helper = text(line.get("agentId"))
        session = f"{self._session}/{helper}" if helper else self._session
        if kind == "user.message":
            if text(data.get("source")) in _TYPED and not helper and text(data.get("content")).strip():
                key = text(data.get("messageId")) or text(line.get("id"))
                yield Said(session, USER, data["content"], at, key)
        elif kind == "assistant.message":
            yield from self._answer(session, data, at, text(data.get("messageId")) or text(line.get("id")))
        elif kind == "tool.execution_start":
            yield from self._start(session, data, at)
        elif kind == "tool.execution_complete":
            yield from self._complete(session, data, at)
        elif kind in {"session.start", "session.resume", "session.context_changed"} and not helper:
            yield from self._context(data, at if kind == "session.start" else 0)
        elif kind == "session.title_changed" and not helper and text(data.get("title")):
            yield Facts(session, title=data["title"])
        elif kind == "session.model_change" and text(data.get("newModel")):
            yield Facts(session, model=data["newModel"])
        elif kind == "session.compaction_complete" and not helper:
            yield from self._compacted(data, at)
        elif kind == "subagent.started" and helper:
            title = text(data.get("agentDisplayName")) or text(data.get("agentName"))
            yield Facts(
                session, title=title, started=at, parent=self._session, kind="subagent",
                model=text(data.get("model")),
            )  # fmt: skip

    def _context(self, data: dict[str, Any], at: int) -> Iterator[Event]:
        context = mapping(data.get("context")) or data
        yield Facts(
            self._session,
            cwd=text(context.get("cwd")) or text(context.get("gitRoot")),
            branch=text(context.get("branch")),
            repository=text(context.get("repository")),
            started=(millis(data.get("startTime")) or at) if at else 0,
            model=text(data.get("selectedModel")),
        )

    def _answer(self, session: str, data: dict[str, Any], at: int, key: str) -> Iterator[Event]:
        if text(data.get("reasoningText")).strip():
            yield Said(session, BY_AGENT, data["reasoningText"], at, f"{key}:thought", "step")
        if text(data.get("content")).strip():
            yield Said(session, BY_AGENT, data["content"], at, key)
        for request in map(mapping, items(data.get("toolRequests"))):
            if tool := text(request.get("name")):
                line = step(tool, request.get("arguments"))
                call = text(request.get("toolCallId"))
                yield Said(session, BY_AGENT, line, at, call, "step")
                self._calls.made(session, call)

    def _start(self, session: str, data: dict[str, Any], at: int) -> Iterator[Event]:
        tool, arguments = text(data.get("toolName")), mapping(data.get("arguments"))
        path = text(arguments.get("path")) or text(arguments.get("file_path"))
        if not path:
            return
        command = text(arguments.get("command")) if tool == "str_replace_editor" else ""
        if "view" in {tool, command}:
            yield Touch(session, path, "read", at)
        elif (how := _CHANGES.get(command) or _CHANGES.get(tool)) and text(data.get("toolCallId")):
            while len(self._open) >= _MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[data["toolCallId"]] = how, path

    def _complete(self, session: str, data: dict[str, Any], at: int) -> Iterator[Event]:
        call = text(data.get("toolCallId"))
        change = self._open.pop(call, None)
        if data.get("success") is False or is_failure(mapping(data.get("shellExecution")).get("exitCode")):
            how = REFUSED if mapping(data.get("error")).get("code") in _NOT_ALLOWED else FAILED
            yield from self._calls.ended(session, call, at, how)
        edits = [mapping(edit) for edit in items(data.get("fileEdits"))]
        for edit in edits:
            if text(edit.get("path")):
                yield Touch(session, edit["path"], _KINDS.get(text(edit.get("kind")), "edit"), at)
        if change and not edits and data.get("success") is not False:
            yield Touch(session, change[1], change[0], at)

    def _compacted(self, data: dict[str, Any], at: int) -> Iterator[Event]:
        number = data.get("checkpointNumber")
        number = number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else at
        if data.get("success") is False or has_checkpoint(self._folder, number):
            return
        written = checkpoint(self._session, number, "", text(data.get("summaryContent")), at)
        if written:
            yield written


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Copilot CLI's files."""
    from told.agents._copilot_wiring import changes

    return changes(place)


AGENT = Agent(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    label="copilot",
    read=read,
    roots=("~/.copilot",),
    env="COPILOT_HOME",
    layouts=(
        Layout("session-state/*/events.jsonl", "events"),
        Layout("session-state/*.jsonl", "events"),
        Layout("session-store.db", STORE),
    ),
    tables=TABLES,
    advice="It keeps no conversations here yet: in copilot, type /experimental and switch SESSION_STORE on.",
    wire=wire,
    programs=("copilot",),
    present=("$COPILOT_HOME", "~/.copilot/session-state"),
    hooks=True,
)
