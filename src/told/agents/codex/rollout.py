"""Read Codex's rollout files: one for each thread, in three generations of lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from zlib import crc32

from told.agents.reading import (
    FAILED,
    REFUSED,
    RecentCalls,
    describe_call,
    is_failure,
    patched_files,
    read_log,
)
from told.agents.values import (
    as_count,
    as_dict,
    as_list,
    as_millis,
    as_text,
    get_dict,
    get_list,
    get_text,
    parse_object,
)
from told.model import AGENT, USER, Checkpoint, Cursor, Event, Facts, Message, Problem, Source, Touch
from told.pattern import lazy_pattern
from told.text import cut_at_word

_HOW = {"add": "create", "update": "edit", "delete": "delete"}
_MOVE = lazy_pattern(r"^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
_SHELL_FLAGS = {"-c", "-lc", "-lic", "/c", "-Command"}

# Beginnings of text that Codex put into a user's message.
_INJECTED = (
    "<environment_context", "<user_instructions", "<user_shell_command", "<turn_aborted", "<skill>",
    "<subagent_notification", "<permissions instructions", "<collaboration_mode", "<apps_instructions",
    "<INSTRUCTIONS", "<hook_", "# AGENTS.md instructions", "Another language model started to solve",
)  # fmt: skip
_IDE_REQUEST = "## My request for Codex:"
_CODE_BEFORE_OUTPUT = (b"Process exited with code ", b'"Exit code: ')
_CODE_AFTER_OUTPUT = (b'\\"metadata\\":{\\"exit_code\\":', b'\\"metadata\\": {\\"exit_code\\": ')
_UNSUCCESSFUL = b'"success":false'
_OUTPUT = b"\\nOutput:"
_OUTPUT_HEAD, _OUTPUT_TAIL = 640, 400


def strip_injected(content: str) -> str:
    """Return what the person typed of a user message, or ""."""
    if content.lstrip().startswith(_INJECTED):
        return ""
    if content.startswith("# Context from my IDE setup:") and _IDE_REQUEST in content:
        content = content.partition(_IDE_REQUEST)[2]
    return content.strip()


def join_text(content: Any) -> str:
    """Join the text parts of a message, without injected ones."""
    if isinstance(content, str):
        return content
    parts = [get_text(part, "text") for part in as_list(content)]
    return "\n".join(part for part in parts if part.strip() and not part.lstrip().startswith(_INJECTED))


def parse_item(session: str, item: dict[str, Any], at: int, cwd: str, by_user: bool) -> Iterator[Event]:
    """Yield a finished item's events, with prompts if `by_user`."""
    kind, key = get_text(item, "type"), get_text(item, "id")
    kind = kind[:1].lower() + kind[1:]
    if kind == "userMessage":
        if by_user and (said := strip_injected(join_text(item.get("content")))):
            yield Message(session, USER, said, at, key)
    elif kind in {"agentMessage", "plan"}:
        if (said := get_text(item, "text") or join_text(item.get("content"))).strip():
            yield Message(session, AGENT, said, at, key)
    elif kind == "reasoning":
        summary = get_list(item, "summary_text") or get_list(item, "summary")
        if said := "\n".join(as_text(part) for part in summary).strip():
            yield Message(session, AGENT, said, at, key, "step")
    elif kind == "commandExecution":
        yield from _parse_command(session, item, at, cwd)
    elif kind == "fileChange":
        yield from _parse_changes(session, item, at, cwd)
    elif kind == "mcpToolCall":
        tool = ".".join(filter(None, (get_text(item, "server"), get_text(item, "tool"))))
        yield Message(session, AGENT, describe_call(tool, item.get("arguments")), at, key, "step")
        yield from _parse_ending(session, item, at)
    elif kind == "webSearch":
        yield Message(session, AGENT, describe_call("web_search", item), at, key, "step")


def parse_call(session: str, call: dict[str, Any], at: int, cwd: str, arguments: Any) -> Iterator[Event]:
    """Yield a tool call of an older rollout and its files."""
    given = as_dict(arguments)
    tool, key = get_text(call, "name", "type"), get_text(call, "call_id")
    command = given.get("command") or given.get("cmd") or given.get("input") or call.get("input")
    words = [word for word in as_list(command) if isinstance(word, str)] or [as_text(command)]
    script = _script(words)
    folder = absolute(get_text(given, "workdir", "cwd") or cwd, cwd)
    touches = list(find_patched(session, script, at, folder)) if "*** Begin Patch" in script else []
    if touches:
        yield Message(
            session, AGENT, describe_call("apply_patch", {"path": touches[0].path}), at, key, "step"
        )
        yield from touches
    else:
        shown = {**given, "command": script} if script else given
        yield Message(session, AGENT, describe_call(tool, shown), at, key, "step")


