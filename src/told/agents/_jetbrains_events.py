"""Reads the event lines that newer Copilot plugins for JetBrains write, and messages with a role."""

from __future__ import annotations

import json
import os

from told.agents._calls import Calls
from told.agents._jetbrains_project import project_of
from told.agents._vscode_tools import arguments_of, call_events
from told.agents.text import items, mapping, millis, text
from told.guard.jsonl import Line, json_lines, parse
from told.model import AGENT, USER, Cursor, Event, Facts, Mark, Problem, Said, Source, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def read_events(source: Source, cursor: Cursor, session: str, part: str = "") -> Iterator[Event | Problem]:
    """Yield what a file of event lines says, from the cursor on.

    A later part of a conversation has a file, and so a session, of its own; its parent is the conversation.
    """
    known = mapping(parse(cursor.state)) if cursor.state else {}
    session = text(known.get("session")) or session + part
    cwd, calls = text(known.get("cwd")), Calls(known.get("calls"))
    for found in json_lines(source.path, cursor):
        if isinstance(found, Problem):
            yield found
        elif isinstance(found, Cursor):
            state = json.dumps({"session": session, "cwd": cwd, "calls": calls.saved()})
            yield Mark(Cursor(found.offset, found.line, state))
        elif isinstance(found, Line):
            data = mapping(found.value.get("data"))
            if found.value.get("type") in ("partition.created", "session.start"):
                named = text(data.get("conversationId")) or text(data.get("sessionId"))
                session = named + part if named else session
                if part:
                    yield Facts(session, parent=session.removesuffix(part))
            for event in line_events(found.value, session, calls):
                yield event
                if isinstance(event, Touch) and not cwd:
                    cwd = project_of(event.path)
                    if cwd:
                        yield Facts(session, cwd)


def line_events(line: dict[str, Any], session: str, calls: Calls) -> Iterator[Event]:
    """Yield what one event, or one message with a role, says."""
    kind, data = text(line.get("type")), mapping(line.get("data"))
    at, key = millis(line.get("timestamp")), text(line.get("id"))
    if kind in ("partition.created", "session.start"):
        context = mapping(data.get("context"))
        yield Facts(
            session,
            cwd=text(context.get("cwd")),
            branch=text(context.get("branch")),
            repository=text(context.get("repository")),
            started=millis(data.get("createdAt")) or at,
        )
    elif kind == "user.message":
        yield from _said(session, USER, text(data.get("content")), at, key)
    elif kind == "assistant.turn_start":
        if text(data.get("model")):
            yield Facts(session, model=text(data.get("model")))
    elif kind == "assistant.message":
        thought = text(mapping(data.get("thinking")).get("text")) or text(data.get("reasoningText"))
        yield from _said(session, AGENT, thought, at, "", form="step")
        yield from _said(session, AGENT, text(data.get("text")) or text(data.get("content")), at, key)
    elif kind == "tool.execution_start":
        tool = text(data.get("toolName")) or "tool"
        yield from call_events(session, tool, arguments_of(data.get("arguments")), at, key)
        calls.made(session, text(data.get("toolCallId")))
    elif kind == "tool.execution_complete":
        if data.get("success") is False:
            yield from calls.ended(session, text(data.get("toolCallId")), at)
    else:
        yield from _message(line, session)


def _message(line: dict[str, Any], session: str) -> Iterator[Said]:
    who = {"user": USER, "assistant": AGENT, "copilot": AGENT}.get(text(line.get("role")).lower())
    if who:
        said = text(line.get("content")) or text(line.get("text")) or text(line.get("message"))
        at = millis(line.get("timestamp")) or millis(line.get("createdAt"))
        yield from _said(session, who, said, at, text(line.get("id")))


def _said(session: str, who: str, words: str, at: int, key: str, *, form: str = "text") -> Iterator[Said]:
    if words.strip():
        yield Said(session, who, words.strip(), at, key, form)


def document_events(document: Any, path: str) -> tuple[str, list[Event]]:
    """Return the id of a session that is one JSON document, and what it says."""
    whole = mapping(document)
    session = text(whole.get("conversationId")) or text(whole.get("sessionId")) or text(whole.get("id"))
    session = session or os.path.splitext(os.path.basename(path))[0]
    lists = (document, whole.get("messages"), whole.get("events"), whole.get("turns"))
    lines = next((found for found in lists if isinstance(found, list)), [])
    calls = Calls()
    said = [event for line in items(lines) for event in line_events(mapping(line), session, calls)]
    title = text(whole.get("title")) or text(whole.get("name"))
    facts = Facts(session, title=title, started=millis(whole.get("createdAt")))
    return session, [facts, *said] if said else []
