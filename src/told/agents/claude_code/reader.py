"""Read Claude Code's transcripts, and those of agents that write the same format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from told.agents.reading import FAILED, REFUSED, RecentCalls, describe_call, find_tag, read_log, remove_tags
from told.agents.values import (
    as_dict,
    as_list,
    as_millis,
    as_text,
    get_dict,
    get_list,
    get_text,
    parse_object,
)
from told.jsontext import read_json_file
from told.model import AGENT, USER, Checkpoint, Cursor, Event, Facts, Message, Problem, Ref, Source, Touch
from told.pattern import lazy_pattern

_MAX_AWAITED = 16  # an output that never came must not be searched for in every later line


def is_helper(session: str) -> bool:
    """Tell whether a session is a subagent's."""
    return "/" in session


class TranscriptState:
    """The sessions of one transcript so far."""

    def __init__(self, path: str, state: str) -> None:
        """Continue from the text that `to_text` returned."""
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        in_helpers_folder = os.path.basename(folder) == "subagents"
        is_helpers = in_helpers_folder or stem.startswith("agent-")
        self._helper = stem.removeprefix("agent-") if is_helpers else ""
        self._default = os.path.basename(os.path.dirname(folder)) if in_helpers_folder else stem
        saved = parse_object(state)
        self.awaited = [call for call in get_list(saved, "awaited") if isinstance(call, str)]
        self.calls = RecentCalls(saved.get("calls"))
        self.leaf = get_text(saved, "leaf")  # the last line of talk, which a title may name
        self._head = [title for title in get_list(saved, "head") if isinstance(title, str)]
        self._sessions = {name: as_dict(value) for name, value in get_dict(saved, "sessions").items()}

    def to_text(self) -> str:
        """Return the state as JSON."""
        values = {
            "awaited": self.awaited, "calls": self.calls.saved(), "leaf": self.leaf, "head": self._head,
            "sessions": self._sessions,
        }  # fmt: skip
        return json.dumps({name: value for name, value in values.items() if value})

    def session_of(self, line: dict[str, Any]) -> str:
        """Return the session that a line belongs to."""
        session = get_text(line, "sessionId") or self._default
        if self._helper or line.get("isSidechain") is True:
            return f"{session}/{get_text(line, 'agentId') or self._helper or 'sidechain'}"
        return session

    def new_facts(self, session: str, line: dict[str, Any], at: int) -> Iterator[Facts]:
        """Yield what a line says about its session that was not known before."""
        known = self._known(session)
        branch = get_text(line, "gitBranch")
        said = {
            "cwd": get_text(line, "cwd"),
            "branch": "" if branch == "HEAD" else branch,
            "model": get_text(line.get("message"), "model"),
        }
        new: dict[str, Any] = {
            name: value for name, value in said.items() if value and known.get(name) != value
        }
        known |= new
        if "begun" not in known:
            known["begun"] = 1
            new["started"] = at
            if is_helper(session):
                new |= {"parent": session.partition("/")[0], "kind": "subagent"}
            elif len(self._head) == 1 and not known.get("title"):
                new["title"] = known["title"] = self._head[0]
        if new:
            yield Facts(session, **new)

    def new_title(self, session: str, title: str, by: str) -> Iterator[Facts]:
        """Yield a new title; one by the agent never replaces the user's."""
        known = self._known(session)
        title = title.strip()
        if by == USER:
            is_new = known.get("named") != title
        else:
            is_new = "named" not in known and known.get("title") != title
        if title and is_new:
            known |= {"title": title, "named": title} if by == USER else {"title": title}
            yield Facts(session, title=title, title_by=by)

    def new_summary(self, session: str, title: str, leaf: str) -> Iterator[Facts]:
        """Yield the title of a `summary` line, unless it is another session's."""
        if self.leaf:
            if leaf == self.leaf:
                yield from self.new_title(session, title, AGENT)
        elif title not in self._head and len(self._head) < 2:
            self._head.append(title)

    def block_key(self, session: str, message: str, kind: str) -> str:
        """Return an id of the next block, equal in every copy."""
        known = self._known(session)
        if known.get("message") != message:
            known |= {"message": message, "blocks": {}}
        blocks = known["blocks"] = get_dict(known, "blocks")
        count = blocks[kind] = int(blocks.get(kind, 0)) + 1
        suffix = kind + (str(count) if count > 1 else "")
        return f"{message}#{suffix}" if suffix else message

    def next_checkpoint(self, session: str) -> int:
        """Count one more checkpoint of a session."""
        known = self._known(session)
        known["checkpoints"] = number = int(known.get("checkpoints", 0)) + 1
        return number

    def await_output(self, call: str) -> None:
        """Remember a tool call whose output is worth reading."""
        if call.isascii() and call:
            self.awaited = [*self.awaited, call][-_MAX_AWAITED:]

    def take_awaited(self, calls: Iterable[str]) -> bool:
        """Tell whether one of these calls was awaited, and stop waiting for it."""
        found = [call for call in calls if call in self.awaited]
        self.awaited = [call for call in self.awaited if call not in found]
        return bool(found)

    def is_warm_up(self, session: str, words: str = "") -> bool:
        """Tell whether a subagent's session only fills the model's cache."""
        known = self._known(session)
        if words == "Warmup" and "begun" not in known:
            known["idle"] = 1
        return "idle" in known

    def _known(self, session: str) -> dict[str, Any]:
        return self._sessions.setdefault(session, {})


