"""Copilot in JetBrains IDEs: event lines in parts, and the object stores of older plugins."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from told.agents import wiring
from told.agents.base import Agent, Layout
from told.agents.reading import (
    RecentCalls,
    file_path,
    file_size,
    make_message,
    parse_call,
    read_log,
    read_whole,
)
from told.agents.values import as_dict, as_list, as_millis, get_dict, get_dicts, get_text, parse_object
from told.agents.wiring import Block, Change, Place
from told.files import NotReadableError, read_document
from told.jsontext import parse_json
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch
from told.pattern import lazy_pattern

_MAX_PARENTS = 40
_STARTS = ("partition.created", "session.start")
_ROLES = {"user": USER, "assistant": BY_AGENT, "copilot": BY_AGENT}
_ID = rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# JSON text has no control bytes, so it ends before the first one.
_FRAGMENT_TEXT = lazy_pattern(
    rb'\{"(?:__first__|' + _ID + rb')":\{"type":"(?:Subgraph|Value)"[^\x00-\x1f]*'
)  # fmt: skip
_DOCUMENT = b"\xac\xed\x00\x05"  # the start of a serialised Java object
_SESSION = lazy_pattern(rb"sessionIdt\x00\x24(" + _ID + rb")")
_TITLE = lazy_pattern(rb"t\x00\x24(" + _ID + rb").{0,8}name.{0,300}?valuet(..)", re.DOTALL)
_REQUEST, _RESPONSE = b"t\x00\x07request", b"t\x00\x08response"
# Java writes a character above U+FFFF as two surrogates of three bytes each.
_SURROGATES = lazy_pattern(rb"\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])")
_NODES = ("Markdown", "AgentRound", "Thinking", "WorkingSet", "FixedContextPanel")


def _find_project(path: str) -> str:
    """Return the git repository that a file is in, or ""."""
    if not os.path.isabs(path) or "\0" in path:
        return ""
    folder = os.path.dirname(path)
    for _ in range(_MAX_PARENTS):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def read_events(source: Source, cursor: Cursor, session: str, part: str = "") -> Iterator[Event | Problem]:
    """Yield a file's events from the cursor on.

    A later part of a conversation has a file and a session of its own, with the conversation as parent.
    """
    known = parse_object(cursor.state)
    session = get_text(known, "session") or session + part
    cwd, calls = get_text(known, "cwd"), RecentCalls(known.get("calls"))

    def parse(line: dict[str, Any]) -> Iterator[Event]:
        nonlocal session, cwd
        data = get_dict(line, "data")
        if line.get("type") in _STARTS:
            named = get_text(data, "conversationId", "sessionId")
            session = named + part if named else session
            if part:
                yield Facts(session, parent=session.removesuffix(part))
        for event in _parse_line(line, session, calls):
            yield event
            if isinstance(event, Touch) and not cwd and (cwd := _find_project(event.path)):
                yield Facts(session, cwd)

    def state() -> str:
        return json.dumps({"session": session, "cwd": cwd, "calls": calls.saved()})

    yield from read_log(source.path, cursor, parse, state)


def parse_document(document: Any, path: str) -> Iterator[Event]:
    """Yield the conversation of a JSON document."""
    top = as_dict(document)
    session = get_text(top, "conversationId", "sessionId", "id")
    session = session or os.path.splitext(os.path.basename(path))[0]
    lists = (document, top.get("messages"), top.get("events"), top.get("turns"))
    lines = next((found for found in lists if isinstance(found, list)), [])
    calls = RecentCalls()
    said = [event for line in lines for event in _parse_line(as_dict(line), session, calls)]
    yield Begin(session)
    if said:
        title = get_text(top, "title", "name")
        yield Facts(session, title=title, started=as_millis(top.get("createdAt")))
        yield from said


def _parse_line(line: dict[str, Any], session: str, calls: RecentCalls) -> Iterator[Event]:
    kind, data = get_text(line, "type"), get_dict(line, "data")
    at, key = as_millis(line.get("timestamp")), get_text(line, "id")
    if kind in _STARTS:
        context = get_dict(data, "context")
        yield Facts(
            session,
            cwd=get_text(context, "cwd"),
            branch=get_text(context, "branch"),
            repository=get_text(context, "repository"),
            started=as_millis(data.get("createdAt")) or at,
        )
    elif kind == "user.message":
        yield from make_message(session, USER, get_text(data, "content"), at=at, key=key)
    elif kind == "assistant.turn_start":
        if get_text(data, "model"):
            yield Facts(session, model=get_text(data, "model"))
    elif kind == "assistant.message":
        thought = get_text(data.get("thinking"), "text") or get_text(data, "reasoningText")
        yield from make_message(session, BY_AGENT, thought, at=at, form="step")
        words = get_text(data, "text", "content")
        yield from make_message(session, BY_AGENT, words, at=at, key=key)
    elif kind == "tool.execution_start":
        tool = get_text(data, "toolName") or "tool"
        yield from parse_call(session, tool, parse_object(data.get("arguments")), at, key)
        calls.add(session, get_text(data, "toolCallId"))
    elif kind == "tool.execution_complete":
        if data.get("success") is False:
            yield from calls.end(session, get_text(data, "toolCallId"), at)
    elif who := _ROLES.get(get_text(line, "role").lower()):
        words = get_text(line, "content", "text", "message")
        yield from make_message(session, who, words, at=at or as_millis(line.get("createdAt")), key=key)


@dataclass(frozen=True, slots=True)
class _Fragment:
    """One fragment of a conversation, with its nodes in order."""

    session: str
    document: int
    who: str
    nodes: list[tuple[str, Any]]


def parse_store(content: bytes, fallback: str) -> Iterator[Event]:
    """Yield each conversation that can be recovered."""
    titles = _find_titles(content)
    content = _SURROGATES.sub(_join_surrogates, content)
    found: dict[str, list[_Fragment]] = {}
    for fragment in _find_fragments(content, fallback):
        found.setdefault(fragment.session, []).append(fragment)
    for session, fragments in found.items():
        # A document has a question and its answer, in any order.
        fragments.sort(key=lambda fragment: (fragment.document, fragment.who != USER))
        events = list(dict.fromkeys(event for fragment in fragments for event in _parse_fragment(fragment)))
        if not any(isinstance(event, Message) for event in events):
            continue
        paths = (event.path for event in events if isinstance(event, Touch))
        cwd = next((project for path in paths if (project := _find_project(path))), "")
        yield Begin(session)
        yield Facts(session, cwd, title=titles.get(session, ""))
        yield from events


def _join_surrogates(halves: re.Match[bytes]) -> bytes:
    high = (halves[1][0] & 0x0F) << 6 | (halves[2][0] & 0x3F)
    low = (halves[3][0] & 0x0F) << 6 | (halves[4][0] & 0x3F)
    return chr(0x10000 + (high << 10) + low).encode()


def _find_fragments(content: bytes, fallback: str) -> Iterator[_Fragment]:
    decoder = json.JSONDecoder()
    session, last = fallback, -1
    position = 0
    while match := _FRAGMENT_TEXT.search(content, position):
        position = match.end()
        words = match[0].decode("utf-8", "replace")
        try:
            value, length = decoder.raw_decode(words)
        except (ValueError, RecursionError):
            continue
        position = min(position, match.start() + len(words[:length].encode("utf-8", "replace")))
        start = content.rfind(_DOCUMENT, 0, match.start())
        if start != last or start < 0:
            end = content.find(_DOCUMENT, match.start())
            named = _SESSION.search(content, max(start, 0), end if end > 0 else len(content))
            session, last = named[1].decode() if named else fallback, start
        nodes = list(_find_nodes(value))
        asked = content.rfind(_REQUEST, max(start, 0), match.start())
        answered = content.rfind(_RESPONSE, max(start, 0), match.start())
        yield _Fragment(session, max(start, 0), _find_speaker(nodes, asked, answered), nodes)


def _find_speaker(nodes: list[tuple[str, Any]], asked: int, answered: int) -> str:
    """Return who wrote the Markdown; if unclear, the agent."""
    kinds = {kind for kind, _ in nodes}
    if "AgentRound" in kinds or answered > asked:
        return BY_AGENT
    return USER if asked > answered or "FixedContextPanel" in kinds else BY_AGENT


def _find_nodes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a graph's typed nodes, also from JSON inside texts."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            node = parse_json(node) if node[:1] in ("{", "[") else None
        if isinstance(node, list):
            waiting.extend(reversed(node))
        elif isinstance(node, dict):
            data = node.get("data")
            if node.get("type") in _NODES:
                yield node["type"], parse_json(data) if isinstance(data, str) else data
            else:
                waiting.extend(reversed(node.values()))


def _parse_fragment(found: _Fragment) -> Iterator[Event]:
    rounds = any(kind == "AgentRound" for kind, _ in found.nodes)
    for kind, data in found.nodes:
        node = as_dict(data)
        # With an agent's rounds, Markdown only repeats the question.
        if kind == "Markdown" and not rounds:
            yield from make_message(found.session, found.who, get_text(node, "text"))
        elif kind == "AgentRound":
            yield from make_message(found.session, BY_AGENT, get_text(node, "reply"))
            for call in get_dicts(node, "toolCalls"):
                if tool := get_text(call, "name", "toolName"):
                    yield from parse_call(found.session, tool, parse_object(call.get("input")), 0)
        elif kind == "Thinking":
            yield from make_message(found.session, BY_AGENT, get_text(node, "content"), form="step")
        elif kind == "WorkingSet":
            for entry in as_list(data):
                if path := file_path(as_dict(entry).get("file")):
                    yield Touch(found.session, path, "edit")


def _find_titles(content: bytes) -> dict[str, str]:
    """Return each conversation's last title."""
    titles = {}
    for match in _TITLE.finditer(content):
        length = int.from_bytes(match[2], "big")
        raw = content[match.end() : match.end() + length]
        title = _SURROGATES.sub(_join_surrogates, raw).decode("utf-8", "replace")
        if 0 < length <= 400 and title.isprintable():
            titles[match[1].decode()] = title
    return titles


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the conversations of one file."""
    folder, name = os.path.split(source.path)
    stem, extension = os.path.splitext(name)
    if extension == ".db":
        yield from _read_store(source)
    elif extension == ".json":
        yield from read_whole(source.path, lambda document: parse_document(document, source.path))
    elif source.layout == "partition":
        number = stem.removeprefix("partition-")
        part = "" if number in ("0", "1") else f"-part-{number}"
        yield from read_events(source, cursor, os.path.basename(folder), part)
    else:
        yield from read_events(source, cursor, stem)


def _read_store(source: Source) -> Iterator[Event | Problem]:
    size = file_size(source.path)
    try:
        content = read_document(source.path)
    except NotReadableError as error:
        yield Problem(0, f"Nitrite database, not readable: {error}")
        return
    found = list(parse_store(content, os.path.basename(os.path.dirname(source.path))))
    if content and not found:
        yield Problem(0, "Nitrite database, not readable")
        return
    yield from found
    yield Mark(Cursor(size))


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Copilot's files."""
    if place.is_project:
        return wiring.github_instructions(place)
    if place.is_windows:
        folder = place.join(place.folder("LOCALAPPDATA", "AppData", "Local"), "github-copilot", "intellij")
    else:
        folder = place.in_config("github-copilot", "intellij")
    return (
        *wiring.mcp_entry(place, place.join(folder, "mcp.json"), ("servers",), type="stdio"),
        Block(place.join(folder, "global-copilot-instructions.md"), place.guide),
    )


AGENT = Agent(
    name="jetbrains-copilot",
    title="Copilot in JetBrains IDEs",
    label="jetbrains",
    aliases=("intellij",),
    read=read,
    roots=(
        "~/.copilot/jb",
        "$XDG_CONFIG_HOME|~/.config:github-copilot",
        "~/Library/Application Support/github-copilot",
        "$LOCALAPPDATA/github-copilot",
        "~/AppData/Local/github-copilot",
    ),
    layouts=(
        Layout("*/partition-*.jsonl", "partition"),
        *(
            Layout(f"{ide}{folder}/**/*.{extension}", extension)
            for ide in ("", "*/")
            for folder in ("chat-sessions", "chat-agent-sessions", "chat-edit-sessions")
            for extension in ("db", "json", "jsonl")
        ),
    ),
    verified=False,
    wire=wire,
    install_signs=(
        "$XDG_CONFIG_HOME|~/.config:github-copilot/intellij",
        "$LOCALAPPDATA/github-copilot/intellij",
    ),
    limits="told has no hooks in it: it asks told because its instructions say so.",
    client_words=("jetbrains", "intellij"),
)
