"""The messages of a Cline CLI session: the prompt inside its wrapping, replies and tool calls."""

from __future__ import annotations

import re

from told.agents.text import FAILED, items, mapping, millis, step, text
from told.guard.jsonl import parse
from told.model import AGENT, USER, Checkpoint, Event, Facts, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_INPUT = re.compile(r"<user_input\b[^>]{0,200}>(.*?)(?:</user_input>|\Z)", re.DOTALL)
_INJECTED = re.compile(
    r"<(hook_context|environment_details|system_reminder|file_content)\b[^>]{0,400}>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_HOW = {"Add": "create", "Update": "edit", "Delete": "delete"}


def events(known: Facts, stored: list[Any]) -> Iterator[Event]:
    """Yield what was said and touched."""
    at = summarised = 0
    failed = _failed_calls(stored)
    for message in map(mapping, stored):
        at = max(at, millis(message.get("ts")))
        metadata = mapping(message.get("metadata"))
        if metadata.get("kind") == "compaction_summary":
            summarised += 1
            yield from _summary(known.session, summarised, metadata, at)
        elif message.get("role") == "assistant":
            yield from _answered(known.session, message, failed, at)
        elif message.get("role") == "user" and metadata.get("displayRole") != "system":
            yield from _asked(known, message, at)


def summaries(session: str, stored: list[Any], at: int) -> Iterator[Event]:
    """Yield only the compaction summaries among messages that also stand in the session's own file."""
    number = 0
    for message in map(mapping, stored):
        metadata = mapping(message.get("metadata"))
        if metadata.get("kind") == "compaction_summary":
            number += 1
            yield from _summary(session, number, metadata, at)


def _summary(session: str, number: int, metadata: dict[str, Any], at: int) -> Iterator[Event]:
    overview = text(metadata.get("summary")).strip()
    details = mapping(metadata.get("details"))
    changed = [path for path in items(details.get("modifiedFiles")) if text(path)]
    if overview:
        at = millis(metadata.get("generatedAt")) or at
        files = "\n".join(changed)
        yield Checkpoint(session, number, "Compaction summary", overview, at, important_files=files)


def _asked(known: Facts, message: dict[str, Any], at: int) -> Iterator[Event]:
    key = text(message.get("id"))
    for number, block in enumerate(blocks(message)):
        if block.get("type") != "text":
            continue
        written = text(block.get("text"))
        inputs = _INPUT.findall(written)
        said = "\n\n".join(inputs) if inputs else _INJECTED.sub("", written)
        said = said.strip()
        if said:
            # A helper's task was written by the agent that called it, not by the user.
            yield Said(known.session, AGENT if known.kind else USER, said, at, _numbered(key, number))


def _answered(session: str, message: dict[str, Any], failed: set[str], at: int) -> Iterator[Event]:
    key = text(message.get("id"))
    for number, block in enumerate(blocks(message)):
        kind = block.get("type")
        if kind in ("text", "thinking"):
            said = text(block.get(kind)).strip()
            form = "text" if kind == "text" else "step"
            if said:
                yield Said(session, AGENT, said, at, _numbered(key, number), form)
        elif kind == "tool_use":
            call, tool = text(block.get("id")), text(block.get("name"))
            given = mapping(block.get("input"))
            touched = list(touches(tool, given))
            about = {"command": given.get("commands"), "path": [path for path, _ in touched], **given}
            yield Said(session, AGENT, step(tool, about), at, call, "step")
            if call in failed:
                yield Said(session, AGENT, FAILED, at, form="step")
            else:
                for path, how in touched:
                    yield Touch(session, path, how, at)


def touches(tool: str, given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the files a tool call is about and what it does to them."""
    path = text(given.get("path")) or text(given.get("absolutePath"))
    if tool == "read_files":
        for file in items(given.get("files")):
            if found := text(mapping(file).get("path")) or text(file):
                yield found, "read"
    elif tool == "apply_patch":
        for action, patched in _PATCHED.findall(text(given.get("input"))):
            yield patched.strip(), _PATCH_HOW[action]
    elif path and tool == "read_file":
        yield path, "read"
    elif path and tool in ("editor", "replace_in_file"):
        yield path, "edit" if tool == "replace_in_file" or text(given.get("old_text")) else "create"
    elif path and tool in ("write_to_file", "new_rule"):
        yield path, "create"


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message's content as blocks; plain text is one block."""
    content = message.get("content")
    return (
        [{"type": "text", "text": content}] if isinstance(content, str) else [*map(mapping, items(content))]
    )


def _failed_calls(stored: list[Any]) -> set[str]:
    failed = set()
    for message in map(mapping, stored):
        for block in blocks(message):
            if block.get("type") == "tool_result" and (block.get("is_error") is True or _failed(block)):
                failed.add(text(block.get("tool_use_id")))
    return failed


def _failed(block: dict[str, Any]) -> bool:
    content = block.get("content")
    results = [parse(content)] if isinstance(content, str) else items(content)
    outcomes = [mapping(result).get("success") for result in results]
    return bool(outcomes) and all(outcome is False for outcome in outcomes)


def _numbered(key: str, number: int) -> str:
    return f"{key}.{number}" if key and number else key
