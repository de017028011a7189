"""Qwen Code: one JSONL log for each session, and one for each of its helpers."""

from __future__ import annotations

import json
import os

from told.agents._calls import Calls
from told.agents._claude_tags import within, without
from told.agents._gemini_tool import touches
from told.agents.base import Agent, Layout
from told.agents.text import FAILED, REFUSED, items, mapping, millis, step, text
from told.guard.jsonl import Line, json_lines
from told.model import AGENT as BY_AGENT
from told.model import USER, Checkpoint, Cursor, Facts, Mark, Problem, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Change, Place
    from told.model import Event, Source

_INJECTED = ("system-reminder", "qwen:user-prompt-submit-context", "qwen:session-start-context")
_DULL = (b'"subtype":"ui_telemetry"', b'"subtype":"attribution_snapshot"')
_RESULT = b'"type":"tool_result"'
_BAD = (b'"status":"error"', b'"status":"cancelled"', b'"response":{"error":')


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what a log says from the cursor on."""
    known = _saved(cursor.state)
    for found in json_lines(source.path, cursor, _skip):
        if isinstance(found, Line):
            session, parent = _session(source, found.value)
            events = list(_line(found.value, session, known, helper=bool(parent)))
            if events:
                yield from _facts(found.value, session, parent, known)
                yield from events
        elif isinstance(found, Problem):
            yield found
        else:
            yield Mark(Cursor(found.offset, found.line, json.dumps(known)))


def _skip(raw: bytes) -> bool:
    if b'"type":"assistant"' in raw:
        return False
    return any(mark in raw for mark in _DULL) or (_RESULT in raw and not any(mark in raw for mark in _BAD))


def _saved(state: str) -> dict[str, Any]:
    try:
        return mapping(json.loads(state)) if state else {}
    except (ValueError, RecursionError):
        return {}


def _session(source: Source, line: dict[str, Any]) -> tuple[str, str]:
    """Return the session of a line, and for a helper the session that started it."""
    folder, name = os.path.split(source.path)
    stem = os.path.splitext(name)[0]
    if source.layout != "subagent":
        return text(line.get("sessionId")) or stem, ""
    parent = text(line.get("sessionId")) or os.path.basename(folder)
    return f"{parent}/{text(line.get('agentId')) or stem.removeprefix('agent-')}", parent


def _facts(line: dict[str, Any], session: str, parent: str, known: dict[str, Any]) -> Iterator[Facts]:
    told = {"cwd": line.get("cwd"), "branch": line.get("gitBranch"), "model": line.get("model")}
    new: dict[str, Any] = {
        name: value for name, value in told.items() if text(value) and known.get(name) != value
    }
    if known.get("session") != session:
        new["started"] = millis(line.get("timestamp"))
        if parent:
            new |= {"parent": parent, "kind": "subagent"}
    known |= {"session": session} | {name: value for name, value in new.items() if name in told}
    if new:
        yield Facts(session, **new)


def _line(line: dict[str, Any], session: str, known: dict[str, Any], *, helper: bool) -> Iterator[Event]:
    at, key = millis(line.get("timestamp")), text(line.get("uuid"))
    kind, payload = line.get("type"), mapping(line.get("systemPayload"))
    if kind == "user":
        words = _typed(line, payload)
        if words:
            yield Said(session, BY_AGENT if helper else USER, words, at, key)
    elif kind == "assistant":
        yield from _answer(line, session, at, key, known)
    elif kind == "tool_result":
        yield from _failure(line, session, at, known)
    elif line.get("subtype") == "chat_compression":
        overview = _summary(payload)
        if overview:
            known["checkpoints"] = number = int(known.get("checkpoints", 0)) + 1
            yield Checkpoint(session, number, "Compaction summary", overview, at)
    elif line.get("subtype") == "custom_title":
        yield from _title(session, payload, known)


def _typed(line: dict[str, Any], payload: dict[str, Any]) -> str:
    if text(line.get("provenance")) not in ("", "real_user") or line.get("subtype"):
        return ""
    shown = payload.get("displayText")
    if isinstance(shown, str):
        return without(shown, _INJECTED)
    parts = (without(text(mapping(part).get("text")), _INJECTED) for part in _parts(line))
    words = "\n\n".join(part for part in parts if part)
    return "" if words.startswith("<task-notification>") else words


def _failure(line: dict[str, Any], session: str, at: int, known: dict[str, Any]) -> Iterator[Event]:
    result = mapping(line.get("toolCallResult"))
    status = text(result.get("status"))
    for part in _parts(line):
        answer = mapping(mapping(part).get("functionResponse"))
        call = text(answer.get("id")) or text(result.get("callId"))
        if status in ("error", "cancelled") or "error" in mapping(answer.get("response")):
            yield from Calls(known.get("calls")).ended(
                session, call, at, REFUSED if status == "cancelled" else FAILED
            )


def _answer(line: dict[str, Any], session: str, at: int, key: str, known: dict[str, Any]) -> Iterator[Event]:
    texts = 0
    calls = Calls(known.get("calls"))
    for number, part in enumerate(map(mapping, _parts(line))):
        words = text(part.get("text")).strip()
        if words and part.get("thought"):
            yield Said(session, BY_AGENT, words, at, f"{key}#thought{number}", "step")
        elif words:
            yield Said(session, BY_AGENT, words, at, f"{key}#{number}" if texts else key)
            texts += 1
        call = mapping(part.get("functionCall"))
        if call:
            name, given = text(call.get("name")), mapping(call.get("args"))
            if name == "tool_call":  # a tool that was not told to the model from the start
                name, given = text(given.get("name")), mapping(given.get("arguments"))
            yield Said(session, BY_AGENT, step(name, given), at, text(call.get("id")), "step")
            calls.made(session, text(call.get("id")))
            known["calls"] = calls.saved()
            yield from touches(session, name, given, at)


def _parts(line: dict[str, Any]) -> list[Any]:
    return items(mapping(line.get("message")).get("parts"))


def _summary(payload: dict[str, Any]) -> str:
    first = mapping(next(iter(items(payload.get("compressedHistory"))), None))
    content = "\n".join(text(mapping(part).get("text")) for part in items(first.get("parts")))
    return within(content, "summary") or within(content, "state_snapshot") or content.strip()


def _title(session: str, payload: dict[str, Any], known: dict[str, Any]) -> Iterator[Facts]:
    title = text(payload.get("customTitle")).strip()
    by = BY_AGENT if payload.get("titleSource") == "auto" else USER
    last = items(known.get("title"))
    if title and last != [title, by] and (by == USER or USER not in last[1:]):
        known["title"] = [title, by]
        yield Facts(session, title=title, title_by=by)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qwen Code's files."""
    from told.agents._qwen_wiring import changes

    return changes(place)


AGENT = Agent(
    name="qwen-code",
    title="Qwen Code",
    label="qwen",
    read=read,
    roots=("$QWEN_RUNTIME_DIR", "~/.qwen"),
    env="QWEN_HOME",
    layouts=(
        Layout("projects/*/chats/*.jsonl", "session"),
        Layout("projects/*/subagents/*/*.jsonl", "subagent"),
    ),
    advice="Run qwen once in a project; it keeps chats below ~/.qwen/projects.",
    wire=wire,
    programs=("qwen",),
    present=("$QWEN_HOME", "~/.qwen"),
    hooks=True,
)
