"""Start, stop and ask the service."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import told
from told.agents.wiring import import_folders
from told.errors import MissingError, ToldError, UsageError
from told.files import read_text
from told.hook.client import is_own, receive, socket_paths
from told.memories.caller import detect_caller
from told.service.protocol import PING, STOP, encode_request
from told.service.state import LOCK, PORT, PROCESS_NAME, read_counts, run_file, try_lock
from told.settings import find_home, load_safe_settings

_START_SECONDS, _STOP_SECONDS, _KILL_SECONDS, _ANSWER_SECONDS = 15.0, 30.0, 5.0, 2.0
_PAUSE = 0.02
_VARIABLES = frozenset(
    (
        "HOME",
        "USERPROFILE",
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "SYSTEMROOT",
        "SSH_AUTH_SOCK",
    )
)
_RETRY_SECONDS = 60.0  # after a failed start before a hook tries again
_RUN = "from told.cli.entry.serve import run;run()"


@dataclass(frozen=True, slots=True)
class Pong:
    """What a running service says about itself."""

    milliseconds: float
    pid: int
    version: str
    since: float  # seconds since 1970
    rss_mb: float
    calls: int
    cpu_ms: float  # user and system time so far


@dataclass(frozen=True, slots=True)
class State:
    """The state of a home's service."""

    pong: Pong | None  # None if it does not answer
    pid: int = 0  # of the process that has the lock; 0 if none

    @property
    def is_running(self) -> bool:
        """Whether a process is there, answering or not."""
        return bool(self.pid)


def state(home: str) -> State:
    """Return the state of a home's service."""
    pong = ping(home)
    return State(pong, pong.pid if pong else _locked_by(home))


def ping(home: str, seconds: float = _ANSWER_SECONDS) -> Pong | None:
    """Ask the service for its state; None without an answer."""
    began = time.perf_counter()
    try:
        said = json.loads(_ask(home, PING, seconds))
        took = (time.perf_counter() - began) * 1000
        return Pong(
            took, int(said["pid"]), str(said["version"]), float(said["since"]), float(said["rss_mb"]),
            int(said["calls"]), float(said["cpu_ms"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_allowed(environ: Mapping[str, str]) -> bool:
    """Tell whether the user's settings and variables allow a service."""
    try:
        settings = load_safe_settings(environ)
    except ToldError:
        return False
    return settings.background and settings.service


def start(home: str, environ: Mapping[str, str]) -> Pong:
    """Start the service for a user's command; wait for its answer."""
    found = ping(home)
    if found:
        return found
    if not detect_caller(environ).is_user:
        raise UsageError(
            "The service cannot be started from an agent's shell. Run this in your own terminal."
        )
    if not is_allowed(environ):
        raise UsageError(
            "The service is turned off (TOLD_BACKGROUND, or `service` or `background` in config.toml)."
        )
    spawn(home, environ)
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends:
        found = ping(home)
        if found:
            return found
        time.sleep(_PAUSE)
    raise MissingError("The service did not start. `told health` says more.")


def start_for_hook(environ: Mapping[str, str]) -> bool:
    """Start the service from a hook; return whether it was started."""
    home = find_home(environ)
    if not os.path.isdir(home) or not is_allowed(environ) or _locked_by(home):
        return False
    failed_at = max((one.at for one in read_counts(home) if one.agent == PROCESS_NAME), default=0)
    if abs(time.time() - failed_at / 1000) < _RETRY_SECONDS:
        return False
    return spawn(home, environ)


def spawn(home: str, environ: Mapping[str, str]) -> bool:
    """Start the process of the service, detached and with a clean environment."""
    folders = import_folders()
    if not os.path.exists(str(told.__file__)) or not sys.executable:
        return False  # told was removed
    words = [sys.executable, "-I", "-S", "-c", f"import sys;sys.path[:0]={folders!r};{_RUN}", PROCESS_NAME]
    variables = {
        name: value for name, value in environ.items() if name in _VARIABLES or name.startswith("TOLD_")
    }
    variables["TOLD_HOME"] = home
    # On Windows: DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW.
    flags = 0x00000008 | 0x00000200 | 0x08000000 if os.name == "nt" else 0
    null = subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 - told's own command
            words, env=variables, stdin=null, stdout=null, stderr=null, creationflags=flags
        )
    except OSError:
        return False
    if os.name != "nt":
        process.wait()  # it only forks the service
    return True


def stop(home: str) -> bool:
    """Stop the service, by force if it hangs; return whether it ran."""
    pid = _locked_by(home)
    if not pid:
        return False
    try:
        _ask(home, STOP, _ANSWER_SECONDS)
    except (OSError, ValueError):
        _kill(home, pid, signal.SIGTERM)
    if not _wait_until_gone(home, pid, _STOP_SECONDS):
        _kill(home, pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        _wait_until_gone(home, pid, _KILL_SECONDS)
    return True


def _ask(home: str, kind: str, seconds: float) -> bytes:
    """Send a request to the service and return the answer."""
    ends = time.monotonic() + seconds
    connection, token = _connect(home, seconds)
    with connection:
        connection.sendall(encode_request(kind, token))
        answer = receive(connection, ends)
    if answer is None:
        raise OSError("Something else answers.")
    return answer


def _connect(home: str, seconds: float) -> tuple[socket.socket, str]:
    for path in socket_paths(home) if hasattr(socket, "AF_UNIX") else []:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(seconds)
        try:
            connection.connect(path)
            if is_own(connection):
                return connection, ""
        except OSError:
            pass
        connection.close()
    try:
        port, token = read_text(run_file(home, PORT), 200).split()
        return socket.create_connection(("127.0.0.1", int(port)), seconds), token
    except (ValueError, OverflowError):
        raise OSError("There is no service.") from None


def _locked_by(home: str) -> int:
    """Return the process that has the service's lock; 0 if none."""
    path = run_file(home, LOCK)
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return 0
    try:
        if try_lock(descriptor):
            return 0
        os.lseek(descriptor, 0, os.SEEK_SET)
        pid = os.read(descriptor, 20).strip()
        return int(pid) if pid.isdigit() else 0
    finally:
        os.close(descriptor)


def _wait_until_gone(home: str, pid: int, seconds: float) -> bool:
    """Wait until a process has given up the lock; a hook may start the next one at once."""
    ends = time.monotonic() + seconds
    while _locked_by(home) == pid:
        if time.monotonic() > ends:
            return False
        time.sleep(_PAUSE)
    return True


def _kill(home: str, pid: int, how: signal.Signals) -> None:
    """Send a signal to the process that still has the lock."""
    if _locked_by(home) == pid:
        with suppress(OSError):
            os.kill(pid, how)