def find_patched(session: str, patch: str, at: int, cwd: str) -> Iterator[Touch]:
    """Yield the files that a patch adds, updates, moves or deletes."""
    for path, how in patched_files(patch):
        yield Touch(session, absolute(path, cwd), how, at)
    for path in _MOVE.findall(patch):
        yield Touch(session, absolute(path, cwd), "create", at)


def absolute(path: str, cwd: str) -> str:
    """Resolve a path or file URI against the folder that Codex worked in."""
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
    if not path or not cwd or path.startswith("~"):
        return path
    return os.path.normpath(os.path.join(cwd, path))


def _script(words: list[str]) -> str:
    """Return the script of a shell command, without the shell."""
    return words[2] if len(words) == 3 and words[1] in _SHELL_FLAGS else " ".join(words)


def _parse_command(session: str, item: dict[str, Any], at: int, cwd: str) -> Iterator[Event]:
    folder = absolute(get_text(item, "cwd"), cwd) or cwd
    actions = [as_dict(part) for part in get_list(item, "parsed_cmd") or get_list(item, "commandActions")]
    words = [word for word in get_list(item, "command") if isinstance(word, str)]
    alone = get_text(actions[0], "command") if len(actions) == 1 else ""
    script = _script(words) if words else alone or get_text(item, "command")
    yield Message(
        session, AGENT, describe_call("shell", {"command": script}), at, get_text(item, "id"), "step"
    )
    yield from _parse_ending(session, item, at)
    for action in actions:
        if action.get("type") == "read" and get_text(action, "path"):
            yield Touch(session, absolute(action["path"], folder), "read", at)


def _parse_ending(session: str, item: dict[str, Any], at: int) -> Iterator[Event]:
    """Yield how an item ended, if it did not succeed."""
    status, code = get_text(item, "status"), item.get("exit_code") or item.get("exitCode")
    if status == "declined":
        yield Message(session, AGENT, REFUSED, at, form="step")
    elif status == "failed" or is_failure(code):
        yield Message(session, AGENT, FAILED, at, form="step")


def _parse_changes(session: str, item: dict[str, Any], at: int, cwd: str) -> Iterator[Event]:
    changes = item.get("changes")
    if isinstance(changes, dict):
        named = [(path, as_dict(change)) for path, change in changes.items()]
    else:
        listed = [as_dict(change) for change in as_list(changes)]
        named = [(get_text(change, "path"), get_dict(change, "kind")) for change in listed]
    named = [(path, change) for path, change in named if path]
    if not named:
        return
    line = describe_call("apply_patch", {"path": named[0][0]})
    yield Message(session, AGENT, line, at, get_text(item, "id"), "step")
    yield from _parse_ending(session, item, at)
    if get_text(item, "status") not in {"", "completed"}:
        return
    for path, change in named:
        moved = get_text(change, "move_path", "movePath")
        how = "delete" if moved else _HOW.get(get_text(change, "type"), "edit")
        yield Touch(session, absolute(path, cwd), how, at)
        if moved:
            yield Touch(session, absolute(moved, cwd), "create", at)


def has_failed(raw: bytes) -> bool:
    """Tell from a line's bytes whether a tool call failed."""
    head = raw[:_OUTPUT_HEAD].partition(_OUTPUT)[0]
    tail = raw[-_OUTPUT_TAIL:]
    return (
        any(_is_code(head.partition(mark)[2]) for mark in _CODE_BEFORE_OUTPUT)
        or any(_is_code(tail.rpartition(mark)[2]) for mark in _CODE_AFTER_OUTPUT if mark in tail)
        or _UNSUCCESSFUL in tail
    )


def _is_code(rest: bytes) -> bool:
    """Tell whether this begins with a number other than zero."""
    digits = rest[:4].lstrip(b"-")
    return digits[:1].isdigit() and not digits.startswith(b"0")


ARCHIVED = "archived"

# The kind of lines that a conversation is read from; the others repeat it.
_ITEMS, _EVENTS, _RESPONSES = "items", "events", "responses"
_PLAN = "update_plan"  # not among the items

