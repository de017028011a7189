"""Starts the background service where the user chose it: the one process that a hook may start."""

from __future__ import annotations

import os
import sys
import time

from told.errors import ToldError
from told.record import record
from told.store.locks import hold_lock
from told.store.memory_json import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK = "service"  # held while it runs; its file then says which process that is
CHOICE = "service.json"
CALLERS = "service.callers"  # the agents that asked for it, as long as they run
_MOST = 10_000  # bytes
_PAUSE = 0.005  # seconds
_RUN = "from told.cli.serving import run;run()"  # the one thing a hook starts is above its room
# What a service needs of its surroundings; an agent's keys have no business in a process that stays.
_KEPT = frozenset(("HOME", "USERPROFILE", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"))


@record
class Choice:
    """That the user chose the service: where it listens, and for whom."""

    port: int
    owners: tuple[str, ...] = ()  # whose hooks ask it, as the ledger calls them


def chosen(home: str) -> Choice | None:
    """Return what the user chose; None if they did not."""
    try:
        with open(os.path.join(home, CHOICE), encoding="utf-8", errors="replace") as file:
            found = decoded(file.read(_MOST).strip())
        return Choice(int(found["port"]), tuple(map(str, found["owners"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def wake(home: str, agent: str, environ: Mapping[str, str]) -> bool:
    """Start the service for an agent whose hooks ask it, unless it runs; tell whether it was started."""
    choice = chosen(home)
    if choice is None or not any(owner.split(" ", 1)[0] == agent for owner in choice.owners):
        return False
    from told.settings import load

    try:
        if not load(environ).background:
            return False
        _note_caller(home)
        if runs(home):
            return False
        spawn(home, environ)
    except (OSError, ToldError):
        return False
    return True


def wait(home: str, until: float) -> None:
    """Wait for a service that was just started to listen: the first prompt may be on its way already."""
    while time.monotonic() < until and not pid_of(home):
        time.sleep(_PAUSE)


def runs(home: str) -> bool:
    """Tell whether a service runs; one that was killed left its file, but not its lock."""
    path = os.path.join(home, f"{LOCK}.lock")
    if not os.path.exists(path):
        return False
    descriptor = hold_lock(home, LOCK)
    if descriptor is None:
        return True
    if descriptor:
        try:
            if is_at(path, descriptor):
                os.remove(path)
        finally:
            os.close(descriptor)
    return False


def is_at(path: str, descriptor: int) -> bool:
    """Tell whether an open file is the one that stands at a path.

    Only who has the lock of the file that stands there may remove it: else a service would run unseen.
    """
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def pid_of(home: str) -> int:
    """Return the process that listens, as its file says; 0 if none does, or not yet."""
    try:
        with open(os.path.join(home, f"{LOCK}.lock"), encoding="ascii", errors="replace") as file:
            pid = file.read(20).strip()
    except OSError:
        return 0
    return int(pid) if pid.isascii() and pid.isdigit() and runs(home) else 0


def spawn(home: str, environ: Mapping[str, str]) -> int:
    """Start the service as a process of its own, which nobody waits for; return its number."""
    import apsw

    import told

    folders = [os.path.dirname(os.path.dirname(os.path.abspath(str(one.__file__)))) for one in (told, apsw)]
    code = f"import sys;sys.path[:0]={folders!r};{_RUN}"
    words = [sys.executable, "-I", "-S", "-c", code]
    kept = {name: value for name, value in environ.items() if name in _KEPT or name.startswith("TOLD_")}
    kept["TOLD_HOME"] = home
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        return os.posix_spawn(sys.executable, words, kept, file_actions=quiet, setsid=True)
    except NotImplementedError:  # it leaves its parent's session by itself
        return os.posix_spawn(sys.executable, words, kept, file_actions=quiet)


def _note_caller(home: str) -> None:
    """Note the agent that runs this hook, so that the service stays as long as the agent does."""
    path = os.path.join(home, CALLERS)
    if os.getppid() > 1:
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.write(descriptor, f"{os.getppid()}\n".encode())
        os.close(descriptor)