_INJECTED = (
    "system-reminder", "user-prompt-submit-hook", "session-start-hook", "ide_opened_file", "ide_selection",
    "ide_diagnostics", "new-diagnostics", "local-command-caveat",
)  # fmt: skip
_NOT_TYPED = (
    "<task-notification", "<local-command-", "<command-", "<bash-", "<teammate-message", "<channel",
    "[Request interrupted by user", "Caveat: The messages below were generated by the user while running",
    "This session is being continued from a previous conversation",
)  # fmt: skip
_HUMAN_ORIGINS = ("", "human", "sdk")
_REJECTED = "The user doesn't want to proceed with this tool use."
_REASON = "the user said:\n"
_AFTER_REASON = "\n\nNote: The user's next message may contain"
_KIND_FIRST = lazy_pattern(rb'\{"type":"([^"]*)"')
_KINDS = frozenset(
    b"user assistant attachment ai-title custom-title agent-name summary pr-link".split()
)  # fmt: skip
_PROGRESS = b'"type":"progress","data":{'  # repeats messages of a subagent
_HEAD = 640  # bytes; nearly every line has its kind in there
_HOW = {
    "Read": "read", "NotebookRead": "read",
    "Write": "create",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
}  # fmt: skip
_COMMITTED = lazy_pattern(r"^\[[^\]\n]{1,300} ([0-9a-f]{7,40})\] ", re.MULTILINE)
_MAX_OUTPUT = 64 * 1024
_NO_TITLES = ("Invalid API key", "API Error", "Credit balance", "Please run /login", "Claude AI usage limit")


def _find_typed_text(line: dict[str, Any]) -> str:
    """Return what a person typed on a `user` line, or ""."""
    if line.get("isMeta") or line.get("isCompactSummary") or line.get("promptSource") == "system":
        return ""
    if get_text(line, "turnOrigin") not in _HUMAN_ORIGINS or not _is_by_human(line):
        return ""
    content = get_dict(line, "message").get("content")
    return _join_prompt(content) or _rejection_reason(line, as_list(content))


def _find_queued_text(line: dict[str, Any]) -> str:
    """Return a prompt typed while the agent was working, or ""."""
    attachment = get_dict(line, "attachment")
    if attachment.get("type") != "queued_command" or attachment.get("isMeta") or not _is_by_human(attachment):
        return ""
    is_prompt = attachment.get("commandMode") in (None, "prompt")
    return _join_prompt(attachment.get("prompt")) if is_prompt else ""


