"""Run the service's process: detached, one per home, until it is no longer needed."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

# `dispatch` imports these late; loaded after an update they would be another version's.
import told.hook.prompt
import told.hook.session
import told.hook.tool  # noqa: F401
from told.files import write_private
from told.service.commands import CommandRunner
from told.service.control import is_allowed, spawn
from told.service.server import Server
from told.service.state import (
    FAILED,
    LOCK,
    PORT,
    PROCESS_NAME,
    count_problem,
    make_run_folder,
    run_file,
    take_lock,
    usable_socket_paths,
)
from told.settings import find_home

_IDLE_SECONDS = 900.0
_CHECK_SECONDS = 3.0  # between two checks whether it is still needed
_STUCK_SECONDS = 300.0  # after which a job will never end
_SETTLED_SECONDS = 1.0  # without a further change, after which an update of told is complete
_FINISH_SECONDS = 20.0
_BACKLOG = 512


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the service listens."""

    listener: socket.socket
    path: str = ""  # of a Unix socket; empty for TCP
    file: os.stat_result | None = None  # the socket's file
    token: str = ""  # for TCP

    @property
    def is_reachable(self) -> bool:
        """Whether clients find this process at the path."""
        return self.file is None or _is_same_file(self.path, self.file)


class Watch:
    """Checks whether the service should leave."""

    def __init__(self, home: str, lock: int, endpoint: Endpoint, idle: float) -> None:
        """Take the descriptor of the lock, and after how many idle seconds to leave."""
        self.is_outdated = False
        self._home = home
        self._lock = os.fstat(lock)
        self._endpoint = endpoint
        self._idle = idle
        self._sources: dict[str, tuple[int, int, int] | None] = {}
        self._changed_at = 0.0
        self._checked_at = 0.0
        self._config = _file_state(os.path.join(home, "config.toml"))
        self._has_new_sources()

    def should_leave(self, idle: float, stuck: float) -> bool:
        """Tell whether the service should leave."""
        if idle >= self._idle or stuck >= _STUCK_SECONDS or not self._is_home():
            return True
        now = time.monotonic()
        if now - self._checked_at < min(_CHECK_SECONDS, self._idle) and not self._changed_at:
            return False
        self._checked_at = now
        if self._has_new_sources():
            self._changed_at = now
        self.is_outdated = bool(self._changed_at) and now - self._changed_at >= _SETTLED_SECONDS
        return self.is_outdated or self._is_turned_off()

    def _is_home(self) -> bool:
        """Tell whether clients still find this process in its home."""
        return _is_same_file(run_file(self._home, LOCK), self._lock) and self._endpoint.is_reachable

    def _has_new_sources(self) -> bool:
        """Tell whether a loaded source file changed since the last check."""
        changed = False
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if path and name.partition(".")[0] == "told":
                state = _file_state(path)
                changed |= self._sources.get(path, state) != state
                self._sources[path] = state
        return changed

    def _is_turned_off(self) -> bool:
        config = _file_state(os.path.join(self._home, "config.toml"))
        if config == self._config:
            return False
        self._config = config
        return not is_allowed(os.environ)


def run(runner: CommandRunner | None = None, *, tcp: bool = os.name == "nt") -> NoReturn:
    """Run the service until it is no longer needed, and exit.

    `runner` answers commands; `tcp` listens on loopback with a token, for systems without Unix sockets.
    """
    _detach()
    home = find_home(os.environ)
    lock = _take_lock(home) if os.path.isdir(home) else None
    if lock is None:
        os._exit(0)  # another one is running, or there is nothing to serve
    is_outdated = False
    try:
        endpoint = _listen(home, tcp=tcp)
        try:
            is_outdated = _serve(home, lock, endpoint, runner)
        finally:
            _leave(home, endpoint)
    except Exception as error:  # noqa: BLE001 - hooks answer in their own process; `told health` says why
        count_problem(home, PROCESS_NAME, "start", FAILED, type(error).__name__)
    finally:
        os.close(lock)
        if is_outdated:
            spawn(home, os.environ)
        os._exit(0)


def _take_lock(home: str) -> int | None:
    """Take the service's lock; None if another process has it."""
    make_run_folder(home)
    descriptor = take_lock(home, LOCK, tries=30)  # `control.state` holds the lock for an instant
    if descriptor is not None:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def _listen(home: str, *, tcp: bool) -> Endpoint:
    """Listen where clients look; replace the socket of a killed service."""
    if tcp:
        listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        token = os.urandom(32).hex()
        line = f"{listener.getsockname()[1]} {token}\n"
        write_private(run_file(home, PORT), line.encode(), sync=False)
        return Endpoint(listener, token=token)
    for path in usable_socket_paths(home):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with suppress(OSError):
                os.remove(path)
            listener.bind(path)
            listener.listen(_BACKLOG)
        except OSError:  # too long, or the file system has no sockets
            listener.close()
            continue
        return Endpoint(listener, path, os.stat(path))
    raise OSError("There is no folder for the service's socket.")


def _leave(home: str, endpoint: Endpoint) -> None:
    """Remove the socket unless another service has replaced it."""
    with suppress(OSError):
        if not endpoint.path:
            os.remove(run_file(home, PORT))
        elif endpoint.is_reachable:
            os.remove(endpoint.path)
            if not endpoint.path.startswith(f"{home}{os.sep}"):
                os.rmdir(os.path.dirname(endpoint.path))


def _serve(home: str, lock: int, endpoint: Endpoint, runner: CommandRunner | None) -> bool:
    """Answer calls; return whether a newer told should take over."""
    gc.collect()
    gc.freeze()  # exempt the loaded modules from garbage collection
    server = Server(endpoint.listener, home, os.environ, token=endpoint.token, runner=runner)
    signal.signal(signal.SIGTERM, server.stop)
    try:
        idle = float(os.environ.get("TOLD_SERVICE_IDLE", ""))
    except ValueError:
        idle = _IDLE_SECONDS
    watch = Watch(home, lock, endpoint, idle)
    every = min(_CHECK_SECONDS, max(0.05, idle / 4))
    server.serve(lambda: watch.should_leave(server.idle_seconds, server.stuck_seconds), every)
    _leave(home, endpoint)  # from here on clients answer for themselves
    if server.stuck_seconds < _STUCK_SECONDS:
        server.finish(_FINISH_SECONDS)
    return watch.is_outdated


def _detach() -> None:
    """Leave the parent's session, folder, open files and umask."""
    if hasattr(os, "fork"):
        if os.fork():
            os._exit(0)  # the parent waits for this one; nobody has to wait for the service
        os.setsid()
        os.closerange(3, 4096)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(os.path.abspath(os.sep))
    os.umask(0o077)


def _file_state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _is_same_file(path: str, file: os.stat_result) -> bool:
    """Tell whether a path still leads to the same file."""
    try:
        return os.path.samestat(os.stat(path), file)
    except OSError:
        return False
