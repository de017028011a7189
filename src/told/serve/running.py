"""The process of the service: one for each folder of told's, on its own, and gone without a trace."""

from __future__ import annotations

import os
import signal
import time

from told.hook.service import CALLERS, LOCK, chosen, is_at, spawn
from told.serve.choice import HOST
from told.settings import home_of
from told.store.locks import hold_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket
    from typing import NoReturn

    from told.serve.mcp.protocol import Toolbox

_IDLE = 1800.0  # seconds
_PATIENCE = 0.25  # an agent that waits for 0.3 seconds has to be told before
_TO_LOAD = 2.0
_LONGEST = 12 * 3600.0  # without a call, also if an agent is still there
_TRIES, _PAUSE = 20, 0.01  # whoever looks whether it runs holds the lock for a moment
_TO_FINISH = 0.5
_BACKLOG = 64


def run(idle: float = _IDLE, patience: float = _PATIENCE, tools: Toolbox | None = None) -> NoReturn:
    """Be the service until nobody needs it, and leave the process.

    Args:
        idle: After how many seconds without a call nobody needs it.
        patience: How many seconds an agent waits for an answer.
        tools: Does the work of the tools that agents call over MCP; without it they cannot.
    """
    home = home_of(os.environ)
    _leave_parent()
    lock = _locked(home)
    if lock is None:
        os._exit(0)  # another one was quicker
    code = 0
    successor = False
    try:
        listener = _listener(home)
        if listener is None:
            code = 1
        else:
            successor = _served(listener, lock, home, idle, patience=patience, tools=tools)
    finally:
        _clean_up(home, lock, stays=successor)
        if successor:
            spawn(home, os.environ)
        os._exit(code)


def listening(port: int) -> socket | None:
    """Return a socket that listens on a port of this machine alone; None if another program has the port."""
    for _ in range(_TRIES):
        made = bound(port)
        try:
            if made is not None:
                made.listen(_BACKLOG)
                return made
        except OSError:
            pass  # two had the port, and the other one was quicker to listen
        time.sleep(_PAUSE)  # whoever looks whether it is free has it for a moment
    return None


def bound(port: int) -> socket | None:
    """Return a socket that has a port and does not listen yet; None if another program has the port."""
    from socket import AF_INET, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket

    made = socket(AF_INET, SOCK_STREAM)
    made.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)  # connections that just ended keep nobody waiting
    try:
        made.bind((HOST, port))
    except (OSError, OverflowError):
        made.close()
        return None
    return made


def _listener(home: str) -> socket | None:
    choice = chosen(home)
    return listening(choice.port) if choice else None


def _served(
    listener: socket, lock: int, home: str, idle: float, *, patience: float, tools: Toolbox | None
) -> bool:
    """Answer until there is a reason to leave; tell whether a newer told should go on."""
    from told.serve.service import OUTDATED, STUCK, Service

    signal.signal(signal.SIGTERM, _stop)
    service = Service(listener, home, os.environ, patience, tools)
    try:
        service.load(_TO_LOAD)
        os.write(lock, f"{os.getpid()}\n".encode())
        reason = service.serve(idle, lambda quiet: _is_wanted(home, quiet))
    except SystemExit:
        reason = ""
    service.finish(0.0 if reason == STUCK else _TO_FINISH)
    return reason == OUTDATED


def _stop(*_: object) -> None:
    raise SystemExit


def _is_wanted(home: str, quiet: float) -> bool:
    """Tell whether an agent still runs that asked for the service; forget those that ended."""
    path = os.path.join(home, CALLERS)
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            noted = file.read().split()
    except OSError:
        return False
    alive = [pid for pid in dict.fromkeys(noted) if pid.isdigit() and _is_alive(int(pid))]
    if alive != noted:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC), "w") as file:
            file.writelines(f"{pid}\n" for pid in alive)
    return bool(alive) and quiet < _LONGEST


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def _leave_parent() -> None:
    """Keep nothing of whoever started it: no terminal, no folder, no open file, no wider permissions."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.closerange(3, 256)
    os.chdir("/")
    os.umask(0o077)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _locked(home: str) -> int | None:
    """Take the lock that says that it runs, on the file that everybody sees."""
    path = os.path.join(home, f"{LOCK}.lock")
    for _ in range(_TRIES):
        descriptor = hold_lock(home, LOCK)
        if descriptor:
            if is_at(path, descriptor):
                os.ftruncate(descriptor, 0)  # of one that was killed
                return descriptor
            os.close(descriptor)  # of one that just left
        elif os.path.exists(path) and os.path.getsize(path):
            return None  # another one listens already
        time.sleep(_PAUSE)
    return None


def _clean_up(home: str, lock: int, *, stays: bool) -> None:
    for name in (f"{LOCK}.lock", *(() if stays else (CALLERS,))):
        try:
            os.remove(os.path.join(home, name))
        except OSError:
            continue
    os.close(lock)
