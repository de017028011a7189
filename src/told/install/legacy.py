"""Find and remove files that earlier versions left in told's home."""

from __future__ import annotations

import os
import signal
import time

from told.files import read_text
from told.store.database import acquire_lock

# The HTTP service, its token, cached code and cached settings.
_NAMES = ("service.json", "service.token", "service.callers", "service.lock", "settings")
_PREFIX = "snapshot."
_LOCK = "service"
_SECONDS = 3.0


def legacy_files(home: str) -> list[str]:
    """Return the files of earlier versions, by path."""
    try:
        names = sorted(os.listdir(home))
    except OSError:
        return []
    found = (os.path.join(home, name) for name in names if name in _NAMES or name.startswith(_PREFIX))
    return [path for path in found if os.path.isfile(path) or os.path.islink(path)]


def remove_legacy_files(home: str) -> list[str]:
    """Stop an earlier version's service and delete its files; return them."""
    found = legacy_files(home)
    if os.path.join(home, "service.lock") in found:
        _stop_old_service(home)
    removed = []
    for path in found:
        try:
            os.remove(path)
        except OSError:
            continue
        removed.append(path)
    return removed


def _stop_old_service(home: str) -> None:
    """Stop the old service, if it is running."""
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends:
        lock = acquire_lock(home, _LOCK)
        if lock is not None:
            if lock:
                os.close(lock)
            return
        try:
            os.kill(int(read_text(os.path.join(home, "service.lock"), 20)), signal.SIGTERM)
        except (OSError, ValueError):
            return
        time.sleep(0.05)
