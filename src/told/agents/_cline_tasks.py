"""A task of Cline's editor extension: `ui_messages.json` says who said what, and when.

What the model was sent (`api_conversation_history.json`) mixes the user's words with the contents of
files, so it is only read for prompts when the other file is gone, and then with care.
"""

from __future__ import annotations

import os
import re

from told.agents import _cline_messages as messages
from told.agents.text import items, mapping, millis, step, text
from told.guard.cutting import whole_words
from told.guard.jsonl import json_document, parse
from told.model import AGENT, USER, Begin, Event, Facts, Problem, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\) Files")
_TYPED = re.compile(r"\s*<(task|feedback|user_message|answer)>(.*?)</\1>", re.DOTALL)
_RESULT = re.compile(r"\[[^\]]*\] Result:?\s*")

_TOUCHES = {
    "readFile": "read", "editedExistingFile": "edit", "newFileCreated": "create", "fileDeleted": "delete",
}  # fmt: skip
_REPLIES = {"followup": "question", "plan_mode_respond": "response"}  # kind of message: where its text is


def read(path: str, history: list[Any]) -> Iterator[Event | Problem]:
    """Yield the whole task that a file of its conversation belongs to."""
    folder = os.path.dirname(path)
    task = os.path.basename(folder)
    known = _facts(folder, task, history)
    yield Begin(task)
    yield known
    shown = json_document(os.path.join(folder, "ui_messages.json"))
    if isinstance(shown, list):
        yield from _shown(known, shown)
    else:
        yield from _sent(known, history)


def _facts(folder: str, task: str, history: list[Any]) -> Facts:
    base = os.path.dirname(os.path.dirname(folder))
    listed = items(json_document(os.path.join(base, "state", "taskHistory.json")))
    entry: dict[str, Any] = next((one for one in map(mapping, listed) if one.get("id") == task), {})
    metadata = mapping(json_document(os.path.join(folder, "task_metadata.json")))
    models = [text(mapping(used).get("model_id")) for used in items(metadata.get("model_usage"))]
    is_time = task.isascii() and task.isdigit() and len(task) <= 16
    return Facts(
        task,
        cwd=text(entry.get("cwdOnTaskInitialization")) or _workspace(history),
        title=whole_words(text(entry.get("task")).split("\n")[0], 120),
        started=millis(int(task)) if is_time else millis(entry.get("ts")),
        model=next(filter(None, reversed(models)), ""),
    )


def _workspace(history: list[Any]) -> str:
    for message in map(mapping, history[:4]):
        for block in messages.blocks(message):
            # Only the environment block is Cline's own; the same words may stand in a file it read.
            written = text(block.get("text")).lstrip()
            if written.startswith("<environment_details>") and (found := _CWD.search(written)):
                return found[1]
    return ""


def _shown(known: Facts, shown: list[Any]) -> Iterator[Event]:
    """Yield what stood in the chat: the first text is the user's task."""
    at, is_first = known.started, True
    for message in map(mapping, shown):
        kind, said = text(message.get("say") or message.get("ask")), text(message.get("text")).strip()
        at = max(at, millis(message.get("ts")))
        key = f"{known.session}:{message.get('ts')}:{kind}"
        if message.get("partial") is True or not said:
            continue
        if kind in ("user_feedback", "task") or (kind == "text" and is_first):
            is_first = False
            yield Said(known.session, USER, said, at, key)
        elif kind in ("text", "completion_result"):
            yield Said(known.session, AGENT, said, at, key)
        elif kind in _REPLIES:
            reply = mapping(parse(said)).get(_REPLIES[kind])
            yield Said(known.session, AGENT, text(reply).strip() or said, at, key)
        elif kind == "reasoning":
            yield Said(known.session, AGENT, said, at, key, "step")
        elif kind == "command":
            yield Said(known.session, AGENT, step(kind, {"command": said}), at, key, "step")
        elif kind == "tool":
            call = mapping(parse(said))
            tool, path = text(call.get("tool")), text(call.get("path"))
            yield Said(known.session, AGENT, step(tool, {"path": path}), at, key, "step")
            if path and tool in _TOUCHES:
                yield Touch(known.session, os.path.join(known.cwd, path), _TOUCHES[tool], at)


def _sent(known: Facts, history: list[Any]) -> Iterator[Event]:
    at = known.started
    for message in map(mapping, history):
        at = max(at, millis(message.get("ts")))
        is_result = False
        for block in messages.blocks(message):
            written = text(block.get("text"))
            if block.get("type") == "text" and message.get("role") == "assistant" and written.strip():
                yield Said(known.session, AGENT, written.strip(), at)
            elif block.get("type") == "text" and message.get("role") == "user":
                typed = None if is_result else _TYPED.match(written)
                is_result = bool(_RESULT.fullmatch(written))
                if typed and typed[2].strip():
                    yield Said(known.session, USER, typed[2].strip(), at)
            elif block.get("type") == "tool_use":
                tool, given = text(block.get("name")), mapping(block.get("input"))
                yield Said(known.session, AGENT, step(tool, given), at, form="step")
                for path, how in messages.touches(tool, given):
                    yield Touch(known.session, os.path.join(known.cwd, path), how, at)
