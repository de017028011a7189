"""Continue: one JSON file for each session; only the index beside them has times."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from told.agents.base import Agent, Layout
from told.agents.reading import FAILED, REFUSED, describe_call, file_path, make_message, read_whole
from told.agents.values import (
    as_dict,
    as_list,
    as_millis,
    as_text,
    get_dict,
    get_dicts,
    get_text,
    parse_object,
)
from told.jsontext import read_json_file
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Message, Problem, Source, Touch

_UNNAMED = ("Untitled Session", "New Session", "Chat")
_TOOLS = {
    "read": "Read read_file builtin_read_file builtin_read_file_range",
    "create": "Write create_new_file builtin_create_new_file",
    "edit": """Edit MultiEdit edit_existing_file builtin_edit_existing_file single_find_and_replace multi_edit
        builtin_multi_edit builtin_single_find_and_replace""",
}
_HOW = {name: how for how, names in _TOOLS.items() for name in names.split()}
_PATHS = ("filepath", "file_path", "path")
_ENDINGS = {"errored": FAILED, "canceled": REFUSED}


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the complete session of a file."""
    return read_whole(source.path, lambda document: _parse(source.path, document), is_object=True)


def _parse(path: str, document: dict[str, Any]) -> Iterator[Event]:
    folder, name = os.path.split(path)
    session = get_text(document, "sessionId") or name.removesuffix(".json")
    title, workspace = get_text(document, "title"), get_text(document, "workspaceDirectory")
    at = _find_creation_time(folder, session)
    history = get_dicts(document, "history")
    usages = (get_dict(item.get("message"), "usage") for item in reversed(history))
    models = (get_text(usage, "model") for usage in usages)
    yield Begin(session)
    yield Facts(
        session,
        cwd=file_path(workspace) if workspace.startswith("file://") else workspace,
        title="" if title in _UNNAMED else title,
        started=at,
        model=next(filter(None, models), "") or get_text(document, "chatModelTitle"),
    )
    summaries = 0
    for item in history:
        yield from _parse_item(session, item, at)
        if summary := get_text(item, "conversationSummary").strip():
            summaries += 1
            yield Checkpoint(session, summaries, "Compaction summary", summary, at)


def _parse_item(session: str, item: dict[str, Any], at: int) -> Iterator[Event]:
    message = get_dict(item, "message")
    role, content = message.get("role"), message.get("content")
    parts = (
        [content] if isinstance(content, str) else [as_dict(part).get("text") for part in as_list(content)]
    )
    words = "\n\n".join(said for part in parts if (said := as_text(part).strip()))
    if role == "user":
        yield from make_message(session, USER, words, at=at)
    elif role == "thinking":
        yield from make_message(session, BY_AGENT, words, at=at, form="step")
    elif role == "assistant":
        thought = get_text(item.get("reasoning"), "text")
        yield from make_message(session, BY_AGENT, thought, at=at, form="step")
        yield from make_message(session, BY_AGENT, words, at=at)
        yield from _parse_calls(session, item, message, at)


def _parse_calls(session: str, item: dict[str, Any], message: dict[str, Any], at: int) -> Iterator[Event]:
    listed = get_dicts(item, "toolCallStates")
    states = {get_text(state, "toolCallId"): state for state in listed}
    for call in get_dicts(message, "toolCalls"):
        key, function = get_text(call, "id"), get_dict(call, "function")
        state, tool = states.get(key, {}), get_text(function, "name")
        given = get_dict(state, "parsedArgs") or parse_object(get_text(function, "arguments"))
        path = get_text(given, *_PATHS)
        line = describe_call(tool, {**given, "path": path} if path else given)
        yield Message(session, BY_AGENT, line, at, key, "step")
        how, ended = _HOW.get(tool), _ENDINGS.get(get_text(state, "status"))
        if ended:
            yield Message(session, BY_AGENT, ended, at, form="step")
        elif how and path:
            yield Touch(session, path, how, at)


def _find_creation_time(folder: str, session: str) -> int:
    """Return when a session was created, from the index."""
    for entry in map(as_dict, as_list(read_json_file(os.path.join(folder, "sessions.json")))):
        if entry.get("sessionId") == session:
            created = entry.get("dateCreated")
            if isinstance(created, str) and re.fullmatch(r"[0-9]{1,16}", created):
                created = int(created)
            return as_millis(created)
    return 0


AGENT = Agent(
    name="continue",
    title="Continue",
    label="continue",
    read=read,
    roots=("~/.continue",),
    root_variable="CONTINUE_GLOBAL_DIR",
    layouts=(Layout("sessions/*-*-*-*-*.json"),),  # named by id; not the index
    advice="Start a chat in Continue, or run cn in a project once.",
    tool_prefix="builtin",
    instruction_files=(".continue/rules/*.md",),
)
