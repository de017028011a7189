"""What opencode's messages and their parts say; the same in its database and in its files."""

from __future__ import annotations

import re

from told.agents.text import FAILED, is_failure, items, mapping, millis, step, text
from told.model import AGENT, USER, Checkpoint, Event, Facts, Said, Touch
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_TOUCHES = {"read": "read", "write": "edit", "edit": "edit", "multiedit": "edit", "patch": "edit"}
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_HOW = {"Add": "create", "Update": "edit", "Delete": "delete"}
_UNNAMED = ("New session - ", "Child session - ")


@record
class Message:
    """A message as opencode stores it, with the ids and contents of its parts."""

    info: dict[str, Any]
    parts: list[tuple[str, dict[str, Any]]]
    at: int


def facts(session: str, stored: dict[str, Any], messages: list[Message]) -> Facts:
    """Return what opencode wrote down about a session."""
    title, parent = text(stored.get("title")), text(stored.get("parentID"))
    times = mapping(stored.get("time"))
    model = text(mapping(stored.get("model")).get("id"))
    return Facts(
        session,
        cwd=text(stored.get("directory")),
        title="" if title.startswith(_UNNAMED) else title,
        started=millis(times.get("created")),
        parent=parent,
        kind="subagent" if parent else "",
        archived=bool(times.get("archived")),
        model=model or next((name for one in messages if (name := text(one.info.get("modelID")))), ""),
    )


def events(known: Facts, messages: list[Message]) -> Iterator[Event]:
    """Yield what was said and touched in a session's messages."""
    summaries = 0
    for message in messages:
        role = message.info.get("role")
        if role == "user":
            yield from _asked(known, message)
        elif role == "assistant" and message.info.get("summary") is True:
            overview = _visible(message)
            if overview:
                summaries += 1
                yield Checkpoint(known.session, summaries, "Compaction summary", overview, message.at)
        elif role == "assistant":
            yield from _answered(known.session, message)


def _asked(known: Facts, message: Message) -> Iterator[Event]:
    for key, part in message.parts:
        if part.get("type") == "file":
            path = text(mapping(part.get("source")).get("path"))
            if path:
                yield Touch(known.session, path, "read", message.at)
        elif _is_visible(part):
            said = _unquoted(text(part.get("text")).strip())
            # A helper's task was written by the agent that called it, not by the user.
            who = AGENT if known.kind else USER
            if said:
                yield Said(known.session, who, said, message.at, key)


def _answered(session: str, message: Message) -> Iterator[Event]:
    touched: set[str] = set()
    for key, part in message.parts:
        kind = part.get("type")
        if kind in ("text", "reasoning"):
            said = text(part.get("text")).strip()
            if said and part.get("synthetic") is not True:
                form = "text" if kind == "text" else "step"
                yield Said(session, AGENT, said, message.at, key, form)
        elif kind == "tool":
            tool, state = text(part.get("tool")), mapping(part.get("state"))
            yield Said(session, AGENT, step(tool, state.get("input")), message.at, key, "step")
            failed = state.get("status") == "error"
            if failed or is_failure(mapping(state.get("metadata")).get("exit")):
                yield Said(session, AGENT, FAILED, message.at, form="step")
            if not failed:
                for path, how in _touches(tool, state):
                    touched.add(path)
                    yield Touch(session, path, how, message.at)
        elif kind == "patch":  # what really changed on disk, also through a shell command
            for path in items(part.get("files")):
                if text(path) and path not in touched:
                    yield Touch(session, path, "edit", message.at)


def _touches(tool: str, state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    given = mapping(state.get("input"))
    if tool in ("apply_patch", "patch"):
        for action, path in _PATCHED.findall(text(given.get("patchText"))):
            yield path.strip(), _PATCH_HOW[action]
    how, path = _TOUCHES.get(tool), text(given.get("filePath"))
    if how and path:
        is_new = tool == "write" and mapping(state.get("metadata")).get("exists") is False
        yield path, "create" if is_new else how


def _is_visible(part: dict[str, Any]) -> bool:
    return (
        part.get("type") == "text" and part.get("synthetic") is not True and part.get("ignored") is not True
    )


def _visible(message: Message) -> str:
    return "\n\n".join(
        text(part.get("text")).strip() for _, part in message.parts if _is_visible(part)
    ).strip()


def _unquoted(said: str) -> str:
    """Undo the quotes that `opencode run` puts around an argument with spaces."""
    inner = said[1:-1]
    if len(said) < 3 or said[0] != '"' or said[-1] != '"' or re.search(r'(?<!\\)"', inner):
        return said
    return inner.replace('\\"', '"').strip()
