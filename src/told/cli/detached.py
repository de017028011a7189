"""Starts the background sweep: one at a time, on its own, at the lowest priority."""

from __future__ import annotations

import os
import sys

from told.store.locks import hold_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_started: list[int] = []  # processes that a long-lived told has started and not seen end


def start_sweep(home: str, environ: Mapping[str, str]) -> None:
    """Start `told sweep` unless one is running; nobody waits for it."""
    _see_ended()
    descriptor = hold_lock(home)
    if descriptor is None:
        return
    if descriptor:
        os.close(descriptor)
    command = [sys.executable, "-I", "-m", "told", "sweep"]
    try:
        if hasattr(os, "posix_spawn"):
            quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
            child = os.posix_spawn(sys.executable, command, dict(environ), file_actions=quiet, setsid=True)
            _started.append(child)
        else:
            import subprocess

            subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3, close_fds=True)  # noqa: S603
    except (OSError, NotImplementedError):
        return


def _see_ended() -> None:
    """Take note of processes that ended: until then the system keeps their names."""
    for child in list(_started):
        try:
            ended = os.waitpid(child, os.WNOHANG)[0]
        except ChildProcessError:
            ended = child
        if ended:
            _started.remove(child)
