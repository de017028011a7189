"""Aider: one Markdown file in each project, to which every chat is appended."""

from __future__ import annotations

import os
import re
from datetime import datetime

from told.agents._aider_chat import Chat
from told.agents.base import Agent, Layout
from told.guard.jsonl import raw_lines
from told.model import Cursor, Event, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.agents.wiring import Change, Place

_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_STATE = re.compile(r"(\d{1,15}) (\d{1,15})")


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the chats from the cursor on; one that went on since is yielded again as a whole.

    A cursor's offset is how far the file was read, its state where the last chat in there begins.
    """
    offset, line = _resume(source.path, cursor)
    if offset < 0:
        return
    chat: Chat | None = None
    begin = offset, line
    done = offset
    for raw, end in raw_lines(source.path, offset):
        if isinstance(raw, Problem):
            yield raw if raw.line == 0 else Problem(line + 1, raw.reason)
        else:
            content = raw.decode("utf-8", errors="replace").rstrip("\r\n")
            started = _STARTED.fullmatch(content)
            if started:
                if chat is not None:
                    yield from chat.flush()
                    yield Mark(Cursor(done, line, f"{done} {line}"))
                begin = done, line
                chat = Chat(source.path, started[1], _local(started[1]))
                yield from chat.begin()
            elif chat is not None:
                yield from chat.line(content)
        line += 1
        done = end
    if chat is not None:
        yield from chat.flush()
    if done > offset:
        yield Mark(Cursor(done, line, f"{begin[0]} {begin[1]}"))


def _resume(path: str, cursor: Cursor) -> tuple[int, int]:
    """Return the offset and line to read on from; -1 when there is nothing new."""
    try:
        size = os.stat(path).st_size
    except OSError:
        return 0, 0
    if size < cursor.offset:
        return 0, 0
    if size == cursor.offset:
        return (-1, 0) if size else (0, 0)
    state = _STATE.fullmatch(cursor.state)
    if state and int(state[1]) <= cursor.offset:
        return int(state[1]), int(state[2])
    return 0, 0


def _local(started: str) -> int:
    """Read a time that Aider wrote in the time zone of this machine."""
    try:
        return max(0, int(datetime.fromisoformat(started).timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Aider's files."""
    from told.agents._aider_wiring import changes

    return changes(place)


AGENT = Agent(
    name="aider",
    title="Aider",
    label="aider",
    read=read,
    in_projects=(Layout(".aider.chat.history.md"),),
    advice="Run aider in a project once; its chat history file stays in that folder.",
    wire=wire,
    programs=("aider",),
    limits="It has neither hooks nor MCP, and is wired in a project only: --scope project.",
    todo="Start aider with --read CONVENTIONS.md, or say so in .aider.conf.yml.",
)
