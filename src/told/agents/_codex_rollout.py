"""Codex's rollout files: one per thread, in three generations of lines."""

from __future__ import annotations

import json
import os
import re
from zlib import crc32

from told.agents._calls import Calls
from told.agents._codex_items import call_events, item_events, joined, typed
from told.agents._codex_output import failed
from told.agents.text import items, mapping, millis, text
from told.guard.cutting import whole_words
from told.guard.jsonl import json_lines, parse
from told.model import AGENT, USER, Checkpoint, Cursor, Facts, Mark, Problem, Said, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.model import Event

ARCHIVED = "archived"

# Which lines a file's conversation is taken from; the others repeat it.
_ITEMS, _EVENTS, _RESPONSES = "items", "events", "responses"
_PLAN = "update_plan"  # no item tells of it

_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$)")
_SUMMARY = re.compile(r"<summary>\s*(.*?)\s*</summary>", re.DOTALL)
_CALLS = {"function_call", "custom_tool_call", "local_shell_call"}
_NO_TALK = (
    b'"type":"token_count"', b'"type":"token_usage_record"', b'"type":"world_state"',
    b'"type":"additional_tools"',
)  # fmt: skip
_OUTPUTS = (b'"type":"function_call_output"', b'"type":"custom_tool_call_output"')
_HEAD = 200
_MAX_HELD = 20


def thread_of(path: str) -> str:
    """Return the thread that a rollout file's name gives, or the name itself."""
    name = os.path.basename(path)
    match = _THREAD.search(name)
    return match[0] if match else name.removesuffix(".jsonl")


