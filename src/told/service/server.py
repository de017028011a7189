"""Accept hook calls on a socket, queue them and send the answers."""

from __future__ import annotations

import hmac
import json
import os
import selectors
import socket
import sys
import time
from collections.abc import Callable, Mapping
from threading import Lock, Thread

from told import __version__
from told.agents import find_agent
from told.agents.wiring import END, STOP
from told.hook.client import LIMITS, is_own
from told.service import calls
from told.service.calls import Answer, HookCall
from told.service.commands import CommandRunner, Commands
from told.service.latency import Waited, append_waited, measure
from told.service.protocol import COMMAND, HOOK, PING, Request, encode_answer, read_request
from told.service.protocol import STOP as STOP_SERVICE
from told.service.state import LATE, MISSED, count_problem
from told.service.worker import Job, Worker
from told.settings import load_safe_settings

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_SEND_SECONDS = 5.0  # for a request to arrive, and for an answer to be taken
_MOST_CONNECTIONS = 256  # at a time; others answer in their own process
_POLL_SECONDS = 0.05  # between two checks whether the client is still there
_OLDEST_CALL = 60.0  # seconds; a call that claims to be older was not read on this clock
_DEFAULT_LIMIT = 1.0
_MARGIN = 0.1  # seconds; the answer has to reach the client before the client gives up
# The agent's exit must not wait: answered as soon as they are queued.
_AT_ONCE = frozenset((STOP, END))
_QUIET_SECONDS = 615.0  # without a call, after which quiet sessions are read
_SLOW, _GONE = "no answer within the limit", "the agent did not wait"


def time_limit(agent: str, event: str, chosen: str = "") -> float:
    """Return the seconds from reading a call to its answer; 0 means at once."""
    if event in _AT_ONCE:
        return 0.0
    if chosen.isdigit():
        return int(chosen) - _MARGIN
    limit = LIMITS.get(event, _DEFAULT_LIMIT)
    known = find_agent(agent)
    return (known.hook_seconds.get(event, limit) if known else limit) - _MARGIN


