"""Cline: the sessions of its CLI, and the tasks of its editor extension."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from told.agents import wiring
from told.agents.base import Agent, Dialect, Layout, ShellSign, editor_folders
from told.agents.reading import FAILED, describe_call, patched_files, read_whole
from told.agents.values import as_dict, as_list, as_millis, as_text, get_dict, get_list, get_text
from told.agents.wiring import OWN, START, STOP, Block, Change, OwnFile, Place
from told.jsontext import parse_json, read_json_file
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Message, Problem, Source, Touch
from told.pattern import lazy_pattern
from told.text import cut_at_word

_INPUT = lazy_pattern(r"<user_input\b[^>]{0,200}>(.*?)(?:</user_input>|\Z)", re.DOTALL)
_INJECTED = lazy_pattern(
    r"<(hook_context|environment_details|system_reminder|file_content)\b[^>]{0,400}>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_CWD = lazy_pattern(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\) Files")
_TYPED = lazy_pattern(r"\s*<(task|feedback|user_message|answer)>(.*?)</\1>", re.DOTALL)
_RESULT = lazy_pattern(r"\[[^\]]*\] Result:?\s*")
_TASK_TOOLS = {
    "readFile": "read", "editedExistingFile": "edit", "newFileCreated": "create", "fileDeleted": "delete",
}  # fmt: skip
_REPLIES = {"followup": "question", "plan_mode_respond": "response"}  # kind -> key of its text


def parse_messages(known: Facts, stored: list[Any]) -> Iterator[Event]:
    """Yield the messages, tool calls and summaries of a session."""
    at = summarised = 0
    failed = _find_failed_calls(stored)
    for message in map(as_dict, stored):
        at = max(at, as_millis(message.get("ts")))
        metadata = get_dict(message, "metadata")
        if metadata.get("kind") == "compaction_summary":
            summarised += 1
            yield from _parse_summary(known.session, summarised, metadata, at)
        elif message.get("role") == "assistant":
            yield from _parse_answer(known.session, message, failed, at)
        elif message.get("role") == "user" and metadata.get("displayRole") != "system":
            yield from _parse_prompt(known, message, at)


def parse_summaries(session: str, stored: list[Any], at: int) -> Iterator[Event]:
    """Yield only the compaction summaries; the session's own file has the other messages."""
    number = 0
    for message in map(as_dict, stored):
        metadata = get_dict(message, "metadata")
        if metadata.get("kind") == "compaction_summary":
            number += 1
            yield from _parse_summary(session, number, metadata, at)


def _parse_summary(session: str, number: int, metadata: dict[str, Any], at: int) -> Iterator[Event]:
    overview = get_text(metadata, "summary").strip()
    details = get_dict(metadata, "details")
    changed = [path for path in get_list(details, "modifiedFiles") if as_text(path)]
    if overview:
        at = as_millis(metadata.get("generatedAt")) or at
        files = "\n".join(changed)
        yield Checkpoint(session, number, "Compaction summary", overview, at, important_files=files)


def _parse_prompt(known: Facts, message: dict[str, Any], at: int) -> Iterator[Event]:
    key = get_text(message, "id")
    for number, block in enumerate(_find_blocks(message)):
        if block.get("type") != "text":
            continue
        written = get_text(block, "text")
        inputs = _INPUT.findall(written)
        said = "\n\n".join(inputs) if inputs else _INJECTED.sub("", written)
        said = said.strip()
        if said:
            # A helper's prompt was written by the agent that called it.
            yield Message(known.session, BY_AGENT if known.kind else USER, said, at, _numbered(key, number))


def _parse_answer(session: str, message: dict[str, Any], failed: set[str], at: int) -> Iterator[Event]:
    key = get_text(message, "id")
    for number, block in enumerate(_find_blocks(message)):
        kind = block.get("type")
        if kind in ("text", "thinking"):
            said = get_text(block, kind).strip()
            form = "text" if kind == "text" else "step"
            if said:
                yield Message(session, BY_AGENT, said, at, _numbered(key, number), form)
        elif kind == "tool_use":
            call, tool = get_text(block, "id"), get_text(block, "name")
            given = get_dict(block, "input")
            touched = list(_find_touched(tool, given))
            about = {"command": given.get("commands"), "path": [path for path, _ in touched], **given}
            yield Message(session, BY_AGENT, describe_call(tool, about), at, call, "step")
            if call in failed:
                yield Message(session, BY_AGENT, FAILED, at, form="step")
            else:
                for path, how in touched:
                    yield Touch(session, path, how, at)


