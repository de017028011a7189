"""Route each hook call to the function that answers it, and log failures."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from told.agents.base import Answer
from told.agents.dialects import (
    answer_context,
    find_stop_question,
    is_duplicate,
    parse_call,
    takes_context_after_compaction,
)
from told.agents.headless import is_scratch_folder
from told.agents.processes import NESTED, PIPED, USER
from told.agents.wiring import COMPACTED, HELPER, PROMPT, START, STOP, TOOL
from told.errors import ToldError, UsageError
from told.fence import defuse_values
from told.files import open_private, read_text
from told.hook.context import HookContext, Runtime, load_hook_settings, refuse_command
from told.jsontext import dump_json
from told.redact.engine import Redactor
from told.redact.names import is_plain_name
from told.settings import find_home, is_turned_off
from told.store.database import load_key
from told.text import cut_at_word

_IN_PROCESS = Runtime()


def answer_hook(
    agent: str, event: str, payload: Mapping[str, Any], environ: Mapping[str, str],
    runtime: Runtime = _IN_PROCESS, *, pid: int = 0,
) -> str:  # fmt: skip
    """Return the JSON to print for a hook call; empty for no answer.

    The process of the hook shows whose word it is: without `pid` the user's.
    """
    context = _make_context(agent, event, payload, environ, runtime=runtime, pid=pid)
    answer = _answer_call(context, payload) if context else {}
    return dump_json(defuse_values(answer)) if answer else ""


def answer_stop_at_once(
    agent: str, event: str, payload: Mapping[str, Any], environ: Mapping[str, str]
) -> str:
    """Return the JSON to print when an agent stops, before its session is saved."""
    context = _make_context(agent, event, payload, environ)
    answer = _ask_at_stop(context, payload) if context else {}
    return dump_json(defuse_values(answer)) if answer else ""


def _make_context(
    agent: str, event: str, payload: Mapping[str, Any], environ: Mapping[str, str], *,
    runtime: Runtime = _IN_PROCESS, pid: int = 0,
) -> HookContext | None:  # fmt: skip
    """Return the context of a call; None if told does not answer it."""
    now, began = time.time_ns() // 1_000_000, time.monotonic()
    call = parse_call(agent, event, payload)
    if call is None or not is_plain_name(agent) or is_duplicate(call, payload, environ):
        return None
    if is_scratch_folder(call.cwd) or is_turned_off(environ, "TOLD_HOOKS"):  # an agent that works for told
        return None
    settings = load_hook_settings(environ)
    if settings.problem:
        log_failure(UsageError(settings.problem), environ)
    if call.agent in settings.agents_off:
        return None
    if call.cwd:
        call = replace(call, cwd=os.path.realpath(call.cwd))
    return HookContext(call, settings.home, environ, now, began, settings, runtime, pid)


def _answer_call(context: HookContext, payload: Mapping[str, Any]) -> Answer:
    call = context.call
    if call.event in (START, PROMPT) and (speaker := context.find_speaker()) != USER:
        if speaker == PIPED:  # whatever it says of a session is not that session's
            return answer_context(call, refuse_command(call.prompt))
        call = replace(call, helper=call.helper or NESTED)
        context = replace(context, call=call)
    # Without a service, each event should wait only for the modules that it needs.
    if call.event == PROMPT:
        from told.hook.prompt import answer_prompt  # noqa: PLC0415

        return answer_context(call, answer_prompt(context)) if call.prompt else {}
    if call.event == TOOL:
        from told.hook.tool import answer_tool  # noqa: PLC0415

        return answer_tool(context)
    from told.hook.session import answer_start, save_session  # noqa: PLC0415

    if call.event == COMPACTED and takes_context_after_compaction(call):
        context = replace(context, call=replace(call, event=START, source="compact"))
    if context.call.event in (START, HELPER):
        return answer_context(call, answer_start(context))
    save_session(context)
    return _ask_at_stop(context, payload)


def _ask_at_stop(context: HookContext, payload: Mapping[str, Any]) -> Answer:
    if context.call.event != STOP or find_stop_question(context.call) is None:
        return {}
    from told.hook.asking import ask_at_stop  # noqa: PLC0415

    return ask_at_stop(context, payload)


FAILURE = "hook.trouble"
_LOG = "hook.log"
_LONGEST_FAILURE = 300  # characters
_LONGEST_PAYLOAD = 20_000  # characters
_LARGEST_LOG = 5_000_000  # bytes; then it is renamed to hook.log.old


def log_failure(error: BaseException, environ: Mapping[str, str]) -> None:
    """Replace the last failure; ignore errors."""
    try:
        home = find_home(environ)
        text = str(error)
        if not is_plain_name(text):
            text = Redactor(load_key(home)).redact(text)
        line = " ".join(f"{type(error).__name__}: {text}".split())[:_LONGEST_FAILURE]
        with os.fdopen(open_private(os.path.join(home, FAILURE), os.O_WRONLY | os.O_TRUNC), "w") as file:
            file.write(f"{time.time_ns() // 1_000_000} {line}\n")
    except (OSError, ValueError, ToldError):
        return


def read_last_failure(home: str) -> tuple[int, str]:
    """Return time in ms and text of the last failure; (0, "") if there is none."""
    try:
        at, _, text = read_text(os.path.join(home, FAILURE), 1000).strip().partition(" ")
    except OSError:
        return 0, ""
    return (int(at), text) if at.isdigit() else (0, "")


def log_call(
    agent: str, event: str, payload: Mapping[str, Any], answer: str, milliseconds: float, *,
    environ: Mapping[str, str],
) -> None:  # fmt: skip
    """Append a redacted call and its answer to the log."""
    settings = load_hook_settings(environ)
    row: dict[str, Any] = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "hook": [word for word in (agent, event) if is_plain_name(word)],
        "ms": round(milliseconds, 1),
    }
    if not settings.problem:  # invalid settings may contain a redaction rule
        redact = Redactor(load_key(settings.home), settings.redaction).redact
        row["saw"] = redact(cut_at_word(dump_json(dict(payload)), _LONGEST_PAYLOAD))
        row["said"] = redact(answer)
    path = os.path.join(settings.home, _LOG)
    if os.path.exists(path) and os.path.getsize(path) > _LARGEST_LOG:
        os.replace(path, f"{path}.old")
    descriptor = open_private(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, f"{dump_json(row)}\n".encode("utf-8", "replace"))
    os.close(descriptor)
