"""Qwen Code: one JSONL log for each session, and one for each of its subagents."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from told.agents import wiring
from told.agents.base import Agent, Dialect, Layout, ProcessSign, ShellSign
from told.agents.gemini_cli import find_touched
from told.agents.reading import FAILED, REFUSED, RecentCalls, describe_call, find_tag, read_log, remove_tags
from told.agents.values import as_dict, as_millis, as_text, get_dict, get_list, get_text, parse_object
from told.agents.wiring import Block, Change, Place
from told.model import AGENT as BY_AGENT
from told.model import USER, Checkpoint, Cursor, Event, Facts, Message, Problem, Source

_INJECTED = ("system-reminder", "qwen:user-prompt-submit-context", "qwen:session-start-context")
_IGNORED = (b'"subtype":"ui_telemetry"', b'"subtype":"attribution_snapshot"')
_RESULT = b'"type":"tool_result"'
_FAILURES = (b'"status":"error"', b'"status":"cancelled"', b'"response":{"error":')


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a log's events from the cursor on."""
    known = parse_object(cursor.state)

    def parse(line: dict[str, Any]) -> Iterator[Event]:
        session, parent = _find_session(source, line)
        if events := list(_parse_line(line, session, known, bool(parent))):
            yield from _new_facts(line, session, parent, known)
            yield from events

    yield from read_log(source.path, cursor, parse, lambda: json.dumps(known), _has_no_events)


def _has_no_events(raw: bytes) -> bool:
    if b'"type":"assistant"' in raw:
        return False
    is_success = _RESULT in raw and not any(mark in raw for mark in _FAILURES)
    return is_success or any(mark in raw for mark in _IGNORED)


def _find_session(source: Source, line: dict[str, Any]) -> tuple[str, str]:
    """Return the session of a line, and a subagent's parent."""
    folder, name = os.path.split(source.path)
    stem = os.path.splitext(name)[0]
    if source.layout != "subagent":
        return get_text(line, "sessionId") or stem, ""
    parent = get_text(line, "sessionId") or os.path.basename(folder)
    return f"{parent}/{get_text(line, 'agentId') or stem.removeprefix('agent-')}", parent


def _new_facts(line: dict[str, Any], session: str, parent: str, known: dict[str, Any]) -> Iterator[Facts]:
    said = {"cwd": line.get("cwd"), "branch": line.get("gitBranch"), "model": line.get("model")}
    new: dict[str, Any] = {
        name: value for name, value in said.items() if as_text(value) and known.get(name) != value
    }
    is_first = known.get("session") != session
    known |= {"session": session} | new
    if is_first:
        new["started"] = as_millis(line.get("timestamp"))
        if parent:
            new |= {"parent": parent, "kind": "subagent"}
    if new:
        yield Facts(session, **new)


def _parse_line(
    line: dict[str, Any], session: str, known: dict[str, Any], is_helper: bool
) -> Iterator[Event]:
    at, key = as_millis(line.get("timestamp")), get_text(line, "uuid")
    kind, payload = line.get("type"), get_dict(line, "systemPayload")
    if kind == "user":
        if words := _find_typed_text(line, payload):
            yield Message(session, BY_AGENT if is_helper else USER, words, at, key)
    elif kind == "assistant":
        yield from _parse_answer(line, session, at, key, known)
    elif kind == "tool_result":
        yield from _parse_failure(line, session, at, known)
    elif line.get("subtype") == "chat_compression":
        if overview := _find_summary(payload):
            known["checkpoints"] = number = int(known.get("checkpoints", 0)) + 1
            yield Checkpoint(session, number, "Compaction summary", overview, at)
    elif line.get("subtype") == "custom_title":
        yield from _parse_title(session, payload, known)


def _find_typed_text(line: dict[str, Any], payload: dict[str, Any]) -> str:
    if get_text(line, "provenance") not in ("", "real_user") or line.get("subtype"):
        return ""
    shown = payload.get("displayText")
    if isinstance(shown, str):
        return remove_tags(shown, _INJECTED)
    parts = (remove_tags(get_text(part, "text"), _INJECTED) for part in _parts(line))
    words = "\n\n".join(part for part in parts if part)
    return "" if words.startswith("<task-notification>") else words


