"""Reads the transcripts that Cursor's agents write: lines of JSON, and plain text before that."""

from __future__ import annotations

import os
import re

from told.agents._cursor_place import project_folder
from told.agents._cursor_store import has_conversation
from told.agents._vscode_places import size_of
from told.agents._vscode_tools import arguments_of, call_events
from told.agents.base import expand, user_data
from told.agents.text import items, mapping, text
from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import Line, json_document, json_lines
from told.model import AGENT, USER, Begin, Cursor, Event, Facts, Mark, Problem, Said, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
# Whatever else comes in such blocks was put there by the editor.
_BLOCK = re.compile(r"<([a-z][a-z_]+)(?: [^>]*)?>.*?</\1>", re.DOTALL)
_MARKER = re.compile(r"(user|assistant|A):\s*|\[(Thinking|Tool call|Tool result)\] ?(.*)")


def read_transcript(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a conversation, unless the editor's own store has it with more detail."""
    path = source.path
    session = os.path.splitext(os.path.basename(path))[0]
    if _in_store(source.root, session):
        yield Begin(session)
        yield Mark(Cursor(size_of(path)))
    elif path.endswith(".jsonl"):
        introduced = cursor.offset > 0
        for found in json_lines(path, cursor):
            if isinstance(found, Line):
                events = list(_message(found.value, session))
                if events and not introduced:
                    introduced = True
                    yield _facts(path, session)
                yield from events
            else:
                yield Mark(found) if isinstance(found, Cursor) else found
    else:
        yield from _read_whole(path, session)


def _read_whole(path: str, session: str) -> Iterator[Event | Problem]:
    size, folder = size_of(path), os.path.dirname(path)
    newer = (f"{session}.jsonl", f"{session}/{session}.jsonl")
    events: list[Event] = []
    if not any(os.path.exists(os.path.join(folder, name)) for name in newer):
        if path.endswith(".txt"):
            try:
                events = list(_text_events(read_document(path).decode("utf-8", "replace"), session))
            except NotReadableError as error:
                yield Problem(0, str(error))
                return
        else:
            document = json_document(path)
            if isinstance(document, Problem):
                yield document
                return
            lines = document if isinstance(document, list) else items(mapping(document).get("messages"))
            events = [event for line in lines for event in _message(mapping(line), session)]
    yield Begin(session)
    if events:
        yield _facts(path, session)
    yield from events
    yield Mark(Cursor(size))


def _facts(path: str, session: str) -> Facts:
    project, _, below = path.replace(os.sep, "/").rpartition("/agent-transcripts/")
    folders = below.split("/")[:-1]
    parent = folders[-2] if len(folders) > 1 and folders[-1] == "subagents" else ""
    return Facts(session, project_folder(project), parent=parent, kind="subagent" if parent else "")


def _message(line: dict[str, Any], session: str) -> Iterator[Event]:
    message = mapping(line.get("message")) or line
    role = line.get("role") or message.get("role")
    content = message.get("content") or message.get("text")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    if role == "user":
        texts = [text(mapping(block).get("text")) for block in blocks if mapping(block).get("type") == "text"]
        yield from _said(session, USER, typed("\n".join(texts)))
    elif role == "assistant":
        for block in blocks:
            part = mapping(block)
            if part.get("type") == "text":
                yield from _said(session, AGENT, text(part.get("text")))
            elif part.get("type") == "thinking":
                yield from _said(session, AGENT, text(part.get("thinking")) or text(part.get("text")), "step")
            elif part.get("type") == "tool_use":
                tool = text(part.get("name")) or "tool"
                yield from call_events(session, tool, arguments_of(part.get("input")), 0)


def typed(words: str) -> str:
    """Return what the user typed of a message that the editor added to."""
    queries = _QUERY.findall(words)
    return "\n".join(queries) if queries else _BLOCK.sub("", words).strip()


def _said(session: str, who: str, words: str, form: str = "text") -> Iterator[Said]:
    words = words.replace("[REDACTED]", "").strip()
    if words:
        yield Said(session, who, words, form=form)


def _text_events(content: str, session: str) -> Iterator[Event]:
    """Yield what a plain-text transcript says: marked sections, of which tool results are left out."""
    role, section, head = "", "", ""
    lines: list[str] = []
    asking = False
    for line in content.splitlines():
        asking = (asking or "<user_query>" in line) and "</user_query>" not in line
        marker = None if asking else _MARKER.fullmatch(line)
        if not marker:
            lines.append(line)
            continue
        yield from _section(session, role, section, head, lines)
        lines.clear()
        if marker[1]:
            role, section, head = "user" if marker[1] == "user" else "assistant", "", ""
        else:
            section, head = marker[2], marker[3].strip()
    yield from _section(session, role, section, head, lines)


def _section(session: str, role: str, section: str, head: str, lines: list[str]) -> Iterator[Event]:
    if role == "user":
        yield from _said(session, USER, typed("\n".join(lines)))
    elif section == "Tool call":
        pairs = (line.strip().partition(": ") for line in lines if line.startswith(" "))
        yield from call_events(session, head or "tool", {name: value for name, _, value in pairs}, 0)
    elif section == "Thinking":
        yield from _said(session, AGENT, head, "step")
        yield from _said(session, AGENT, "\n".join(lines))
    elif role == "assistant" and not section:
        yield from _said(session, AGENT, "\n".join(lines))


def _in_store(root: str, session: str) -> bool:
    """Say whether the editor's store beside this folder has the conversation too."""
    home = os.path.dirname(root)
    here = os.environ if os.path.realpath(os.environ.get("HOME", "")) == os.path.realpath(home) else {}
    for place in user_data("Cursor"):
        path = os.path.join(expand(place, {**here, "HOME": home}), "User/globalStorage/state.vscdb")
        if os.path.exists(path) and has_conversation(path, session):
            return True
    return False
