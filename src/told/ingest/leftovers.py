"""Removes what nobody needs: damaged databases that were put aside, logs, files of killed writers."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What is written for someone who looks for a fault, with TOLD_DEBUG=1.
_LOGS = ("hook.log", "hook.log.old")
_HOUR = 3600
_UNFINISHED = ".new"


def clear(home: str, now: float) -> int:
    """Remove leftovers from told's folder; return how many bytes they had.

    Args:
        home: The folder of everything told writes for itself.
        now: In seconds; a file that somebody may still be writing stays for an hour.
    """
    freed = 0
    for path, size in _leftovers(home, now):
        try:
            os.remove(path)
        except OSError:
            continue  # another told was quicker, or it cannot be deleted: it counts as it did
        freed += size
    return freed


def _leftovers(home: str, now: float) -> Iterator[tuple[str, int]]:
    for entry in os.scandir(home):
        if entry.is_file(follow_symlinks=False) and (
            ".db.damaged" in entry.name or entry.name in _LOGS or _is_unfinished(entry, now)
        ):
            yield entry.path, entry.stat(follow_symlinks=False).st_size
    for folder in ("archive", "checkpoints", "journal"):
        for parent, _, _ in os.walk(os.path.join(home, folder)):
            with os.scandir(parent) as entries:
                for entry in entries:
                    if _is_unfinished(entry, now):
                        yield entry.path, entry.stat(follow_symlinks=False).st_size


def _is_unfinished(entry: os.DirEntry[str], now: float) -> bool:
    """Tell whether a file is named after the process that was to write it, and lay there for an hour."""
    stem, _, number = entry.name.removesuffix(_UNFINISHED).rpartition(".")
    if not stem or not number.isdigit() or not entry.is_file(follow_symlinks=False):
        return False
    return now - entry.stat(follow_symlinks=False).st_mtime > _HOUR
