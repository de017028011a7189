"""Know which checkpoints in projects' folders the user has approved.

Anybody can put a file into a repository. What told wrote on this machine is approved, and what the user said
yes to; both by the file's content, so that a changed file is asked about again. Files in told's home are
the user's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from told.files import NotReadableError, append_lines, read_document
from told.hashing import blake2s
from told.store.database import load_key

UNAPPROVED = "unapproved"  # the status of an open checkpoint until then
APPROVED = "approved"  # the file with the hashes, one a line
_MOST = 20_000  # hashes


def is_approved(home: str, path: str) -> bool:
    """Tell whether a checkpoint's file, as it is now, may be offered to agents."""
    if path.startswith(os.path.join(home, "")):
        return True
    try:
        with open(os.path.join(home, APPROVED), encoding="ascii", errors="replace") as file:
            return _hash(home, path) in file.read().split()
    except (OSError, NotReadableError):
        return False


def approve(home: str, path: str) -> None:
    """Approve a checkpoint's file as it is now."""
    if not is_approved(home, path):
        append_lines(os.path.join(home, APPROVED), f"{_hash(home, path)}\n", _MOST, _MOST * 40)


@contextmanager
def keep_approval(home: str, path: str) -> Iterator[list[str]]:
    """Approve what told makes of an approved file; a new path of it is appended to the list."""
    was_approved = is_approved(home, path)
    paths = [path]
    yield paths
    if was_approved:
        approve(home, paths[-1])


def _hash(home: str, path: str) -> str:
    content = read_document(path, follow_links=False)
    return blake2s(content, digest_size=16, key=load_key(home)[:32]).hexdigest()
