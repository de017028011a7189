"""Answer one hook call, and deliver what its session missed before."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from told.agents.base import Call
from told.agents.dialects import answer_context, parse_call
from told.agents.wiring import COMPACTED, PROMPT, START, STOP
from told.errors import BusyError, ToldError
from told.fence import wrap_in_tags
from told.hook.context import Runtime
from told.hook.dispatch import answer_hook, answer_stop_at_once, log_call, log_failure
from told.jsontext import dump_json
from told.service.state import (
    FAILED,
    LOST,
    PENDING,
    READY,
    clear_missed,
    count_problem,
    make_key,
    put_missed,
    remove_missed,
    take_missed,
)

_NOT_SAVED = "Not saved yet: told is busy and will finish this in the background."
_FAILED = "Not saved: told could not do this. `told health` says why."
_COMMAND = "/mem:"
_BRIEFED = (START, COMPACTED)  # events whose brief belongs to the session that prompts later
_CONTEXT_KEYS = ("additionalContext", "additional_context", "contextModification")
_TRIES = 3  # another process may lock the journal for longer than one attempt waits
_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class HookCall:
    """One hook call with everything that is needed to answer it."""

    home: str
    agent: str
    event: str  # as the command line names it
    payload: Mapping[str, Any]
    environ: Mapping[str, str]
    call: Call
    pid: int = 0  # the hook's process; 0 if unknown

    @property
    def key(self) -> str:
        """The name under which a missed brief of the session is kept."""
        return make_key(self.agent, self.call.session)

    @property
    def command_key(self) -> str:
        """The name under which the late result of a command is kept."""
        return f"{self.key}-command" if self.key else ""

    @property
    def is_prompt(self) -> bool:
        """Whether the user typed something."""
        return self.call.event == PROMPT and bool(self.call.prompt)

    @property
    def is_command(self) -> bool:
        """Whether the user typed a `/mem:` command, which always gets an answer."""
        return self.is_prompt and self.call.prompt.startswith(_COMMAND)

    @property
    def is_briefed(self) -> bool:
        """Whether the answer is a brief that a prompt can deliver."""
        return self.call.event in _BRIEFED


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call."""

    text: str = ""  # the JSON that the agent reads
    failed: bool = False


def parse_hook(
    home: str, agent: str, event: str, raw: bytes, environ: Mapping[str, str], *, pid: int = 0
) -> HookCall | None:
    """Parse a call; None if told does not handle it."""
    try:
        payload = json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    call = parse_call(agent, event, payload) if isinstance(payload, dict) else None
    return HookCall(home, agent, event, payload, environ, call, pid) if call else None


def answer_call(hook: HookCall, runtime: Runtime, *, at_once: bool = False) -> Answer:
    """Answer a call after writing what it teaches to disk; of a stop `at_once`, its session is saved later.

    Never raises: a failure is counted, and silent unless the user typed a command.
    """
    began = time.perf_counter()
    try:
        answer = Answer(_ask_at_once(hook) if at_once else _dispatch(hook, runtime))
    except Exception as error:  # noqa: BLE001 - a hook call never fails
        log_failure(error, hook.environ)
        count_problem(hook.home, hook.agent, hook.call.event, FAILED, type(error).__name__)
        answer = Answer(_encode_context(hook, wrap_in_tags(_FAILED)) if hook.is_command else "", failed=True)
    if hook.environ.get("TOLD_DEBUG", "") not in ("", "0") and (answer.text or not at_once):
        milliseconds = (time.perf_counter() - began) * 1000
        with suppress(OSError, ToldError):
            log_call(hook.agent, hook.event, hook.payload, answer.text, milliseconds, environ=hook.environ)
    return answer


def _dispatch(hook: HookCall, runtime: Runtime) -> str:
    for attempt in range(1, _TRIES + 1):
        try:
            return answer_hook(hook.agent, hook.event, hook.payload, hook.environ, runtime, pid=hook.pid)
        except BusyError:
            if attempt == _TRIES or not hook.is_prompt:
                raise
    return ""


