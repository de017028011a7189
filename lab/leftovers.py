"""Programs that are still running on a machine when a session is over, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
import time

_SWEEP = 20.0  # seconds that a sweep may take, on a machine that has much else to do
_PATIENCE = 5.0  # seconds until it is no longer asked but made to


def running(home: str) -> dict[int, str]:
    """Return the processes that have a home folder, by id, with their command lines; only Linux can say."""
    wanted = f"HOME={home}".encode()
    found: dict[int, str] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit() and wanted in _read(f"/proc/{name}/environ").split(b"\0"):
            found[int(name)] = _read(f"/proc/{name}/cmdline").replace(b"\0", b" ").decode(errors="replace")
    return found


def lasting(home: str, words: str) -> list[str]:
    """Return the command lines with these words that do not end by themselves, as a background sweep does."""
    ends = time.monotonic() + _SWEEP
    while True:
        lines = [line for line in running(home).values() if words in line]
        if not lines or time.monotonic() > ends:
            return lines
        time.sleep(0.3)


def end(home: str) -> None:
    """End what is still running there, and wait for it: some agents leave a service of their own behind."""
    ends = time.monotonic() + _PATIENCE
    asked = signal.SIGTERM
    while (left := running(home)) and time.monotonic() < ends + _PATIENCE:
        for number in left:
            with contextlib.suppress(OSError):
                os.kill(number, asked)
        if time.monotonic() > ends:
            asked = signal.SIGKILL
        time.sleep(0.2)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # it has ended, or is somebody else's
        return b""
