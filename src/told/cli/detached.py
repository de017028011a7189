"""Starts the background sweep: one at a time, on its own, at the lowest priority."""

from __future__ import annotations

import os
import sys

from told.store.locks import hold_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def start_sweep(home: str, environ: Mapping[str, str]) -> None:
    """Start `told sweep` unless one is running; nobody waits for it."""
    descriptor = hold_lock(home)
    if descriptor is None:
        return
    if descriptor:
        os.close(descriptor)
    command = [sys.executable, "-I", "-m", "told", "sweep"]
    try:
        if hasattr(os, "posix_spawn"):
            quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
            os.posix_spawn(sys.executable, command, dict(environ), file_actions=quiet, setsid=True)
        else:
            import subprocess

            subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3, close_fds=True)  # noqa: S603
    except (OSError, NotImplementedError):
        return
