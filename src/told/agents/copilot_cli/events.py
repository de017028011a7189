"""Read Copilot CLI's event files, and workspace.yaml, plan.md and checkpoints beside them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from told.agents.reading import FAILED, REFUSED, RecentCalls, describe_call, is_failure, read_log
from told.agents.values import as_list, as_millis, as_text, get_dict, get_dicts, get_text, parse_object
from told.files import NotReadableError, get_change_time, read_document
from told.jsontext import parse_json
from told.model import AGENT, USER, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch
from told.pattern import lazy_pattern
from told.text import cut_at_word

_MAX_NOTE = 1024 * 1024  # bytes
_MAX_NOTES = 500
SECTIONS = ("overview", "history", "work_done", "technical_details", "important_files", "next_steps")
_SECTION = lazy_pattern(rf"<({'|'.join(SECTIONS)})>\s*(.*?)\s*</\1>", re.DOTALL)
_TITLE = lazy_pattern(r"<checkpoint_title>\s*(.*?)\s*</checkpoint_title>", re.DOTALL)
_FILE = lazy_pattern(r"0*(\d{1,6})[-_. ].*\.md$|0*(\d{1,6})\.md$")
_KEY = lazy_pattern(r"([A-Za-z_][\w-]*):(?:\s+(.*))?$")
_HUMAN_SOURCES = {"", "user", "human", "immediate-prompt"}
_CHANGES = {
    "create": "create", "write": "create", "edit": "edit", "str_replace": "edit", "insert": "edit",
    "str_replace_editor": "edit", "delete": "delete",
}  # fmt: skip
_EDIT_KINDS = {"create": "create", "add": "create", "delete": "delete", "remove": "delete"}
_MAX_OPEN = 100  # calls that have started and not ended


def read_workspace(folder: str, session: str) -> Iterator[Facts]:
    """Yield the facts in a session folder's workspace.yaml."""
    said = parse_flat_yaml(_read_note(os.path.join(folder, "workspace.yaml")))
    facts = Facts(
        session,
        cwd=said.get("cwd") or said.get("git_root", ""),
        branch=said.get("branch", ""),
        repository=said.get("repository", ""),
        title=said.get("name") or said.get("summary", ""),
        title_by=USER if said.get("user_named") == "true" else AGENT,
        started=as_millis(said.get("created_at")),
    )
    if facts != Facts(session, title_by=facts.title_by):
        yield facts


def _read_checkpoints(folder: str, session: str) -> Iterator[Checkpoint]:
    """Yield a session folder's plan, as number 0, and its numbered checkpoints."""
    plan = os.path.join(folder, "plan.md")
    if overview := _read_note(plan).strip():
        yield Checkpoint(session, 0, "Plan", overview, get_change_time(plan))
    below = os.path.join(folder, "checkpoints")
    titles = _parse_titles(_read_note(os.path.join(below, "index.md")))
    for number, name in sorted(_numbered_files(below).items()):
        path = os.path.join(below, name)
        yield from _make_checkpoint(
            session, number, titles.get(number, ""), _read_note(path), get_change_time(path)
        )


def _make_checkpoint(session: str, number: int, title: str, content: str, at: int) -> Iterator[Checkpoint]:
    """Split a checkpoint's text into its sections; text without any is its overview."""
    if not content.strip():
        return
    sections = {name: body for name, body in _SECTION.findall(content) if body}
    overview = sections.pop("overview", "") or ("" if sections else content.strip())
    named = _TITLE.search(content)
    title = title or (named[1] if named else "") or _first_line(overview)
    yield Checkpoint(session, number, title, overview, at, **sections)


def parse_flat_yaml(content: str) -> dict[str, str]:
    """Return the `key: value` lines at the left edge, without nested values."""
    found: dict[str, str] = {}
    block = ""
    for line in content.splitlines():
        if block and (not line.strip() or line[0] in " \t"):
            found[block] = f"{found[block]}\n{line.strip()}".strip("\n")
            continue
        block = ""
        if match := _KEY.match(line):
            key, value = match[1], (match[2] or "").strip()
            if re.fullmatch(r"[|>][-+\d]*", value):
                block, value = key, ""
            found[key] = _parse_scalar(value)
    return {key: value.rstrip() for key, value in found.items()}


