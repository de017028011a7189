"""Opens the small files that hooks keep beside the databases, one line or byte a call."""

from __future__ import annotations

import os


def open_small(path: str, flags: int) -> int:
    """Open a file that only the user may read, in a folder that is made at the first time.

    Not the folder around that one: without it, told is not there.
    """
    try:
        return os.open(path, flags | os.O_CREAT, 0o600)
    except FileNotFoundError:
        _make(os.path.dirname(path))
        return os.open(path, flags | os.O_CREAT, 0o600)


def _make(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return  # made meanwhile by a call at the same time
