"""Answer a hook call without a service, then start one."""

from __future__ import annotations

import math
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import NoReturn

from told.hook.client import LIMITS
from told.hook.context import Runtime
from told.service import calls
from told.service.calls import HookCall
from told.service.latency import append_waited, measure
from told.service.protocol import encode_answer
from told.service.state import LATE, MISSED, count_problem
from told.settings import find_home

_DEFAULT_LIMIT = 1.0  # seconds, as in the client
_LONGEST = 30  # seconds to finish the work after the agent has left


def answer_in_child(descriptor: int, agent: str, event: str, raw: bytes, ends: float) -> NoReturn:
    """Answer the hook client through a socket, then exit."""
    signal.alarm(_LONGEST)
    connection = socket.socket(fileno=descriptor)

    def send(answer: str) -> bool:
        try:
            connection.sendall(encode_answer(answer))
            connection.close()
        except OSError:
            return False
        return True

    try:
        _answer(_parse(agent, event, raw, os.environ), ends, send)
        _start_service()
    finally:
        os._exit(0)


def answer_in_thread(agent: str, event: str, raw: bytes, ends: float) -> bytes:
    """Answer in this process, for systems that cannot fork."""
    answers: list[str] = []

    def send(answer: str) -> bool:
        answers.append(answer)
        return time.monotonic() < ends

    hook = _parse(agent, event, raw, os.environ)
    thread = Thread(target=_answer, args=(hook, ends, send), daemon=True)
    thread.start()
    thread.join(max(0.0, ends - time.monotonic()))
    if thread.is_alive():
        thread.join(_LONGEST / 10)  # to write what the prompt teaches
        raise TimeoutError
    _start_service()
    return "".join(answers).encode("utf-8", "replace")


def answer_now(agent: str, event: str, raw: bytes, environ: Mapping[str, str]) -> str:
    """Answer in this process without a time limit, as `told hook` does."""
    answers: list[str] = []

    def send(answer: str) -> bool:
        answers.append(answer)
        return True

    _answer(_parse(agent, event, raw, environ), math.inf, send)
    return "".join(answers)


def late_answer(agent: str, event: str, raw: bytes) -> bytes:
    """Return the answer to a call for which the client had no time."""
    hook = calls.parse_hook("", agent, event, raw, {})
    return calls.late_answer(hook).encode("utf-8", "replace") if hook else b""


def _start_service() -> None:
    from told.service.control import start_for_hook  # noqa: PLC0415 - the answer does not wait for it

    start_for_hook(os.environ)


def _parse(agent: str, event: str, raw: bytes, environ: Mapping[str, str]) -> HookCall | None:
    return calls.parse_hook(find_home(environ), agent, event, raw, environ, pid=os.getpid())


def _answer(hook: HookCall | None, ends: float, send: Callable[[str], bool]) -> None:
    if hook is None:
        send("")
        return
    calls.expect_brief(hook)
    answer = calls.answer_call(hook, Runtime(lambda: ends))
    missed = calls.collect_missed(hook, ends, lambda again: _run_again(again, ends))
    is_late = time.monotonic() > ends
    is_sent = send(calls.prepend_text(hook, missed, answer.text))
    if math.isfinite(ends):
        append_waited(hook.home, measure(hook, _read_at(hook, ends)))
    if is_sent:
        calls.note_delivered(hook, answer)
        return
    if missed:
        calls.keep_text(hook.home, hook.key, missed)
    calls.keep_undelivered(hook, answer)
    kind, reason = (LATE, "no answer within the limit") if is_late else (MISSED, "the agent did not wait")
    count_problem(hook.home, hook.agent, hook.call.event, kind, reason)


def _read_at(hook: HookCall, ends: float) -> float:
    """Return when the client had read the call."""
    chosen = hook.environ.get("TOLD_HOOK_SECONDS", "")
    return ends - (int(chosen) if chosen.isdigit() else LIMITS.get(hook.event, _DEFAULT_LIMIT))


def _run_again(hook: HookCall, ends: float) -> str:
    answer = calls.answer_call(hook, Runtime(lambda: ends))
    calls.note_delivered(hook, answer)
    return calls.read_context(answer.text)
