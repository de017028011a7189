"""Starts, stops and asks the service, from outside."""

from __future__ import annotations

import os
import signal
import time

from told.errors import MissingError
from told.hook.service import CALLERS, chosen, pid_of, runs, spawn
from told.record import record
from told.serve.choice import HOST, token_of
from told.serve.guarding import PING
from told.serve.running import bound
from told.store.memory_json import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_TO_START, _TO_STOP, _TO_ANSWER = 5.0, 2.0, 0.7  # seconds
_PAUSE = 0.02
_MOST = 2000


@record
class State:
    """How the service is."""

    port: int  # 0 if the user did not choose it
    owners: tuple[str, ...] = ()
    pid: int = 0  # 0 if it does not run
    taken: bool = False  # another program has its port


@record
class Pong:
    """What the service answered."""

    milliseconds: float
    pid: int
    version: str


def state(home: str) -> State:
    """Return how the service is, without asking it."""
    choice = chosen(home)
    if choice is None:
        return State(0)
    pid = pid_of(home)
    return State(choice.port, choice.owners, pid, not pid and not runs(home) and not is_free(choice.port))


def is_free(port: int) -> bool:
    """Tell whether told can have a port."""
    made = bound(port)
    if made is None:
        return False
    made.close()
    return True


def start(home: str, environ: Mapping[str, str]) -> State:
    """Start the service unless it runs, and wait until it listens.

    Raises:
        MissingError: it does not start, and why.
    """
    found = state(home)
    if not found.port:
        raise MissingError("The service is not set up. `told install --service` does that.")
    if found.pid:
        return found
    child = 0 if runs(home) else spawn(home, environ)
    ends = time.monotonic() + _TO_START
    while not pid_of(home) and time.monotonic() < ends:
        if child and os.waitpid(child, os.WNOHANG)[0]:
            child = 0  # another one was quicker, or it could not have the port
            if not runs(home):
                break
        time.sleep(_PAUSE)
    found = state(home)
    if found.pid:
        return found
    if found.taken:
        raise MissingError(
            f"Another program has port {found.port}. `told install --service` chooses another one."
        )
    raise MissingError("The service did not start. `told service start` tries again.")


def stop(home: str) -> bool:
    """Stop the service, by force if it hangs; tell whether it ran. Nothing of its running stays behind."""
    pid = pid_of(home)
    for force in (signal.SIGTERM, signal.SIGKILL):
        if pid and runs(home):
            _send(pid, force)
            ends = time.monotonic() + _TO_STOP
            while (runs(home) or _is_there(pid)) and time.monotonic() < ends:
                time.sleep(_PAUSE)
    callers = os.path.join(home, CALLERS)
    if not runs(home) and os.path.lexists(callers):
        os.remove(callers)
    return bool(pid)


def ping(home: str) -> Pong | None:
    """Ask the service whether it is there; None if it does not answer. Ask only one that runs."""
    from socket import create_connection

    choice = chosen(home)
    if choice is None:
        return None
    request = (
        f"POST {PING} HTTP/1.1\r\nHost: {HOST}:{choice.port}\r\nAuthorization: Bearer {token_of(home)}\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    )
    began = time.perf_counter()
    try:
        with create_connection((HOST, choice.port), _TO_ANSWER) as connection:
            connection.sendall(request.encode())
            raw = b""
            while len(raw) < _MOST and (part := connection.recv(_MOST)):
                raw += part
        took = (time.perf_counter() - began) * 1000
        head, _, body = raw.partition(b"\r\n\r\n")
        said = decoded(body.decode()) if head.startswith(b"HTTP/1.1 200 ") else {}
        return Pong(took, int(said["pid"]), str(said["version"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_there(pid: int) -> bool:
    try:
        if os.waitpid(pid, os.WNOHANG)[0] == pid:  # one that this process started
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _send(pid: int, force: signal.Signals) -> None:
    try:
        os.kill(pid, force)
    except ProcessLookupError:
        return