def _find_summary(line: dict[str, Any]) -> str:
    """Return the summary of a compaction, without the sentences around it."""
    content = get_dict(line, "message").get("content")
    if not isinstance(content, str):
        content = "\n".join(get_text(block, "text") for block in as_list(content))
    content = remove_tags(content, _INJECTED)
    if content.startswith("This session is being continued"):
        content = content.partition("\n")[2]
    return content.partition("\n\nIf you need specific details from before compaction")[0].strip()


def _is_rejection(line: dict[str, Any]) -> bool:
    """Tell whether a person refused a tool call."""
    return (
        line.get("toolDenialKind") == "user-rejected" or line.get("toolUseResult") == "User rejected tool use"
    )


def _join_prompt(content: Any) -> str:
    if isinstance(content, str):
        return _clean(content)
    blocks = map(as_dict, as_list(content))
    parts = (_clean(get_text(block, "text")) for block in blocks if block.get("type") == "text")
    return "\n\n".join(part for part in parts if part)


def _is_by_human(record: dict[str, Any]) -> bool:
    return get_text(record.get("origin"), "kind") in _HUMAN_ORIGINS


def _clean(content: str) -> str:
    content = remove_tags(content, _INJECTED)
    if content.startswith("<command-message>"):  # a command that is a prompt; the others begin otherwise
        arguments = find_tag(content, "command-args")
        return f"{find_tag(content, 'command-name')} {arguments}" if arguments else ""
    if content.startswith("<user-memory-input>"):
        return find_tag(content, "user-memory-input")
    return "" if content.startswith(_NOT_TYPED) else content


def _rejection_reason(line: dict[str, Any], blocks: list[Any]) -> str:
    """Return what a person answered when asked to allow a tool."""
    if not _is_rejection(line):
        return ""
    for block in map(as_dict, blocks):
        answer = get_text(block, "content")
        if block.get("is_error") is True and answer.startswith(_REJECTED):
            reason = answer.partition(_REASON)[2].partition(_AFTER_REASON)[0].strip()
            return "" if reason.startswith("The user wants to clarify") else reason
    return ""


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a transcript's events from the cursor on."""
    state = TranscriptState(source.path, cursor.state)
    if cursor.offset == 0:
        yield from _read_custom_title(source.path, state)
    yield from read_log(
        source.path,
        cursor,
        lambda line: _parse_line(line, state),
        state.to_text,
        lambda raw: has_no_events(raw, state.awaited),
    )


def has_no_events(raw: bytes, awaited: Iterable[str]) -> bool:
    """Tell from its bytes that a line has no events."""
    first = _KIND_FIRST.match(raw)
    if first and first[1] not in _KINDS:
        return True
    for part in (raw[:_HEAD], raw):
        if _PROGRESS in part:
            return True
        if b'"role":"assistant"' in part or b'"type":"assistant"' in part:
            return False
        if b'"type":"tool_result"' in part:
            return _is_dull_result(raw, awaited)
        if part is raw and b'"type":"user"' in raw:
            return False
        if b'"type":"attachment"' in part:
            return b'"type":"queued_command"' not in raw
    return b'"type":"system"' in raw


def _is_dull_result(raw: bytes, awaited: Iterable[str]) -> bool:
    if any(call.encode() in raw for call in awaited):
        return False
    if b'"is_error":true' in raw or b'"bashEditDiff":{' in raw:  # a refused call is an error, too
        return False
    # The output of Read has `"type":"text"` itself; any other is a text block beside the output.
    return raw.count(b'"type":"text"') == raw.count(b'"toolUseResult":{"type":"text"')


