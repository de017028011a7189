"""Starts the background sweep: one at a time, on its own, at the lowest priority."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


SWEEP, LEARN = "sweep", "learn"  # what only one told does at a time


def hold_lock(home: str, what: str = SWEEP) -> int | None:
    """Take a lock until the process ends or the descriptor is closed; None when another told has it."""
    try:
        import fcntl
    except ImportError:  # Windows: two sweeps do no harm, each checks the cursor it began from
        return 0
    try:
        descriptor = os.open(os.path.join(home, f"{what}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


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
