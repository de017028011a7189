"""Continue: one JSON file for each session; only the index beside them knows a time."""

from __future__ import annotations

import os

from told.agents.base import Agent, Layout
from told.agents.text import FAILED, REFUSED, items, mapping, millis, step, text
from told.guard.jsonl import json_document, parse
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Mark, Problem, Said, Source, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_UNNAMED = ("Untitled Session", "New Session", "Chat")

_TOUCHES = {
    "Read": "read", "read_file": "read", "builtin_read_file": "read", "builtin_read_file_range": "read",
    "Write": "create", "create_new_file": "create", "builtin_create_new_file": "create",
    "Edit": "edit", "MultiEdit": "edit", "edit_existing_file": "edit", "builtin_edit_existing_file": "edit",
    "single_find_and_replace": "edit", "multi_edit": "edit", "builtin_multi_edit": "edit",
    "builtin_single_find_and_replace": "edit",
}  # fmt: skip
_NOT_DONE = {"errored": FAILED, "canceled": REFUSED}


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the whole session of a file."""
    document = json_document(source.path)
    if not isinstance(document, dict):
        yield document if isinstance(document, Problem) else Problem(0, "not a JSON object")
        return
    session = text(document.get("sessionId")) or os.path.basename(source.path).removesuffix(".json")
    title = text(document.get("title"))
    at = _created(os.path.dirname(source.path), session)
    cwd = _folder(text(document.get("workspaceDirectory")))
    history = [mapping(item) for item in items(document.get("history"))]
    yield Begin(session)
    yield Facts(
        session,
        cwd=cwd,
        title="" if title in _UNNAMED else title,
        started=at,
        model=_model(document, history),
    )
    summaries = 0
    for item in history:
        yield from _events(session, item, at)
        summary = text(item.get("conversationSummary")).strip()
        if summary:
            summaries += 1
            yield Checkpoint(session, summaries, "Compaction summary", summary, at)
    try:
        yield Mark(Cursor(os.stat(source.path).st_size))
    except OSError:
        return


def _events(session: str, item: dict[str, Any], at: int) -> Iterator[Event]:
    message = mapping(item.get("message"))
    role, said = message.get("role"), _content(message.get("content"))
    thought = text(mapping(item.get("reasoning")).get("text")).strip()
    if role == "user" and said:
        yield Said(session, USER, said, at)
    elif role == "thinking" and said:
        yield Said(session, BY_AGENT, said, at, form="step")
    elif role == "assistant":
        if thought:
            yield Said(session, BY_AGENT, thought, at, form="step")
        if said:
            yield Said(session, BY_AGENT, said, at)
        yield from _calls(session, item, message, at)


def _calls(session: str, item: dict[str, Any], message: dict[str, Any], at: int) -> Iterator[Event]:
    states = {
        text(state.get("toolCallId")): state for state in map(mapping, items(item.get("toolCallStates")))
    }
    for call in map(mapping, items(message.get("toolCalls"))):
        key, function = text(call.get("id")), mapping(call.get("function"))
        state = states.get(key, {})
        arguments = mapping(state.get("parsedArgs")) or mapping(parse(text(function.get("arguments"))))
        tool = text(function.get("name"))
        path = next(
            (path for name in ("filepath", "file_path", "path") if (path := text(arguments.get(name)))), ""
        )
        told = {**arguments, "path": path} if path else arguments
        yield Said(session, BY_AGENT, step(tool, told), at, key, "step")
        how, ended = _TOUCHES.get(tool), _NOT_DONE.get(text(state.get("status")))
        if ended:
            yield Said(session, BY_AGENT, ended, at, form="step")
        elif how and path:
            yield Touch(session, path, how, at)


def _content(content: Any) -> str:
    parts = [content] if isinstance(content, str) else [mapping(part).get("text") for part in items(content)]
    return "\n\n".join(said for part in parts if (said := text(part).strip()))


def _model(document: dict[str, Any], history: list[dict[str, Any]]) -> str:
    for item in reversed(history):
        model = text(mapping(mapping(item.get("message")).get("usage")).get("model"))
        if model:
            return model
    return text(document.get("chatModelTitle"))


def _created(folder: str, session: str) -> int:
    """Look up when a session was made: its own file does not say."""
    for entry in map(mapping, items(json_document(os.path.join(folder, "sessions.json")))):
        if entry.get("sessionId") == session:
            created = entry.get("dateCreated")
            if isinstance(created, str) and created.isascii() and created.isdigit() and len(created) <= 16:
                return millis(int(created))
            return millis(created)
    return 0


def _folder(stored: str) -> str:
    """Return a workspace as a path; editors write it as a file URI."""
    if not stored.startswith("file://"):
        return stored
    from urllib.parse import unquote, urlsplit

    try:
        path = unquote(urlsplit(stored).path)
    except ValueError:
        return ""
    has_drive = len(path) > 2 and path[0] == "/" and path[2] == ":"
    return path[1:] if has_drive else path


AGENT = Agent(
    name="continue",
    title="Continue",
    label="continue",
    read=read,
    roots=("~/.continue",),
    env="CONTINUE_GLOBAL_DIR",
    layouts=(Layout("sessions/*-*-*-*-*.json"),),  # by a session's id, which leaves out the index
    advice="Start a chat in Continue, or run cn in a project once.",
)