def _parse_line(line: dict[str, Any], state: TranscriptState) -> Iterator[Event]:
    kind, session, at = line.get("type"), state.session_of(line), as_millis(line.get("timestamp"))
    if kind in ("user", "assistant", "attachment"):
        events = list(_PARSERS[kind](line, session, at, state))
        if events and not state.is_warm_up(session):
            state.leaf = get_text(line, "uuid") or state.leaf
            yield from state.new_facts(session, line, at)
            yield from events
    elif kind == "custom-title":
        yield from state.new_title(session, get_text(line, "customTitle"), USER)
    elif kind in ("ai-title", "agent-name"):
        yield from state.new_title(session, as_text(line.get("aiTitle") or line.get("agentName")), AGENT)
    elif kind == "summary":
        title = get_text(line, "summary").strip()
        if title and not title.startswith(_NO_TITLES):
            yield from state.new_summary(session, title, get_text(line, "leafUuid"))
    elif kind == "pr-link" and get_text(line, "prUrl"):
        yield Ref(session, "pr", line["prUrl"], at)


def _parse_user(line: dict[str, Any], session: str, at: int, state: TranscriptState) -> Iterator[Event]:
    if line.get("isCompactSummary"):
        if overview := _find_summary(line):
            yield Checkpoint(session, state.next_checkpoint(session), "Compaction summary", overview, at)
        return
    blocks = [as_dict(block) for block in get_list(line.get("message"), "content")]
    if result := get_dict(line, "toolUseResult"):
        # Claude Code finds out by itself which files a shell command changed.
        for path in get_list(result.get("bashEditDiff"), "changedFiles"):
            if as_text(path):
                yield Touch(session, path, "edit", at)
        if state.take_awaited(get_text(block, "tool_use_id") for block in blocks):
            for found in _COMMITTED.finditer(get_text(result, "stdout")[:_MAX_OUTPUT]):
                yield Ref(session, "commit", found[1], at)
    how = REFUSED if _is_rejection(line) else FAILED
    for block in blocks:
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            yield from state.calls.end(session, get_text(block, "tool_use_id"), at, how)
    words, key = _find_typed_text(line), get_text(line, "uuid")
    if words and not is_helper(session):
        yield Message(session, USER, words, at, key)
    elif words and not state.is_warm_up(session, words):
        yield Message(session, AGENT, words, at, key)  # the agent's own words to its helper


def _parse_queued(line: dict[str, Any], session: str, at: int, _state: TranscriptState) -> Iterator[Event]:
    words = _find_queued_text(line)
    if words and not is_helper(session):
        yield Message(session, USER, words, at, get_text(line, "uuid"))


def _parse_assistant(line: dict[str, Any], session: str, at: int, state: TranscriptState) -> Iterator[Event]:
    message = get_dict(line, "message")
    if line.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
        return
    identity = get_text(message, "id") or get_text(line, "uuid")
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    for block in map(as_dict, blocks):
        kind = block.get("type")
        if kind == "text" and (words := get_text(block, "text").strip()):
            yield Message(session, AGENT, words, at, state.block_key(session, identity, ""))
        elif kind == "thinking" and (words := get_text(block, "thinking").strip()):
            key = state.block_key(session, identity, "thought")
            yield Message(session, AGENT, words, at, key, "step")
        elif kind == "tool_use":
            yield from _parse_call(block, session, at, state)


def _parse_call(block: dict[str, Any], session: str, at: int, state: TranscriptState) -> Iterator[Event]:
    name, given, call = get_text(block, "name"), get_dict(block, "input"), get_text(block, "id")
    yield Message(session, AGENT, describe_call(name, given), at, call, "step")
    state.calls.add(session, call)
    path = get_text(given, "file_path", "notebook_path")
    if path and name in _HOW:
        yield Touch(session, path, _HOW[name], at)
    if name == "Bash" and "git commit" in get_text(given, "command"):
        state.await_output(call)


_PARSERS = {"user": _parse_user, "assistant": _parse_assistant, "attachment": _parse_queued}


def _read_custom_title(path: str, state: TranscriptState) -> Iterator[Facts]:
    """Yield the user's title from the file beside the transcript."""
    beside = os.path.join(os.path.splitext(path)[0], "custom-title.json")
    if os.path.isfile(beside):
        title = get_text(read_json_file(beside), "customTitle")
        yield from state.new_title(state.session_of({}), title, USER)