def _find_touched(tool: str, given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the files that a tool call touches, and how."""
    path = get_text(given, "path", "absolutePath")
    if tool == "read_files":
        for file in get_list(given, "files"):
            if found := get_text(file, "path") or as_text(file):
                yield found, "read"
    elif tool == "apply_patch":
        yield from patched_files(get_text(given, "input"))
    elif path and tool == "read_file":
        yield path, "read"
    elif path and tool in ("editor", "replace_in_file"):
        yield path, "edit" if tool == "replace_in_file" or get_text(given, "old_text") else "create"
    elif path and tool in ("write_to_file", "new_rule"):
        yield path, "create"


def _find_blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of a message; plain text is one block."""
    content = message.get("content")
    return (
        [{"type": "text", "text": content}] if isinstance(content, str) else [*map(as_dict, as_list(content))]
    )


def _find_failed_calls(stored: list[Any]) -> set[str]:
    failed = set()
    for message in map(as_dict, stored):
        for block in _find_blocks(message):
            if block.get("type") == "tool_result" and (block.get("is_error") is True or _has_failed(block)):
                failed.add(get_text(block, "tool_use_id"))
    return failed


def _has_failed(block: dict[str, Any]) -> bool:
    content = block.get("content")
    results = [parse_json(content)] if isinstance(content, str) else as_list(content)
    outcomes = [as_dict(result).get("success") for result in results]
    return bool(outcomes) and all(outcome is False for outcome in outcomes)


def _numbered(key: str, number: int) -> str:
    return f"{key}.{number}" if key and number else key


def read_task(path: str, history: list[Any]) -> Iterator[Event | Problem]:
    """Yield the complete task that a conversation's file belongs to.

    The history mixes prompts with the contents of files, so `ui_messages.json` is read if it is there.
    """
    folder = os.path.dirname(path)
    task = os.path.basename(folder)
    known = _make_facts(folder, task, history)
    yield Begin(task)
    yield known
    shown = read_json_file(os.path.join(folder, "ui_messages.json"))
    if isinstance(shown, list):
        yield from _parse_shown(known, shown)
    else:
        yield from _parse_sent(known, history)


def _make_facts(folder: str, task: str, history: list[Any]) -> Facts:
    base = os.path.dirname(os.path.dirname(folder))
    listed = as_list(read_json_file(os.path.join(base, "state", "taskHistory.json")))
    entry: dict[str, Any] = next((one for one in map(as_dict, listed) if one.get("id") == task), {})
    metadata = as_dict(read_json_file(os.path.join(folder, "task_metadata.json")))
    models = [get_text(used, "model_id") for used in get_list(metadata, "model_usage")]
    is_time = task.isascii() and task.isdigit() and len(task) <= 16
    return Facts(
        task,
        cwd=get_text(entry, "cwdOnTaskInitialization") or _find_workspace(history),
        title=cut_at_word(get_text(entry, "task").split("\n")[0], 120),
        started=as_millis(int(task)) if is_time else as_millis(entry.get("ts")),
        model=next(filter(None, reversed(models)), ""),
    )


def _find_workspace(history: list[Any]) -> str:
    for message in map(as_dict, history[:4]):
        for block in _find_blocks(message):
            # Other blocks may quote these words from a file.
            written = get_text(block, "text").lstrip()
            if written.startswith("<environment_details>") and (found := _CWD.search(written)):
                return found[1]
    return ""


def _parse_shown(known: Facts, shown: list[Any]) -> Iterator[Event]:
    """Yield what the chat showed; the first text is the user's task."""
    at, is_first = known.started, True
    for message in map(as_dict, shown):
        kind, said = as_text(message.get("say") or message.get("ask")), get_text(message, "text").strip()
        at = max(at, as_millis(message.get("ts")))
        key = f"{known.session}:{message.get('ts')}:{kind}"
        if message.get("partial") is True or not said:
            continue
        if kind in ("user_feedback", "task") or (kind == "text" and is_first):
            is_first = False
            yield Message(known.session, USER, said, at, key)
        elif kind in ("text", "completion_result"):
            yield Message(known.session, BY_AGENT, said, at, key)
        elif kind in _REPLIES:
            reply = as_dict(parse_json(said)).get(_REPLIES[kind])
            yield Message(known.session, BY_AGENT, as_text(reply).strip() or said, at, key)
        elif kind == "reasoning":
            yield Message(known.session, BY_AGENT, said, at, key, "step")
        elif kind == "command":
            yield Message(known.session, BY_AGENT, describe_call(kind, {"command": said}), at, key, "step")
        elif kind == "tool":
            call = as_dict(parse_json(said))
            tool, path = get_text(call, "tool"), get_text(call, "path")
            yield Message(known.session, BY_AGENT, describe_call(tool, {"path": path}), at, key, "step")
            if path and tool in _TASK_TOOLS:
                yield Touch(known.session, os.path.join(known.cwd, path), _TASK_TOOLS[tool], at)


def _parse_sent(known: Facts, history: list[Any]) -> Iterator[Event]:
    at = known.started
    for message in map(as_dict, history):
        at = max(at, as_millis(message.get("ts")))
        is_result = False
        for block in _find_blocks(message):
            written = get_text(block, "text")
            if block.get("type") == "text" and message.get("role") == "assistant" and written.strip():
                yield Message(known.session, BY_AGENT, written.strip(), at)
            elif block.get("type") == "text" and message.get("role") == "user":
                typed = None if is_result else _TYPED.match(written)
                is_result = bool(_RESULT.fullmatch(written))
                if typed and typed[2].strip():
                    yield Message(known.session, USER, typed[2].strip(), at)
            elif block.get("type") == "tool_use":
                tool, given = get_text(block, "name"), get_dict(block, "input")
                yield Message(known.session, BY_AGENT, describe_call(tool, given), at, form="step")
                for path, how in _find_touched(tool, given):
                    yield Touch(known.session, os.path.join(known.cwd, path), how, at)


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_SERVERS = ("~/.vscode-server/data", "~/.vscode-server-insiders/data", "~/.cursor-server/data")
_TASK = "tasks/*/api_conversation_history.json"


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the complete session of a file."""

    def parse(document: Any) -> Iterator[Event | Problem]:
        if source.layout == "task":
            return read_task(source.path, as_list(document))
        if source.layout == "compaction":
            return _parse_compaction(as_dict(document))
        return _read_session(source.path, as_dict(document))

    return read_whole(source.path, parse)


def _read_session(path: str, document: dict[str, Any]) -> Iterator[Event | Problem]:
    folder, name = os.path.split(path)
    session = get_text(document, "sessionId") or name.removesuffix(".messages.json")
    origin = get_dict(document, "origin")
    is_helper = document.get("agent") == "subagent" or origin.get("mode") == "subagent"
    main = os.path.basename(folder)
    manifest = read_json_file(os.path.join(folder, f"{main}.json"))
    parent = (get_text(origin, "parentThreadId") or main) if is_helper else ""
    facts = Facts(session, parent=parent, kind="subagent" if is_helper else "")
    yield Begin(session)
    if isinstance(manifest, dict):
        facts = _add_manifest(facts, manifest)
    elif isinstance(manifest, Problem):
        yield Problem(0, f"manifest: {manifest.reason}")
    yield facts
    yield from parse_messages(facts, get_list(document, "messages"))


def _add_manifest(facts: Facts, manifest: dict[str, Any]) -> Facts:
    """Add a session's manifest; a helper has no title of its own."""
    metadata = get_dict(manifest, "metadata")
    git = get_dict(metadata, "git")
    return replace(
        facts,
        cwd=get_text(manifest, "cwd", "workspace_root"),
        branch=get_text(git, "branch"),
        repository=get_text(git, "url"),
        title="" if facts.kind else get_text(metadata, "title"),
        started=0 if facts.kind else as_millis(manifest.get("started_at")),
        model=get_text(manifest, "model"),
    )


def _parse_compaction(document: dict[str, Any]) -> Iterator[Event | Problem]:
    session = get_text(document, "conversation_id")
    if not session:
        yield Problem(0, "no conversation id")
        return
    yield Begin(session)
    messages, at = get_list(document, "messages"), as_millis(document.get("updated_at"))
    yield from parse_summaries(session, messages, at)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Cline's files."""
    text = f"<!-- {OWN} -->\n{place.guide}\n"
    if place.is_project:
        rules = place.in_project(".clinerules")
        if os.path.isfile(rules):
            return (Block(rules, place.guide),)
        if os.path.isdir(rules):
            return (OwnFile(place.join(rules, "told.md"), text),)
        # A new .clinerules would stop Cline from reading the rules of other agents.
        return wiring.agents_file(place)
    folder = place.folder("CLINE_DIR", ".cline")
    settings = place.join(folder, "data", "settings", "cline_mcp_settings.json")
    return (
        # Without a timeout, Cline waits three seconds for a server and then silently ignores it.
        *wiring.mcp_entry(place, settings, timeout=60, disabled=False),
        OwnFile(place.join(folder, "rules", "told.md"), text),
    )


AGENT = Agent(
    name="cline",
    title="Cline",
    label="cline",
    read=read,
    # No root_variable: CLINE_DIR moves only the CLI's folder.
    roots=(
        "$CLINE_DIR|~/.cline",
        *(root for editor in _EDITORS for root in editor_folders(editor)),
        *_SERVERS,
    ),
    layouts=(
        Layout("data/sessions/*/*.messages.json", "session"),
        Layout("data/sessions/*/*.compaction.json", "compaction"),
        Layout(f"data/{_TASK}", "task"),
        Layout(f"User/globalStorage/saoudrizwan.claude-dev/{_TASK}", "task"),
    ),
    advice="Start a task in Cline once; told reads it from then on.",
    wire=wire,
    programs=("cline",),
    install_signs=("$CLINE_DIR", "~/.cline"),
    limits="Its hooks cannot brief it at a start or a prompt: it asks told because its rules say so.",
    dialect=Dialect(
        {"taskstart": START, "taskresume": START, "taskcomplete": STOP},
        lambda _call, text: {"cancel": False, "contextModification": text},
    ),
    shell_signs=(ShellSign("CLINE_ACTIVE", rank=2),),  # the terminal that it opens
    instruction_files=(".clinerules", ".clinerules/*.md"),
)