class Server:
    """One listening socket and a thread for each connection."""

    def __init__(
        self, listener: socket.socket, home: str, environ: Mapping[str, str], *, token: str = "",
        runner: CommandRunner | None = None,
    ) -> None:  # fmt: skip
        """Take a listening socket; calls queue in it until `serve` runs.

        A call overrides `environ`, and brings all TOLD_ variables. Over TCP it has to bring the token.
        """
        self._listener = listener
        self._home = home
        self._environ = {name: value for name, value in environ.items() if not name.startswith("TOLD_")}
        self._token = token
        self._worker = Worker()
        self._commands = Commands(home, environ, runner)
        self._open = 0
        self._lock = Lock()
        self._since = time.time()
        self._last = time.monotonic()
        self._calls = 0
        self._waited: list[Waited] = []  # not written yet
        self._unread: dict[str, str] | None = None  # environment of the last call, until its session is read
        self._stopped = False
        self._waker, self._wake = socket.socketpair()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last call; 0 while one is running."""
        return 0.0 if self._open or self._worker.waiting else time.monotonic() - self._last

    @property
    def stuck_seconds(self) -> float:
        """How long the oldest running job or command has been running."""
        return max(self._worker.busy_seconds(), self._commands.busy_seconds())

    def stop(self, *_: object) -> None:
        """Make `serve` return."""
        self._stopped = True
        self._wake.send(b"x")

    def serve(self, should_leave: Callable[[], bool], every: float) -> None:
        """Accept calls until stopped."""
        self._listener.setblocking(False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._waker, selectors.EVENT_READ)
            while not self._stopped:
                ready = selector.select(every)
                if not ready:
                    self._save_waited()
                    self._read_quiet_sessions()
                if self._stopped or should_leave():
                    return
                if any(key.fileobj is self._listener for key, _ in ready):
                    self._accept()

    def finish(self, seconds: float) -> None:
        """Answer everything that was sent so far, close the socket and end.

        Clients that connected but were not accepted yet may have left already; their calls count, too.
        """
        ends = time.monotonic() + seconds
        while self._accept():
            pass
        self._listener.close()
        while self._open and time.monotonic() < ends:
            time.sleep(0.01)
        self._worker.finish(ends - time.monotonic())  # after the last connection has queued its call
        self._save_waited()
        self._waker.close()
        self._wake.close()

    def _accept(self) -> bool:
        """Take the next connection; return False if there is none."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return False
        with self._lock:
            is_full = self._open >= _MOST_CONNECTIONS
            self._open += not is_full
        if is_full:
            connection.close()
            return True
        try:
            Thread(target=self._handle, args=(connection,), daemon=True).start()
        except RuntimeError:  # no more threads
            self._close(connection)
        return True

    def _handle(self, connection: socket.socket) -> None:
        try:
            request = read_request(connection, time.monotonic() + _SEND_SECONDS)
            if self._is_admitted(connection, request):
                self._respond(connection, request)
        except (OSError, ValueError):
            pass  # the client is gone, or is not one of told's
        finally:
            self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        connection.close()
        with self._lock:
            self._open -= 1

    def _is_admitted(self, connection: socket.socket, request: Request) -> bool:
        if self._token:
            return hmac.compare_digest(request.token.encode("utf-8", "replace"), self._token.encode())
        return is_own(connection)

    def _respond(self, connection: socket.socket, request: Request) -> None:
        if request.kind == PING:
            connection.sendall(encode_answer(json.dumps(self._state())))
        elif request.kind == STOP_SERVICE:
            connection.sendall(encode_answer("{}"))
            self.stop()
        elif request.kind == HOOK:
            self._last = time.monotonic()
            self._calls += 1
            self._answer(connection, request)
        elif request.kind == COMMAND:
            self._last = time.monotonic()
            # While a hook waits, the client runs its command itself.
            answer = "" if self._worker.waiting else self._commands.answer(request)
            connection.settimeout(_SEND_SECONDS)
            connection.sendall(encode_answer(answer))

    def _state(self) -> dict[str, object]:
        return {
            "pid": os.getpid(), "version": __version__, "since": self._since, "calls": self._calls,
            "rss_mb": measure_memory(), "waiting": self._worker.waiting,
            "cpu_ms": time.process_time() * 1000,
        }  # fmt: skip

    def _answer(self, connection: socket.socket, request: Request) -> None:
        environ = self._environ | dict(request.variables) | {"TOLD_HOME": self._home, "PWD": request.cwd}
        self._unread = environ
        hook = calls.parse_hook(
            self._home, request.agent, request.event, request.body, environ, pid=request.pid
        )
        if hook is None:
            connection.sendall(encode_answer(""))
            return
        now = time.monotonic()
        read_at = request.read_at if now - _OLDEST_CALL < request.read_at <= now else now
        limit = time_limit(hook.agent, hook.call.event, environ.get("TOLD_HOOK_SECONDS", ""))
        ends = read_at + limit
        calls.expect_brief(hook)
        job = Job(hook, ends)
        self._worker.put(job)
        if not limit:
            connection.sendall(encode_answer(calls.answer_at_once(hook)))
            return
        reason = _wait(job, connection, ends)
        if reason:
            self._give_up(connection, hook, reason)
        else:
            self._deliver(connection, hook, job.answer, ends)
        self._last = time.monotonic()
        waited = measure(hook, read_at)
        with self._lock:
            self._waited += waited

    def _read_quiet_sessions(self) -> None:
        """Start the reader once, when no agent has called for ten minutes."""
        environ = self._unread
        if environ is None or self.idle_seconds < _QUIET_SECONDS:
            return
        self._unread = None
        settings = load_safe_settings(environ)
        if settings.reads_sessions:
            from told.reader.background import start_reading  # noqa: PLC0415 - only with a reader

            start_reading(settings, environ)

    def _save_waited(self) -> None:
        """Write how long agents waited, while none does."""
        with self._lock:
            waited, self._waited = self._waited, []
        append_waited(self._home, waited)

    def _give_up(self, connection: socket.socket, hook: HookCall, reason: str) -> None:
        why = _SLOW if reason == LATE else _GONE
        if reason == LATE:
            try:
                connection.sendall(encode_answer(calls.late_answer(hook)))
            except OSError:
                reason, why = MISSED, _GONE
        count_problem(self._home, hook.agent, hook.call.event, reason, why)

    def _deliver(self, connection: socket.socket, hook: HookCall, answer: Answer, ends: float) -> None:
        missed = calls.collect_missed(hook, ends, lambda again: self._run_again(again, ends))
        calls.note_delivered(hook, answer)
        try:
            connection.settimeout(_SEND_SECONDS)
            connection.sendall(encode_answer(calls.prepend_text(hook, missed, answer.text)))
        except OSError:
            if missed:
                calls.keep_text(self._home, hook.key, missed)
            calls.keep_undelivered(hook, answer)
            count_problem(self._home, hook.agent, hook.call.event, MISSED, _GONE)

    def _run_again(self, hook: HookCall, ends: float) -> str:
        job = Job(hook, ends)
        self._worker.put(job)
        if not job.wait(ends - time.monotonic()) and job.abandon():
            return ""  # it is kept for the prompt after this one
        calls.note_delivered(hook, job.answer)
        return calls.read_context(job.answer.text)


def _wait(job: Job, connection: socket.socket, ends: float) -> str:
    """Wait for a job; return LATE, MISSED, or nothing if answered."""
    while not job.wait(min(_POLL_SECONDS, ends - time.monotonic())):
        reason = LATE if time.monotonic() >= ends else MISSED if _is_gone(connection) else ""
        if reason and job.abandon():
            return reason
    return ""


def _is_gone(connection: socket.socket) -> bool:
    """Tell whether the client has closed its end."""
    try:
        connection.settimeout(0)
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.settimeout(_SEND_SECONDS)


def measure_memory() -> float:
    """Return this process's resident memory in MB, or its peak."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    if resource is None:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