def _ask_at_once(hook: HookCall) -> str:
    return answer_stop_at_once(hook.agent, hook.event, hook.payload, hook.environ)


def answer_at_once(hook: HookCall) -> str:
    """Return the answer to a call whose work is done later."""
    return answer_call(hook, Runtime(), at_once=True).text if hook.call.event == STOP else ""


def expect_brief(hook: HookCall) -> None:
    """Mark the brief of a call as pending, and delete old ones."""
    if hook.is_briefed:
        clear_missed(hook.home)
        put_missed(hook.home, hook.key, PENDING, hook.call.source)


def note_delivered(hook: HookCall, answer: Answer) -> None:
    """Note that the agent gets an answer."""
    if hook.is_briefed and answer.failed:
        put_missed(hook.home, hook.key, LOST, hook.call.source)
    elif hook.is_briefed:
        remove_missed(hook.home, hook.key)


def keep_undelivered(hook: HookCall, answer: Answer) -> None:
    """Keep an undelivered answer for the session's next prompt."""
    if hook.is_briefed and answer.failed:
        put_missed(hook.home, hook.key, LOST, hook.call.source)
    elif hook.is_briefed or hook.is_command:
        key = hook.key if hook.is_briefed else hook.command_key
        source = hook.call.source if hook.is_briefed else ""
        keep_text(hook.home, key, read_context(answer.text), source)


def keep_text(home: str, key: str, text: str, source: str = "") -> None:
    """Keep a text for a session's next prompt; remove an older one if it is empty."""
    if text:
        put_missed(home, key, READY, source, text)
    else:
        remove_missed(home, key)


def collect_missed(hook: HookCall, ends: float, run_again: Callable[[HookCall], str]) -> str:
    """Return what the session of a prompt missed; empty if nothing.

    `run_again` answers a start whose brief was lost, and returns its text.
    """
    if not hook.is_prompt:
        return ""
    result = take_missed(hook.home, hook.command_key, ends)
    texts = [result.text] if result else []
    brief = take_missed(hook.home, hook.key, ends)
    if brief is not None and brief.state == READY:
        texts.append(brief.text)
    elif brief is not None and (again := _make_start(hook, brief.source)) is not None:
        expect_brief(again)
        texts.append(run_again(again))
    return _SEPARATOR.join(text for text in texts if text)


def _make_start(hook: HookCall, source: str) -> HookCall | None:
    """Return the call that rebuilds the start brief of a session."""
    payload = {name: value for name, value in hook.payload.items() if not name.endswith("prompt")}
    payload |= {"source": source or "startup", "hook_event_name": "SessionStart"}
    call = parse_call(hook.agent, START, payload)
    return HookCall(hook.home, hook.agent, START, payload, hook.environ, call, hook.pid) if call else None


def prepend_text(hook: HookCall, text: str, answer: str) -> str:
    """Return an answer that begins with a text that was missed."""
    if not text:
        return answer
    if not answer:
        return _encode_context(hook, text)
    found = json.loads(answer)
    inner = _inner(found)
    name = next((name for name in _CONTEXT_KEYS if name in inner), "")
    if not name:
        return answer
    inner[name] = f"{text}{_SEPARATOR}{inner[name]}"
    return dump_json(found)


def read_context(answer: str) -> str:
    """Return the text in an answer that the model reads."""
    inner = _inner(json.loads(answer)) if answer else {}
    return next((str(inner[name]) for name in _CONTEXT_KEYS if name in inner), "")


def late_answer(hook: HookCall) -> str:
    """Return the answer to a call for which there was no time."""
    return _encode_context(hook, wrap_in_tags(_NOT_SAVED)) if hook.is_command else ""


def _inner(found: Any) -> dict[str, Any]:
    inner = found.get("hookSpecificOutput", found) if isinstance(found, dict) else {}
    return inner if isinstance(inner, dict) else {}


def _encode_context(hook: HookCall, text: str) -> str:
    found = answer_context(hook.call, text)
    return dump_json(found) if found else ""
