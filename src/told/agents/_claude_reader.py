"""Reads Claude Code's transcripts, and those of agents that write the same format."""

from __future__ import annotations

import os

from told.agents._claude_prompt import is_rejection, queued, summary, typed
from told.agents._claude_session import Known, is_helper
from told.agents._claude_skip import skip
from told.agents._claude_tool import awaits, commits, shell_edits, touches
from told.agents.text import FAILED, REFUSED, items, mapping, millis, step, text
from told.guard.jsonl import Line, json_document, json_lines
from told.model import AGENT, USER, Checkpoint, Cursor, Facts, Mark, Problem, Ref, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.model import Event, Source

_GARBAGE = ("Invalid API key", "API Error", "Credit balance", "Please run /login", "Claude AI usage limit")


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what a transcript says from the cursor on."""
    known = Known(source.path, cursor.state)
    if cursor.offset == 0:
        yield from _named(source.path, known)
    for found in json_lines(source.path, cursor, lambda raw: skip(raw, known.awaited)):
        if isinstance(found, Line):
            yield from _line(found.value, known)
        elif isinstance(found, Problem):
            yield found
        else:
            yield Mark(Cursor(found.offset, found.line, known.state()))


def _line(line: dict[str, Any], known: Known) -> Iterator[Event]:
    kind = line.get("type")
    if kind in ("user", "assistant", "attachment"):
        session = known.session_of(line)
        at = millis(line.get("timestamp"))
        events = _TALK[kind](line, session, at, known)
        if events and not known.is_idle(session):
            known.leaf = text(line.get("uuid")) or known.leaf
            yield from known.facts(session, line, at)
            yield from events
    elif kind in ("ai-title", "custom-title", "agent-name", "summary"):
        yield from _title(line, known)
    elif kind == "pr-link":
        value = text(line.get("prUrl"))
        if value:
            yield Ref(known.session_of(line), "pr", value, millis(line.get("timestamp")))


def _user(line: dict[str, Any], session: str, at: int, known: Known) -> list[Event]:
    return list(_of_user(line, session, at, known))


def _of_user(line: dict[str, Any], session: str, at: int, known: Known) -> Iterator[Event]:
    if line.get("isCompactSummary"):
        overview = summary(line)
        if overview:
            yield Checkpoint(session, known.next_checkpoint(session), "Compaction summary", overview, at)
        return
    result = mapping(line.get("toolUseResult"))
    if result:
        calls = [
            text(mapping(block).get("tool_use_id"))
            for block in items(mapping(line.get("message")).get("content"))
        ]
        yield from shell_edits(session, result, at)
        if known.arrived(calls):
            yield from commits(session, text(result.get("stdout")), at)
    yield from _failures(line, session, at, known)
    words = typed(line)
    if not words:
        return
    key = text(line.get("uuid"))
    if not is_helper(session):
        yield Said(session, USER, words, at, key)
    elif not known.warms_up(session, words):
        yield Said(session, AGENT, words, at, key)  # the agent's own words to its helper


def _failures(line: dict[str, Any], session: str, at: int, known: Known) -> Iterator[Event]:
    how = REFUSED if is_rejection(line) else FAILED
    for block in map(mapping, items(mapping(line.get("message")).get("content"))):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            yield from known.calls.ended(session, text(block.get("tool_use_id")), at, how)


def _queued(line: dict[str, Any], session: str, at: int, _known: Known) -> list[Event]:
    words = queued(line)
    if not words or is_helper(session):
        return []
    return [Said(session, USER, words, at, text(line.get("uuid")))]


def _assistant(line: dict[str, Any], session: str, at: int, known: Known) -> list[Event]:
    message = mapping(line.get("message"))
    if line.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
        return []
    identity = text(message.get("id")) or text(line.get("uuid"))
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    events: list[Event] = []
    for block in map(mapping, blocks):
        kind = block.get("type")
        if kind == "text" and (words := text(block.get("text")).strip()):
            events.append(Said(session, AGENT, words, at, known.key(session, identity, ""), "text"))
        elif kind == "thinking" and (words := text(block.get("thinking")).strip()):
            key = known.key(session, identity, "thought")
            events.append(Said(session, AGENT, words, at, key, "step"))
        elif kind == "tool_use":
            name, given, call = text(block.get("name")), mapping(block.get("input")), text(block.get("id"))
            events.append(Said(session, AGENT, step(name, given), at, call, "step"))
            known.calls.made(session, call)
            events += touches(session, name, given, at)
            if awaits(name, given):
                known.await_output(call)
    return events


_TALK = {"user": _user, "assistant": _assistant, "attachment": _queued}


def _title(line: dict[str, Any], known: Known) -> Iterator[Event]:
    kind, session = line.get("type"), known.session_of(line)
    if kind == "custom-title":
        yield from known.title(session, text(line.get("customTitle")), USER)
    elif kind == "summary":
        title = text(line.get("summary")).strip()
        if title and not title.startswith(_GARBAGE):
            yield from known.summary(session, title, text(line.get("leafUuid")))
    else:
        yield from known.title(session, text(line.get("aiTitle") or line.get("agentName")), AGENT)


def _named(path: str, known: Known) -> Iterator[Facts]:
    """Yield the name the user gave the session, which stands in a file beside the transcript."""
    beside = os.path.join(os.path.splitext(path)[0], "custom-title.json")
    if os.path.isfile(beside):
        title = text(mapping(json_document(beside)).get("customTitle"))
        yield from known.title(known.session_of({}), title, USER)