def _parse_failure(line: dict[str, Any], session: str, at: int, known: dict[str, Any]) -> Iterator[Event]:
    result = get_dict(line, "toolCallResult")
    status = get_text(result, "status")
    how = REFUSED if status == "cancelled" else FAILED
    for part in _parts(line):
        answer = get_dict(part, "functionResponse")
        call = get_text(answer, "id") or get_text(result, "callId")
        if status in ("error", "cancelled") or "error" in get_dict(answer, "response"):
            yield from RecentCalls(known.get("calls")).end(session, call, at, how)


def _parse_answer(
    line: dict[str, Any], session: str, at: int, key: str, known: dict[str, Any]
) -> Iterator[Event]:
    texts = 0
    calls = RecentCalls(known.get("calls"))
    for number, part in enumerate(_parts(line)):
        words = get_text(part, "text").strip()
        if words and part.get("thought"):
            yield Message(session, BY_AGENT, words, at, f"{key}#thought{number}", "step")
        elif words:
            yield Message(session, BY_AGENT, words, at, f"{key}#{number}" if texts else key)
            texts += 1
        if call := get_dict(part, "functionCall"):
            name, given, call_id = (get_text(call, "name"), get_dict(call, "args"), get_text(call, "id"))
            if name == "tool_call":  # a tool that the model found later
                name, given = get_text(given, "name"), get_dict(given, "arguments")
            yield Message(session, BY_AGENT, describe_call(name, given), at, call_id, "step")
            calls.add(session, call_id)
            known["calls"] = calls.saved()
            yield from find_touched(session, name, given, at)


def _parts(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [as_dict(part) for part in get_list(line.get("message"), "parts")]


def _find_summary(payload: dict[str, Any]) -> str:
    first = as_dict(next(iter(get_list(payload, "compressedHistory")), None))
    content = "\n".join(get_text(part, "text") for part in get_list(first, "parts"))
    return find_tag(content, "summary") or find_tag(content, "state_snapshot") or content.strip()


def _parse_title(session: str, payload: dict[str, Any], known: dict[str, Any]) -> Iterator[Facts]:
    title = get_text(payload, "customTitle").strip()
    by = BY_AGENT if payload.get("titleSource") == "auto" else USER
    last = get_list(known, "title")
    if title and last != [title, by] and (by == USER or USER not in last[1:]):
        known["title"] = [title, by]
        yield Facts(session, title=title, title_by=by)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qwen Code's files."""
    folder = place.in_project(".qwen") if place.is_project else place.folder("QWEN_HOME", ".qwen")
    instructions = place.join(place.project if place.is_project else folder, "QWEN.md")
    settings = place.join(folder, "settings.json")

    def group(event: str) -> dict[str, Any]:
        # The timeout is in milliseconds up to 0.24 and in seconds later: too long does no harm, 5 ms would.
        # No `args`: an older Qwen Code ignores it and would start the bare interpreter.
        hook: dict[str, Any] = {
            "type": "command",
            "command": wiring.node_line(place, AGENT.name, event),
            "name": "told",
            "timeout": 1000 * wiring.hook_timeout(event),
        }
        return wiring.hook_group(event, hook | ({"shell": "powershell"} if place.is_windows else {}))

    return (
        *wiring.hook_entries(place, settings, group),
        *wiring.mcp_entry(place, settings),
        Block(instructions, place.instructions),
        *wiring.markdown_commands(place, place.join(folder, "commands"), arguments="{{args}}", typed=True),
    )


AGENT = Agent(
    name="qwen-code",
    title="Qwen Code",
    label="qwen",
    read=read,
    roots=("$QWEN_RUNTIME_DIR", "~/.qwen"),
    root_variable="QWEN_HOME",
    layouts=(
        Layout("projects/*/chats/*.jsonl", "session"),
        Layout("projects/*/subagents/*/*.jsonl", "subagent"),
    ),
    advice="Run qwen once in a project; it keeps chats below ~/.qwen/projects.",
    wire=wire,
    programs=("qwen",),
    install_signs=("$QWEN_HOME", "~/.qwen"),
    has_hooks=True,
    since={wiring.HOOKS: "0.15.6"},  # 0.12 has them turned off
    dialect=Dialect(replaces_start_brief=True),  # it is a part of the system prompt
    process=ProcessSign("qwen", "@qwen-code/qwen-code"),
    shell_signs=(ShellSign("QWEN_CODE", "QWEN_SESSION_ID"),),
    client_words=("qwen",),
    instruction_files=("QWEN.md",),
)
