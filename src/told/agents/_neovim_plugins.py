"""What the chat plugins of Neovim write down: CopilotChat, CodeCompanion's history, and Avante."""

from __future__ import annotations

import re
from datetime import datetime

from told.agents._vscode_tools import arguments_of, call_events
from told.agents.text import items, mapping, millis, text
from told.model import AGENT, USER, Checkpoint, Event, Facts, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# What CopilotChat repeats above every question: `> #buffer`, `> $model`, `> @tools`, `> /prompt`.
_STICKY = re.compile(r"\A(?:> [#$@/]\S.*\n?|\s*\n)+")
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def copilotchat(document: Any, session: str, name: str) -> Iterator[Event]:
    """Yield a chat that the user saved under a name: a list of messages."""
    messages = document if isinstance(document, list) else items(mapping(document).get("history"))
    said = [event for message in messages for event in _copilotchat_message(mapping(message), session)]
    if said:
        yield Facts(session, title="" if name == "default" else name, title_by=USER)
        yield from said


def _copilotchat_message(message: dict[str, Any], session: str) -> Iterator[Event]:
    role, words, key = message.get("role"), text(message.get("content")), text(message.get("id"))
    if role == "user":
        yield from _said(session, USER, _STICKY.sub("", words), key=key)
    elif role == "assistant":
        yield from _said(session, AGENT, text(message.get("reasoning")), form="step")
        yield from _said(session, AGENT, words, key=key)
        for call in items(message.get("tool_calls")):
            yield from _call(session, mapping(call))


def codecompanion(document: Any, session: str, path_id: str) -> Iterator[Event]:
    """Yield a chat that CodeCompanion's history extension saved."""
    chat = mapping(document)
    said = [
        event
        for message in items(chat.get("messages"))
        for event in _codecompanion_message(mapping(message), session)
    ]
    if not said:
        return
    made = text(chat.get("save_id")) or path_id
    yield Facts(
        session,
        cwd=text(chat.get("cwd")) or text(chat.get("project_root")),
        title=text(chat.get("title")),
        started=millis(int(made)) if made.isdecimal() and len(made) < 17 else 0,
        model=text(mapping(chat.get("settings")).get("model")),
    )
    yield from said


def _codecompanion_message(message: dict[str, Any], session: str) -> Iterator[Event]:
    role, words = message.get("role"), text(message.get("content"))
    options, meta = mapping(message.get("opts")), mapping(message.get("_meta"))
    if role == "user":
        # Files, buffers and rules come in as messages of the user's that are hidden or name what they are.
        attached = (
            options.get("reference") or options.get("context_id") or mapping(message.get("context")).get("id")
        )
        if options.get("visible") is not False and meta.get("visible") is not False and not attached:
            yield from _said(session, USER, words)
    elif role in ("llm", "assistant"):
        thought = message.get("reasoning")
        yield from _said(session, AGENT, text(thought) or text(mapping(thought).get("content")), form="step")
        yield from _said(session, AGENT, words)
        calls = mapping(message.get("tools")).get("calls") or message.get("tool_calls")
        for call in items(calls):
            yield from _call(session, mapping(call))


def avante(document: Any, session: str, cwd: str) -> Iterator[Event]:
    """Yield a chat of Avante's, in its present form or in the one before it."""
    chat = mapping(document)
    messages = [mapping(message) for message in items(chat.get("messages"))]
    said = [event for message in messages for event in _avante_message(message, session)]
    if not messages:
        said = [
            event for entry in items(chat.get("entries")) for event in _avante_entry(mapping(entry), session)
        ]
    if not said:
        return
    title = text(chat.get("title"))
    models = [model for message in messages if (model := text(message.get("model")))]
    yield Facts(
        session,
        cwd,
        title="" if title == "untitled" else title,
        started=next((event.at for event in said if isinstance(event, Said) and event.at), 0),
        model=models[-1] if models else "",
    )
    yield from said
    memory = mapping(chat.get("memory"))
    if text(memory.get("content")).strip():
        at = _when(memory.get("last_summarized_timestamp"))
        yield Checkpoint(session, 1, title, text(memory.get("content")).strip(), at)


def _avante_message(entry: dict[str, Any], session: str) -> Iterator[Event]:
    message = mapping(entry.get("message"))
    content, at, key = message.get("content"), _when(entry.get("timestamp")), text(entry.get("uuid"))
    if entry.get("visible") is False or entry.get("is_dummy") or entry.get("just_for_display"):
        return
    if message.get("role") == "user":
        typed = entry.get("is_user_submission")
        if typed or (typed is None and isinstance(content, str)):
            yield from _said(session, USER, text(content) or _joined(content), at=at, key=key)
    elif message.get("role") == "assistant":
        for block in [content] if isinstance(content, str) else items(content):
            part = mapping(block)
            kind = part.get("type")
            if isinstance(block, str) or kind == "text":
                yield from _said(session, AGENT, text(block) or text(part.get("text")), at=at, key=key)
            elif kind == "thinking":
                yield from _said(session, AGENT, text(part.get("thinking")), at=at, form="step")
            elif kind == "tool_use":
                name = text(part.get("name")) or "tool"
                yield from call_events(session, name, arguments_of(part.get("input")), at)


def _avante_entry(entry: dict[str, Any], session: str) -> Iterator[Event]:
    at = _when(entry.get("timestamp"))
    yield from _said(session, USER, text(entry.get("request")), at=at)
    yield from _said(session, AGENT, text(entry.get("response")), at=at)


def _joined(content: Any) -> str:
    blocks = (text(block) or text(mapping(block).get("text")) for block in items(content))
    return "\n".join(block for block in blocks if block)


def _call(session: str, call: dict[str, Any]) -> Iterator[Event]:
    function = mapping(call.get("function")) or call
    name = text(function.get("name"))
    if name:
        yield from call_events(session, name, arguments_of(function.get("arguments")), 0)


def _said(
    session: str, who: str, words: str, *, at: int = 0, key: str = "", form: str = "text"
) -> Iterator[Said]:
    if words.strip():
        yield Said(session, who, words.strip(), at, key, form)


def _when(value: Any) -> int:
    """Read a time; one without a zone is the time on the user's clock."""
    if isinstance(value, str) and _LOCAL.fullmatch(value):
        try:
            return max(0, int(datetime.fromisoformat(value).astimezone().timestamp() * 1000))
        except (ValueError, OverflowError, OSError):
            return 0
    return millis(value)