def _parse_scalar(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        parsed = parse_json(f"[{value}]")
        return as_text(parsed[0]) if isinstance(parsed, list) and parsed else value[1:-1]
    value = re.split(r"(?:^|\s)#", value, maxsplit=1)[0].rstrip()
    return "" if value in {"null", "~"} else value


def _parse_titles(index: str) -> dict[int, str]:
    """Return the titles in the table of checkpoints/index.md."""
    titles = {}
    for line in index.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 2 and re.fullmatch(r"[0-9]{1,6}", cells[0]):
            titles[int(cells[0])] = cells[1]
    return titles


def _numbered_files(folder: str) -> dict[int, str]:
    found: dict[int, str] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                match = _FILE.match(entry.name)
                if match and entry.is_file(follow_symlinks=False) and len(found) < _MAX_NOTES:
                    found[int(match[1] or match[2])] = entry.name
    except (OSError, ValueError):
        return {}
    return found


def _read_note(path: str) -> str:
    if os.path.islink(path):
        return ""
    try:
        return read_document(path, _MAX_NOTE).decode(errors="replace").removeprefix("\ufeff")
    except NotReadableError:
        return ""


def _first_line(content: str) -> str:
    line = next((line.strip("# \t") for line in content.splitlines() if line.strip("# \t")), "")
    return cut_at_word(line, 120)


def read_events(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield an event file's events from the cursor on."""
    folder, name = os.path.split(source.path)
    if name == "events.jsonl":
        session = os.path.basename(folder)
    else:
        session = name.removesuffix(".jsonl")
        folder = os.path.join(folder, session)
    log = _EventLog(session, folder, cursor.state)
    last: Mark | None = None
    for event in read_log(source.path, cursor, log.parse_line, log.state):
        if last is not None:
            yield last
        last = event if isinstance(event, Mark) else None
        if last is None:
            yield event
    if last is not None:  # the files beside it are read with what is new
        yield from read_workspace(folder, session)
        yield from _read_checkpoints(folder, session)
        yield last


class _EventLog:
    """Parse one event file, and remember changes that have started."""

    def __init__(self, session: str, folder: str, state: str) -> None:
        self._session = session
        self._folder = folder
        saved = parse_object(state)
        self._open = {
            call: (how, path)
            for call, change in get_dict(saved, "open").items()
            if len(pair := as_list(change)) == 2 and (how := as_text(pair[0])) and (path := as_text(pair[1]))
        }
        self._calls = RecentCalls(saved.get("calls"))

    def state(self) -> str:
        saved = {"open": self._open, "calls": self._calls.saved()}
        return json.dumps(saved) if any(saved.values()) else ""

    def parse_line(self, line: dict[str, Any]) -> Iterator[Event]:
        data, at, kind = (get_dict(line, "data"), as_millis(line.get("timestamp")), get_text(line, "type"))
        helper = get_text(line, "agentId")
        session = f"{self._session}/{helper}" if helper else self._session
        key = get_text(data, "messageId") or get_text(line, "id")
        if kind == "user.message":
            content = get_text(data, "content")
            if get_text(data, "source") in _HUMAN_SOURCES and not helper and content.strip():
                yield Message(session, USER, content, at, key)
        elif kind == "assistant.message":
            yield from self._parse_answer(session, data, at, key)
        elif kind == "tool.execution_start":
            yield from self._parse_start(session, data, at)
        elif kind == "tool.execution_complete":
            yield from self._parse_end(session, data, at)
        elif kind in {"session.start", "session.resume", "session.context_changed"} and not helper:
            yield self._parse_context(data, at if kind == "session.start" else 0)
        elif kind == "session.title_changed" and not helper and get_text(data, "title"):
            yield Facts(session, title=data["title"])
        elif kind == "session.model_change" and get_text(data, "newModel"):
            yield Facts(session, model=data["newModel"])
        elif kind == "session.compaction_complete" and not helper:
            yield from self._parse_compaction(data, at)
        elif kind == "subagent.started" and helper:
            title = get_text(data, "agentDisplayName", "agentName")
            model = get_text(data, "model")
            yield Facts(session, title=title, started=at, parent=self._session, kind="subagent", model=model)

    def _parse_context(self, data: dict[str, Any], at: int) -> Facts:
        context = get_dict(data, "context") or data
        return Facts(
            self._session,
            cwd=get_text(context, "cwd", "gitRoot"),
            branch=get_text(context, "branch"),
            repository=get_text(context, "repository"),
            started=(as_millis(data.get("startTime")) or at) if at else 0,
            model=get_text(data, "selectedModel"),
        )

    def _parse_answer(self, session: str, data: dict[str, Any], at: int, key: str) -> Iterator[Event]:
        if get_text(data, "reasoningText").strip():
            yield Message(session, AGENT, data["reasoningText"], at, f"{key}:thought", "step")
        if get_text(data, "content").strip():
            yield Message(session, AGENT, data["content"], at, key)
        for request in get_dicts(data, "toolRequests"):
            if tool := get_text(request, "name"):
                line, call = describe_call(tool, request.get("arguments")), get_text(request, "toolCallId")
                yield Message(session, AGENT, line, at, call, "step")
                self._calls.add(session, call)

    def _parse_start(self, session: str, data: dict[str, Any], at: int) -> Iterator[Event]:
        tool, arguments = get_text(data, "toolName"), get_dict(data, "arguments")
        path = get_text(arguments, "path", "file_path")
        if not path:
            return
        command = get_text(arguments, "command") if tool == "str_replace_editor" else ""
        if "view" in {tool, command}:
            yield Touch(session, path, "read", at)
        elif (how := _CHANGES.get(command) or _CHANGES.get(tool)) and get_text(data, "toolCallId"):
            while len(self._open) >= _MAX_OPEN:
                del self._open[next(iter(self._open))]
            self._open[data["toolCallId"]] = how, path

    def _parse_end(self, session: str, data: dict[str, Any], at: int) -> Iterator[Event]:
        call = get_text(data, "toolCallId")
        change = self._open.pop(call, None)
        if data.get("success") is False or is_failure(get_dict(data, "shellExecution").get("exitCode")):
            is_refused = get_dict(data, "error").get("code") in ("denied", "rejected")
            yield from self._calls.end(session, call, at, REFUSED if is_refused else FAILED)
        edits = get_dicts(data, "fileEdits")
        for edit in edits:
            if get_text(edit, "path"):
                yield Touch(session, edit["path"], _EDIT_KINDS.get(get_text(edit, "kind"), "edit"), at)
        if change and not edits and data.get("success") is not False:
            yield Touch(session, change[1], change[0], at)

    def _parse_compaction(self, data: dict[str, Any], at: int) -> Iterator[Event]:
        number = data.get("checkpointNumber")
        number = number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else at
        below = os.path.join(self._folder, "checkpoints")
        if data.get("success") is not False and number not in _numbered_files(below):
            yield from _make_checkpoint(self._session, number, "", get_text(data, "summaryContent"), at)
