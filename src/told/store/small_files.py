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
        make_one_folder(os.path.dirname(path))
        return os.open(path, flags | os.O_CREAT, 0o600)


def make_one_folder(path: str) -> None:
    """Make a folder that only the user may look into; another told may do so at the same time.

    Raises:
        OSError: it cannot be made, or a file stands there.
    """
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
