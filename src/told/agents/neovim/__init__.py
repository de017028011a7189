"""Neovim: JSON documents of several chat plugins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from told.agents.base import Agent, Layout
from told.agents.reading import file_size, make_message, parse_call
from told.agents.values import (
    as_dict,
    as_list,
    as_millis,
    as_text,
    get_dict,
    get_dicts,
    get_list,
    get_text,
    local_millis,
    parse_object,
)
from told.files import NotReadableError, read_document
from told.jsontext import read_json_file
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source
from told.pattern import lazy_pattern

# CopilotChat repeats these above every question: `> #buffer`, `> $model`, `> @tools`, `> /prompt`.
_STICKY = lazy_pattern(r"\A(?:> [#$@/]\S.*\n?|\s*\n)+")
_LOCAL_TIME = lazy_pattern(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def _parse_copilotchat(document: Any, session: str, name: str) -> Iterator[Event]:
    """Yield a chat that the user saved under a name."""
    messages = document if isinstance(document, list) else get_list(document, "history")
    said = [event for message in messages for event in _parse_copilotchat_message(as_dict(message), session)]
    if said:
        yield Facts(session, title="" if name == "default" else name, title_by=USER)
        yield from said


def _parse_copilotchat_message(message: dict[str, Any], session: str) -> Iterator[Event]:
    role, words, key = message.get("role"), get_text(message, "content"), get_text(message, "id")
    if role == "user":
        yield from make_message(session, USER, _STICKY.sub("", words), key=key)
    elif role == "assistant":
        yield from make_message(session, BY_AGENT, get_text(message, "reasoning"), form="step")
        yield from make_message(session, BY_AGENT, words, key=key)
        for call in get_list(message, "tool_calls"):
            yield from _parse_function(session, as_dict(call))


def _parse_codecompanion(document: Any, session: str, path_id: str) -> Iterator[Event]:
    """Yield a chat that CodeCompanion's history extension saved."""
    chat = as_dict(document)
    said = [
        event
        for message in get_list(chat, "messages")
        for event in _parse_codecompanion_message(as_dict(message), session)
    ]
    if not said:
        return
    made = get_text(chat, "save_id") or path_id
    yield Facts(
        session,
        cwd=get_text(chat, "cwd", "project_root"),
        title=get_text(chat, "title"),
        started=as_millis(int(made)) if made.isdecimal() and len(made) < 17 else 0,
        model=get_text(chat.get("settings"), "model"),
    )
    yield from said


def _parse_codecompanion_message(message: dict[str, Any], session: str) -> Iterator[Event]:
    role, words = message.get("role"), get_text(message, "content")
    options, meta = get_dict(message, "opts"), get_dict(message, "_meta")
    if role == "user":
        # Files, buffers and rules are user messages that are hidden or have a reference.
        attached = (
            options.get("reference") or options.get("context_id") or get_dict(message, "context").get("id")
        )
        if options.get("visible") is not False and meta.get("visible") is not False and not attached:
            yield from make_message(session, USER, words)
    elif role in ("llm", "assistant"):
        thought = message.get("reasoning")
        yield from make_message(
            session, BY_AGENT, as_text(thought) or get_text(thought, "content"), form="step"
        )
        yield from make_message(session, BY_AGENT, words)
        calls = get_dict(message, "tools").get("calls") or message.get("tool_calls")
        for call in as_list(calls):
            yield from _parse_function(session, as_dict(call))


def _parse_avante(document: Any, session: str, cwd: str) -> Iterator[Event]:
    """Yield a chat of Avante, in its present or older form."""
    chat = as_dict(document)
    messages = get_dicts(chat, "messages")
    said = [event for message in messages for event in _parse_avante_message(message, session)]
    if not messages:
        said = [
            event
            for entry in get_list(chat, "entries")
            for event in _parse_avante_entry(as_dict(entry), session)
        ]
    if not said:
        return
    title = get_text(chat, "title")
    models = [model for message in messages if (model := get_text(message, "model"))]
    yield Facts(
        session,
        cwd,
        title="" if title == "untitled" else title,
        started=next((event.at for event in said if isinstance(event, Message) and event.at), 0),
        model=models[-1] if models else "",
    )
    yield from said
    memory = get_dict(chat, "memory")
    if get_text(memory, "content").strip():
        at = _parse_time(memory.get("last_summarized_timestamp"))
        yield Checkpoint(session, 1, title, get_text(memory, "content").strip(), at)


