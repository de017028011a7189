"""What Codex's finished items mean, in rollout files and in its history database alike."""

from __future__ import annotations

import os
import re

from told.agents.text import FAILED, REFUSED, is_failure, items, mapping, step, text
from told.model import AGENT, USER, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.model import Event

_HOW = {"add": "create", "update": "edit", "delete": "delete"}
_PATCH = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_MOVE = re.compile(r"^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_SHELL_FLAGS = {"-c", "-lc", "-lic", "/c", "-Command"}

# How text begins that Codex itself put into a user's message.
_INJECTED = (
    "<environment_context", "<user_instructions", "<user_shell_command", "<turn_aborted", "<skill>",
    "<subagent_notification", "<permissions instructions", "<collaboration_mode", "<apps_instructions",
    "<INSTRUCTIONS", "<hook_", "# AGENTS.md instructions", "Another language model started to solve",
)  # fmt: skip
_IDE_REQUEST = "## My request for Codex:"


def typed(content: str) -> str:
    """Return what the person typed of a user message; nothing when Codex wrote it."""
    if content.lstrip().startswith(_INJECTED):
        return ""
    if content.startswith("# Context from my IDE setup:") and _IDE_REQUEST in content:
        content = content.partition(_IDE_REQUEST)[2]
    return content.strip()


def joined(content: Any) -> str:
    """Join the text parts of a message, leaving out those that Codex put there."""
    if isinstance(content, str):
        return content
    parts = [text(mapping(part).get("text")) for part in items(content)]
    return "\n".join(part for part in parts if part.strip() and not part.lstrip().startswith(_INJECTED))


def item_events(session: str, item: dict[str, Any], at: int, cwd: str, by_user: bool) -> Iterator[Event]:
    """Yield what one finished item says. `by_user` is false where a user message comes from another agent."""
    kind, key = text(item.get("type")), text(item.get("id"))
    kind = kind[:1].lower() + kind[1:]
    if kind == "userMessage":
        if by_user and (said := typed(joined(item.get("content")))):
            yield Said(session, USER, said, at, key)
    elif kind in {"agentMessage", "plan"}:
        if (said := text(item.get("text")) or joined(item.get("content"))).strip():
            yield Said(session, AGENT, said, at, key)
    elif kind == "reasoning":
        summary = items(item.get("summary_text")) or items(item.get("summary"))
        if said := "\n".join(text(part) for part in summary).strip():
            yield Said(session, AGENT, said, at, key, "step")
    elif kind == "commandExecution":
        yield from _command(session, item, at, cwd)
    elif kind == "fileChange":
        yield from _changes(session, item, at, cwd)
    elif kind == "mcpToolCall":
        tool = ".".join(filter(None, (text(item.get("server")), text(item.get("tool")))))
        yield Said(session, AGENT, step(tool, item.get("arguments")), at, key, "step")
        yield from _end(session, item, at)
    elif kind == "webSearch":
        yield Said(session, AGENT, step("web_search", item), at, key, "step")


def call_events(session: str, call: dict[str, Any], at: int, cwd: str, arguments: Any) -> Iterator[Event]:
    """Yield what a tool call of an older rollout says: a line about it, and the files a patch in it names."""
    given = mapping(arguments)
    tool, key = text(call.get("name")) or text(call.get("type")), text(call.get("call_id"))
    command = given.get("command") or given.get("cmd") or given.get("input") or call.get("input")
    words = [word for word in items(command) if isinstance(word, str)] or [text(command)]
    script = _script(words)
    folder = absolute(text(given.get("workdir")) or text(given.get("cwd")) or cwd, cwd)
    touches = list(patched(session, script, at, folder)) if "*** Begin Patch" in script else []
    if touches:
        yield Said(session, AGENT, step("apply_patch", {"path": touches[0].path}), at, key, "step")
        yield from touches
    else:
        shown = {**given, "command": script} if script else given
        yield Said(session, AGENT, step(tool, shown), at, key, "step")


def patched(session: str, patch: str, at: int, cwd: str) -> Iterator[Touch]:
    """Yield the files that a patch in Codex's own format adds, updates, moves or deletes."""
    for verb, path in _PATCH.findall(patch):
        yield Touch(session, absolute(path, cwd), _HOW[verb.lower()], at)
    for path in _MOVE.findall(patch):
        yield Touch(session, absolute(path, cwd), "create", at)


def absolute(path: str, cwd: str) -> str:
    """Resolve a path, or a file URI, that Codex wrote down against the folder it worked in."""
    if path.startswith("file://"):
        from urllib.parse import unquote

        path = unquote(path.removeprefix("file://"))
    if not path or not cwd or path.startswith("~"):
        return path
    return os.path.normpath(os.path.join(cwd, path))


def _script(words: list[str]) -> str:
    """Return what a shell was told to run, without the shell."""
    return words[2] if len(words) == 3 and words[1] in _SHELL_FLAGS else " ".join(words)


def _command(session: str, item: dict[str, Any], at: int, cwd: str) -> Iterator[Event]:
    folder = absolute(text(item.get("cwd")), cwd) or cwd
    actions = [mapping(part) for part in items(item.get("parsed_cmd")) or items(item.get("commandActions"))]
    words = [word for word in items(item.get("command")) if isinstance(word, str)]
    alone = text(actions[0].get("command")) if len(actions) == 1 else ""
    script = _script(words) if words else alone or text(item.get("command"))
    yield Said(session, AGENT, step("shell", {"command": script}), at, text(item.get("id")), "step")
    yield from _end(session, item, at)
    for action in actions:
        if action.get("type") == "read" and text(action.get("path")):
            yield Touch(session, absolute(action["path"], folder), "read", at)


def _end(session: str, item: dict[str, Any], at: int) -> Iterator[Event]:
    """Yield how an item ended, if not well."""
    status, code = text(item.get("status")), item.get("exit_code") or item.get("exitCode")
    if status == "declined":
        yield Said(session, AGENT, REFUSED, at, form="step")
    elif status == "failed" or is_failure(code):
        yield Said(session, AGENT, FAILED, at, form="step")


def _changes(session: str, item: dict[str, Any], at: int, cwd: str) -> Iterator[Event]:
    changes = item.get("changes")
    if isinstance(changes, dict):
        named = [(path, mapping(change)) for path, change in changes.items()]
    else:
        listed = [mapping(change) for change in items(changes)]
        named = [(text(change.get("path")), mapping(change.get("kind"))) for change in listed]
    named = [(path, change) for path, change in named if path]
    if not named:
        return
    line = step("apply_patch", {"path": named[0][0]})
    yield Said(session, AGENT, line, at, text(item.get("id")), "step")
    yield from _end(session, item, at)
    if text(item.get("status")) not in {"", "completed"}:
        return
    for path, change in named:
        moved = text(change.get("move_path")) or text(change.get("movePath"))
        how = "delete" if moved else _HOW.get(text(change.get("type")), "edit")
        yield Touch(session, absolute(path, cwd), how, at)
        if moved:
            yield Touch(session, absolute(moved, cwd), "create", at)