def read_rollout(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what a rollout file says from the cursor on."""
    rollout = _Rollout(thread_of(source.path), source.layout == ARCHIVED, cursor.state)
    for found in json_lines(source.path, cursor, skip=_is_no_talk):
        if isinstance(found, Problem):
            yield found
        elif isinstance(found, Cursor):
            yield Mark(Cursor(found.offset, found.line, rollout.state()))
        else:
            yield from rollout.take(found.value)


def _is_no_talk(raw: bytes) -> bool:
    head = raw[:_HEAD]
    if any(mark in head for mark in _OUTPUTS):
        return not failed(raw)
    return any(mark in head for mark in _NO_TALK)


class _Rollout:
    """Takes a rollout's lines one by one, and remembers which of them carry the conversation."""

    def __init__(self, session: str, archived: bool, state: str) -> None:
        kept = mapping(parse(state)) if state else {}
        self._session = session
        self._archived = archived
        self._mode = text(kept.get("mode"))
        self._cwd = text(kept.get("cwd"))
        self._model = text(kept.get("model"))
        self._is_helper = bool(kept.get("helper"))
        self._start = _whole(kept.get("start"))  # a helper's own lines begin at this ordinal
        self._summaries = _whole(kept.get("summaries"))
        self._calls = Calls(kept.get("calls"))
        self._last = _whole(kept.get("last"))
        self._held = [(text(mapping(one).get("text")), _whole(mapping(one).get("at")))
                      for one in items(kept.get("held"))]  # fmt: skip

    def state(self) -> str:
        kept = {
            "mode": self._mode, "cwd": self._cwd, "model": self._model, "helper": self._is_helper,
            "start": self._start, "summaries": self._summaries, "last": self._last,
            "held": [{"text": said, "at": at} for said, at in self._held], "calls": self._calls.saved(),
        }  # fmt: skip
        return json.dumps({name: value for name, value in kept.items() if value})

    def take(self, line: dict[str, Any]) -> Iterator[Event]:
        kind, payload, at = text(line.get("type")), line.get("payload"), millis(line.get("timestamp"))
        if not isinstance(payload, dict):
            # The first generation: the file begins with the bare meta data, then each line is a bare item.
            payload, kind = line, "response_item" if kind else "session_meta"
        if kind == "session_meta":
            yield from self._meta(payload, at)
        elif _whole(line.get("ordinal")) < self._start:
            return  # the parent's, copied
        elif kind == "turn_context":
            yield from self._context(payload)
        elif kind == "compacted":
            yield from self._compacted(text(payload.get("message")), at)
        elif kind == "event_msg":
            yield from self._event(payload, at)
        elif kind == "response_item" and (self._mode != _ITEMS or payload.get("name") == _PLAN):
            yield from self._response(payload, at)

    def _meta(self, meta: dict[str, Any], at: int) -> Iterator[Event]:
        if not text(meta.get("id")) or (
            _THREAD.search(f"{self._session}.jsonl") and meta["id"] != self._session
        ):
            return
        source = mapping(mapping(meta.get("source")).get("subagent"))
        spawn = mapping(source.get("thread_spawn"))
        self._is_helper = "subagent" in mapping(meta.get("source")) or meta.get("thread_source") == "subagent"
        self._start = _whole(meta.get("subagent_history_start_ordinal"))
        self._cwd = text(meta.get("cwd")) or self._cwd
        if meta.get("history_mode") == "paginated":
            self._mode = _ITEMS
        git = mapping(meta.get("git"))
        parent = text(meta.get("parent_thread_id")) or text(spawn.get("parent_thread_id"))
        yield Facts(
            self._session,
            cwd=self._cwd,
            branch=text(git.get("branch")),
            repository=text(git.get("repository_url")),
            title=text(meta.get("agent_nickname")) if self._is_helper else "",
            started=millis(meta.get("timestamp")) or at,
            parent=parent or (text(meta.get("forked_from_id")) if self._is_helper else ""),
            kind="subagent" if self._is_helper else "",
            archived=self._archived,
        )

    def _context(self, context: dict[str, Any]) -> Iterator[Event]:
        cwd, model = text(context.get("cwd")) or self._cwd, text(context.get("model")) or self._model
        if (cwd, model) != (self._cwd, self._model):
            yield Facts(self._session, cwd=cwd, model=model)
        self._cwd, self._model = cwd, model

    def _compacted(self, message: str, at: int) -> Iterator[Event]:
        inner = _SUMMARY.search(message)
        overview = inner[1] if inner else message.strip()
        if not inner and overview.startswith("Another language model started"):
            overview = overview.partition("\n")[2].strip()
        if overview:
            self._summaries += 1
            first = next(line.strip("# ") for line in overview.splitlines() if line.strip())
            title = whole_words(first, 120)
            yield Checkpoint(self._session, self._summaries, title, overview, at)

    def _event(self, event: dict[str, Any], at: int) -> Iterator[Event]:
        kind = text(event.get("type"))
        if kind == "item_completed":
            item = mapping(event.get("item"))
            at = millis(event.get("completed_at_ms")) or at
            found = list(item_events(self._session, item, at, self._cwd, not self._is_helper))
            if self._carries(_ITEMS, found, begins=bool(found) and item.get("type") == "UserMessage"):
                yield from found
        elif kind in {"user_message", "agent_message", "agent_reasoning"}:
            found = list(self._old_event(kind, event, at))
            if self._carries(_EVENTS, found):
                yield from found
        elif kind == "thread_name_updated" and text(event.get("thread_name")):
            yield Facts(self._session, title=event["thread_name"])

    def _old_event(self, kind: str, event: dict[str, Any], at: int) -> Iterator[Event]:
        said = text(event.get("message")) or text(event.get("text"))
        if kind == "user_message":
            plain = text(event.get("kind")) in {"", "plain"}
            if plain and not self._is_helper and (said := typed(said)):
                yield Said(self._session, USER, said, at)
        elif said.strip():
            form = "step" if kind == "agent_reasoning" else "text"
            yield Said(self._session, AGENT, said, at, form=form)

    def _carries(self, mode: str, found: list[Event], begins: bool = False) -> bool:
        """Whether these lines carry the conversation, and do not repeat what lines of another kind said."""
        last = next(
            (said for said in reversed(found) if isinstance(said, Said) and said.form == "text"), None
        )
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

    def _response(self, response: dict[str, Any], at: int) -> Iterator[Event]:
        kind, role = text(response.get("type")), text(response.get("role"))
        if kind == "message" and role == "user":
            said = typed(joined(response.get("content")))
            if said and not self._is_helper:
                if self._mode == _RESPONSES:
                    yield Said(self._session, USER, said, at, text(response.get("id")))
                elif not self._mode and len(self._held) < _MAX_HELD:
                    self._held.append((said, at))  # until it is clear that no event will repeat it
        elif (kind == "message" and role == "assistant") or kind == "reasoning" or kind in _CALLS:
            if not self._mode:
                self._mode = _RESPONSES
                yield from (Said(self._session, USER, said, when) for said, when in self._held)
                self._held.clear()
            yield from self._answer(kind, response, at)
        elif kind.endswith("_call_output"):  # only those of calls that failed are read at all
            yield from self._calls.ended(self._session, text(response.get("call_id")), at)

    def _answer(self, kind: str, response: dict[str, Any], at: int) -> Iterator[Event]:
        if kind in _CALLS:
            given = response.get("arguments") or response.get("action")
            arguments = parse(given) if isinstance(given, str) else given
            yield from call_events(self._session, response, at, self._cwd, arguments)
            self._calls.made(self._session, text(response.get("call_id")))
        elif self._mode == _RESPONSES:
            parts = response.get("content") if kind == "message" else response.get("summary")
            if said := joined(parts).strip():
                form = "text" if kind == "message" else "step"
                yield Said(self._session, AGENT, said, at, text(response.get("id")), form)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