def _parse_avante_message(entry: dict[str, Any], session: str) -> Iterator[Event]:
    message = get_dict(entry, "message")
    content, at, key = message.get("content"), _parse_time(entry.get("timestamp")), get_text(entry, "uuid")
    if entry.get("visible") is False or entry.get("is_dummy") or entry.get("just_for_display"):
        return
    if message.get("role") == "user":
        typed = entry.get("is_user_submission")
        if typed or (typed is None and isinstance(content, str)):
            yield from make_message(session, USER, as_text(content) or _join_text(content), at=at, key=key)
    elif message.get("role") == "assistant":
        for block in [content] if isinstance(content, str) else as_list(content):
            part = as_dict(block)
            kind = part.get("type")
            if isinstance(block, str) or kind == "text":
                yield from make_message(
                    session, BY_AGENT, as_text(block) or get_text(part, "text"), at=at, key=key
                )
            elif kind == "thinking":
                yield from make_message(session, BY_AGENT, get_text(part, "thinking"), at=at, form="step")
            elif kind == "tool_use":
                name = get_text(part, "name") or "tool"
                yield from parse_call(session, name, parse_object(part.get("input")), at)


def _parse_avante_entry(entry: dict[str, Any], session: str) -> Iterator[Event]:
    at = _parse_time(entry.get("timestamp"))
    yield from make_message(session, USER, get_text(entry, "request"), at=at)
    yield from make_message(session, BY_AGENT, get_text(entry, "response"), at=at)


def _join_text(content: Any) -> str:
    blocks = (as_text(block) or get_text(block, "text") for block in as_list(content))
    return "\n".join(block for block in blocks if block)


def _parse_function(session: str, call: dict[str, Any]) -> Iterator[Event]:
    function = get_dict(call, "function") or call
    name = get_text(function, "name")
    if name:
        yield from parse_call(session, name, parse_object(function.get("arguments")), 0)


def _parse_time(value: Any) -> int:
    """Parse a time; without a zone it is the local time."""
    is_local = isinstance(value, str) and _LOCAL_TIME.fullmatch(value)
    return local_millis(value) if is_local else as_millis(value)


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a complete chat, or the summary of one."""
    size = file_size(source.path)
    folder, name = os.path.split(source.path)
    stem = os.path.splitext(name)[0]
    if source.layout == "summary":
        yield from _read_summary(source.path, folder, stem)
    elif name != "metadata.json":
        document = read_json_file(source.path)
        if isinstance(document, Problem):
            yield document
            return
        # Each plugin numbers its chats, so the session's id names the plugin.
        if source.layout == "avante":
            project = os.path.basename(os.path.dirname(folder))
            session = f"avante-{project}-{stem}"
            root = as_dict(read_json_file(os.path.join(folder, "metadata.json"))).get("project_root")
            events = _parse_avante(document, session, as_text(root))
        elif source.layout == "codecompanion":
            session = f"codecompanion-{stem}"
            events = _parse_codecompanion(document, session, stem)
        else:
            session = f"copilotchat-{stem}"
            events = _parse_copilotchat(document, session, stem)
        yield Begin(session)
        yield from events
    yield Mark(Cursor(size))


def _read_summary(path: str, folder: str, stem: str) -> Iterator[Event | Problem]:
    """Yield CodeCompanion's summary of a chat, if its index names the chat."""
    index = as_dict(read_json_file(os.path.join(os.path.dirname(folder), "summaries_index.json")))
    entry = get_dict(index, stem)
    chat = get_text(entry, "chat_id")
    try:
        overview = read_document(path).decode("utf-8", "replace").strip()
    except NotReadableError as error:
        yield Problem(0, str(error))
        return
    if chat and overview:
        session = f"codecompanion-{chat}"
        yield Begin(session)
        yield Checkpoint(
            session, 1, get_text(entry, "chat_title"), overview, as_millis(entry.get("generated_at"))
        )


AGENT = Agent(
    name="neovim",
    title="Neovim chat plugins",
    label="neovim",
    read=read,
    roots=(
        "$XDG_DATA_HOME|~/.local/share:nvim",
        "$XDG_STATE_HOME|~/.local/state:nvim",
        "$LOCALAPPDATA/nvim-data",
        "~/AppData/Local/nvim-data",
    ),
    layouts=(
        Layout("copilotchat_history/*.json", "copilotchat"),
        Layout("codecompanion-history/chats/*.json", "codecompanion"),
        Layout("codecompanion-history/summaries/*.md", "summary"),
        Layout("avante/projects/*/history/*.json", "avante"),
    ),
    verified=False,
    advice="CopilotChat.nvim keeps a chat only when :CopilotChatSave is used.",
)
