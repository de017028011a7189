"""Gemini CLI: one file for each chat, in a folder for each project; written anew as a chat goes on."""

from __future__ import annotations

import os

from told.agents._claude_tags import without
from told.agents._gemini_chat import Chat, content
from told.agents._gemini_place import folder_of
from told.agents._gemini_tool import ending, touches
from told.agents.base import Agent, Layout
from told.agents.text import items, mapping, millis, step, text
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Facts, Mark, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Change, Place
    from told.model import Event, Problem, Source

_INJECTED = ("hook_context", "session_context", "loaded_context", "system-reminder")


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield all of a chat; a file without a typed prompt, such as a resume leaves behind, says nothing."""
    try:
        size = os.path.getsize(source.path)
    except OSError:
        size = 0
    chat = Chat()
    yield from chat.load(source.path)
    folder = os.path.dirname(source.path)
    parent = os.path.basename(folder) if source.layout == "subagent" else ""
    session = text(chat.head.get("sessionId")) or os.path.splitext(os.path.basename(source.path))[0]
    talk = list(_talk(chat, session, helper=bool(parent) or chat.head.get("kind") == "subagent"))
    if any(isinstance(event, Said) and (event.who == USER or parent) for event in talk):
        yield Begin(session)
        yield Facts(
            session,
            cwd=folder_of(source, chat.head),
            title=text(chat.head.get("summary")),
            started=millis(chat.head.get("startTime")),
            parent=parent,
            kind="subagent" if parent else "",
            model=next((name for message in chat.messages() if (name := text(message.get("model")))), ""),
        )
        yield from talk
    yield Mark(Cursor(size))


def _talk(chat: Chat, session: str, *, helper: bool) -> Iterator[Event]:
    told = checkpoints = 0
    for message in chat.messages():
        at = millis(message.get("timestamp"))
        key = text(message.get("id"))
        if message.get("type") == "gemini":
            yield from _answer(message, session, at, key)
        elif message.get("type") == "user":
            words = without(content(message), _INJECTED)
            if words.startswith("<") and "<state_snapshot>" in words:  # thoughts may stand before it
                checkpoints += 1
                yield Checkpoint(session, checkpoints, "Compaction summary", words, at)
            elif words and not _is_command(words) and not (helper and told):
                told += 1  # a helper is told once; what follows in its chat is Gemini CLI urging it on
                yield Said(session, BY_AGENT if helper else USER, words, at, key)


def _answer(message: dict[str, Any], session: str, at: int, key: str) -> Iterator[Event]:
    for number, thought in enumerate(map(mapping, items(message.get("thoughts")))):
        parts = (text(thought.get("subject")), text(thought.get("description")))
        words = ": ".join(part for part in parts if part)
        if words:
            yield Said(session, BY_AGENT, words, at, f"{key}#thought{number}", "step")
    words = content(message).strip()
    if words:
        yield Said(session, BY_AGENT, words, at, key)
    for call in map(mapping, items(message.get("toolCalls"))):
        name, given = text(call.get("name")), mapping(call.get("args"))
        when = millis(call.get("timestamp")) or at
        yield Said(session, BY_AGENT, step(name, given), when, text(call.get("id")), "step")
        if how := ending(call):
            yield Said(session, BY_AGENT, how, when, form="step")
        if call.get("status") not in ("error", "cancelled"):
            yield from touches(session, name, given, when)


def _is_command(words: str) -> bool:
    return words.startswith(("/", "?")) and len(words.split()) == 1


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Gemini CLI's files."""
    from told.agents._gemini_wiring import changes

    return changes(place)


AGENT = Agent(
    name="gemini-cli",
    title="Gemini CLI",
    label="gemini",
    read=read,
    roots=("$GEMINI_CLI_HOME/.gemini", "~/.gemini"),
    layouts=(
        Layout("tmp/*/chats/*.jsonl", "session"),
        Layout("tmp/*/chats/*.json", "session"),
        Layout("tmp/*/chats/*/*.jsonl", "subagent"),
    ),
    advice="Run gemini once in a project; it keeps chats below ~/.gemini/tmp.",
    wire=wire,
    programs=("gemini",),
    present=("$GEMINI_CLI_HOME/.gemini/tmp", "~/.gemini/tmp"),
    hooks=True,
    limits="Nothing tells told of a compaction in it.",
)
