"""Answer commands that only read, one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from told.errors import ToldError
from told.hook.client import WITHHELD
from told.service.protocol import Request
from told.settings import find_home

_OWN = ("HOME", "USERPROFILE", "TZ")  # variables that Python reads from the process itself


class Variables(dict[str, str]):
    """The variables of a client. Reading one whose value was not sent is an error."""

    def __getitem__(self, name: str) -> str:
        value = super().__getitem__(name)
        if value == WITHHELD:
            raise LookupError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a variable."""
        return self[name] if name in self else default  # noqa: SIM401 - that would call itself


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command with the folder and the variables of its client."""

    words: list[str]
    folder: str
    environ: Mapping[str, str]
    pid: int = 0  # of its client


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed."""

    code: int
    out: str
    err: str
    is_behind: bool  # a sweep is due, which the client starts with all of its variables


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """What runs commands; it is above this room."""

    identity: str  # of this told; a client of another one runs its commands itself
    run: Callable[[CommandLine], Printed | None]  # None if a command needs its own process


class Commands:
    """Runs commands for clients. A client that gets no answer runs its command itself."""

    def __init__(self, home: str, environ: Mapping[str, str], runner: CommandRunner | None) -> None:
        """Take told's home, the process's own variables, and what runs commands."""
        self._home = home
        self._own = [environ.get(name) for name in _OWN]
        self._runner = runner
        self._lock = Lock()
        self._since = 0.0

    def busy_seconds(self) -> float:
        """Return for how long the current command has been running."""
        since = self._since
        return time.monotonic() - since if since else 0.0

    def answer(self, request: Request) -> str:
        """Return what the client prints; empty if it has to run the command itself."""
        environ = Variables(request.variables)
        if (
            self._runner is None
            or request.agent != self._runner.identity
            or not self._lock.acquire(blocking=False)
        ):
            return ""
        self._since = time.monotonic()
        try:
            if not self._is_same_place(environ):
                return ""
            words = os.fsdecode(request.body).split("\0")
            printed = self._runner.run(CommandLine(words, request.cwd, environ, request.pid))
        except Exception:  # noqa: BLE001 - the client runs the command itself, and says what is wrong
            return ""
        finally:
            self._since = 0.0
            self._lock.release()
        if printed is None:
            return ""
        return f"{printed.code} {len(printed.out)} {printed.is_behind:d}\n{printed.out}{printed.err}"

    def _is_same_place(self, environ: Mapping[str, str]) -> bool:
        """Tell whether a command finds the same files and times here as in its own process."""
        try:
            return find_home(environ) == self._home and [environ.get(name) for name in _OWN] == self._own
        except ToldError:
            return False