_THREAD = lazy_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$)")
_SUMMARY = lazy_pattern(r"<summary>\s*(.*?)\s*</summary>", re.DOTALL)
_CALLS = {"function_call", "custom_tool_call", "local_shell_call"}
_IGNORED = (
    b'"type":"token_count"', b'"type":"token_usage_record"', b'"type":"world_state"',
    b'"type":"additional_tools"',
)  # fmt: skip
_OUTPUTS = (b'"type":"function_call_output"', b'"type":"custom_tool_call_output"')
_HEAD = 200
_MAX_HELD = 20


def find_thread(path: str) -> str:
    """Return the thread id in a rollout file's name, or the name itself."""
    name = os.path.basename(path)
    match = _THREAD.search(name)
    return match[0] if match else name.removesuffix(".jsonl")


def read_rollout(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a rollout file's events from the cursor on."""
    rollout = _Rollout(find_thread(source.path), source.layout == ARCHIVED, cursor.state)
    yield from read_log(source.path, cursor, rollout.parse_line, rollout.state, _has_no_events)


def _has_no_events(raw: bytes) -> bool:
    head = raw[:_HEAD]
    if any(mark in head for mark in _OUTPUTS):
        return not has_failed(raw)
    return any(mark in head for mark in _IGNORED)


class _Rollout:
    """Parse a rollout's lines, and remember which kind of them has the conversation."""

    def __init__(self, session: str, archived: bool, state: str) -> None:
        saved = parse_object(state)
        self._session = session
        self._archived = archived
        self._mode = get_text(saved, "mode")
        self._cwd = get_text(saved, "cwd")
        self._model = get_text(saved, "model")
        self._is_helper = bool(saved.get("helper"))
        self._start = as_count(saved.get("start"))  # a helper's own lines begin at this ordinal
        self._summaries = as_count(saved.get("summaries"))
        self._calls = RecentCalls(saved.get("calls"))
        self._last = as_count(saved.get("last"))
        self._held = [(get_text(one, "text"), as_count(as_dict(one).get("at")))
                      for one in get_list(saved, "held")]  # fmt: skip

    def state(self) -> str:
        kept = {
            "mode": self._mode, "cwd": self._cwd, "model": self._model, "helper": self._is_helper,
            "start": self._start, "summaries": self._summaries, "last": self._last,
            "held": [{"text": said, "at": at} for said, at in self._held], "calls": self._calls.saved(),
        }  # fmt: skip
        return json.dumps({name: value for name, value in kept.items() if value})

    def parse_line(self, line: dict[str, Any]) -> Iterator[Event]:
        kind, payload, at = get_text(line, "type"), line.get("payload"), as_millis(line.get("timestamp"))
        if not isinstance(payload, dict):
            # The first generation: the file begins with the bare meta data, then each line is a bare item.
            payload, kind = line, "response_item" if kind else "session_meta"
        if kind == "session_meta":
            yield from self._parse_meta(payload, at)
        elif as_count(line.get("ordinal")) < self._start:
            return  # the parent's, copied
        elif kind == "turn_context":
            yield from self._parse_context(payload)
        elif kind == "compacted":
            yield from self._parse_compaction(get_text(payload, "message"), at)
        elif kind == "event_msg":
            yield from self._parse_event(payload, at)
        elif kind == "response_item" and (self._mode != _ITEMS or payload.get("name") == _PLAN):
            yield from self._parse_response(payload, at)

    def _parse_meta(self, meta: dict[str, Any], at: int) -> Iterator[Event]:
        if not get_text(meta, "id") or (
            _THREAD.search(f"{self._session}.jsonl") and meta["id"] != self._session
        ):
            return
        source = get_dict(meta.get("source"), "subagent")
        spawn = get_dict(source, "thread_spawn")
        self._is_helper = "subagent" in get_dict(meta, "source") or meta.get("thread_source") == "subagent"
        self._start = as_count(meta.get("subagent_history_start_ordinal"))
        self._cwd = get_text(meta, "cwd") or self._cwd
        if meta.get("history_mode") == "paginated":
            self._mode = _ITEMS
        git = get_dict(meta, "git")
        parent = get_text(meta, "parent_thread_id") or get_text(spawn, "parent_thread_id")
        yield Facts(
            self._session,
            cwd=self._cwd,
            branch=get_text(git, "branch"),
            repository=get_text(git, "repository_url"),
            title=get_text(meta, "agent_nickname") if self._is_helper else "",
            started=as_millis(meta.get("timestamp")) or at,
            parent=parent or (get_text(meta, "forked_from_id") if self._is_helper else ""),
            kind="subagent" if self._is_helper else "",
            archived=self._archived,
        )

    def _parse_context(self, context: dict[str, Any]) -> Iterator[Event]:
        cwd, model = get_text(context, "cwd") or self._cwd, get_text(context, "model") or self._model
        if (cwd, model) != (self._cwd, self._model):
            yield Facts(self._session, cwd=cwd, model=model)
        self._cwd, self._model = cwd, model

    def _parse_compaction(self, message: str, at: int) -> Iterator[Event]:
        inner = _SUMMARY.search(message)
        overview = inner[1] if inner else message.strip()
        if not inner and overview.startswith("Another language model started"):
            overview = overview.partition("\n")[2].strip()
        if overview:
            self._summaries += 1
            first = next(line.strip("# ") for line in overview.splitlines() if line.strip())
            title = cut_at_word(first, 120)
            yield Checkpoint(self._session, self._summaries, title, overview, at)

    def _parse_event(self, event: dict[str, Any], at: int) -> Iterator[Event]:
        kind = get_text(event, "type")
        if kind == "item_completed":
            item = get_dict(event, "item")
            at = as_millis(event.get("completed_at_ms")) or at
            found = list(parse_item(self._session, item, at, self._cwd, not self._is_helper))
            begins = bool(found) and item.get("type") == "UserMessage"
            if self._has_conversation(_ITEMS, found, begins):
                yield from found
        elif kind in {"user_message", "agent_message", "agent_reasoning"}:
            found = list(self._parse_old_event(kind, event, at))
            if self._has_conversation(_EVENTS, found):
                yield from found
        elif kind == "thread_name_updated" and get_text(event, "thread_name"):
            yield Facts(self._session, title=event["thread_name"])

    def _parse_old_event(self, kind: str, event: dict[str, Any], at: int) -> Iterator[Event]:
        said = get_text(event, "message", "text")
        if kind == "user_message":
            plain = get_text(event, "kind") in {"", "plain"}
            if plain and not self._is_helper and (said := strip_injected(said)):
                yield Message(self._session, USER, said, at)
        elif said.strip():
            form = "step" if kind == "agent_reasoning" else "text"
            yield Message(self._session, AGENT, said, at, form=form)

    def _has_conversation(self, mode: str, found: list[Event], begins: bool = False) -> bool:
        """Tell whether this kind of line has the conversation."""
        texts = [said for said in found if isinstance(said, Message) and said.form == "text"]
        last = texts[-1] if texts else None
        told = crc32(f"{last.who}:{last.text}".encode(errors="replace")) if last else 0
        if not self._mode and (mode == _EVENTS or last):
            self._mode = mode
        elif self._mode == _EVENTS and mode == _ITEMS and begins and told != self._last:
            self._mode = mode  # a newer version goes on with the file
        if self._mode:
            self._held.clear()
        if self._mode == mode and told:
            self._last = told
        return self._mode == mode

    def _parse_response(self, response: dict[str, Any], at: int) -> Iterator[Event]:
        kind, role = get_text(response, "type"), get_text(response, "role")
        if kind == "message" and role == "user":
            said = strip_injected(join_text(response.get("content")))
            if said and not self._is_helper:
                if self._mode == _RESPONSES:
                    yield Message(self._session, USER, said, at, get_text(response, "id"))
                elif not self._mode and len(self._held) < _MAX_HELD:
                    self._held.append((said, at))  # until it is clear that no event will repeat it
        elif (kind == "message" and role == "assistant") or kind == "reasoning" or kind in _CALLS:
            if not self._mode:
                self._mode = _RESPONSES
                yield from (Message(self._session, USER, said, when) for said, when in self._held)
                self._held.clear()
            yield from self._parse_answer(kind, response, at)
        elif kind.endswith("_call_output"):  # others are skipped: the call succeeded
            yield from self._calls.end(self._session, get_text(response, "call_id"), at)

    def _parse_answer(self, kind: str, response: dict[str, Any], at: int) -> Iterator[Event]:
        if kind in _CALLS:
            arguments = parse_object(response.get("arguments") or response.get("action"))
            yield from parse_call(self._session, response, at, self._cwd, arguments)
            self._calls.add(self._session, get_text(response, "call_id"))
        elif self._mode == _RESPONSES:
            parts = response.get("content") if kind == "message" else response.get("summary")
            if said := join_text(parts).strip():
                form = "text" if kind == "message" else "step"
                yield Message(self._session, AGENT, said, at, get_text(response, "id"), form)
