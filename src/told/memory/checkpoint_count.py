"""Counts the tool calls of a session since its last checkpoint, in a small file of its own.

Whatever happens is one byte at the end of the file: calls at the same time need no lock, and nothing can be
torn. The file's name is a hash and nothing that anybody said is in it. Whoever cannot count says so by a
count of 0, and then nothing may be held against the session.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from told.record import record
from told.store.ids import public_id
from told.store.small_files import open_small

FOLDER = "counts"
_CALL, _DENIAL = b".", b"!"
_LARGEST = 65_536  # bytes; nobody makes so many calls without a checkpoint
_KEPT_MS = 7 * 86_400_000
# Never through a link, and never waiting for whatever stands there instead of a file.
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@record
class Count:
    """What a session did since its last checkpoint, up to the call that asks."""

    calls: int = 0  # with this one; 0: nobody knows
    denials: int = 0


def count(home: str, agent: str, session: str) -> Count:
    """Count one more tool call, and return the count; of calls at the same time, each has its own number."""
    return _noted(_path(home, agent, session), _CALL)


def deny(home: str, agent: str, session: str) -> int:
    """Count one more denial, and return which one it is; 0 if it could not be noted."""
    return _noted(_path(home, agent, session), _DENIAL).denials


def reset(home: str, agent: str, session: str) -> None:
    """Begin anew: a checkpoint was written, or the session ended."""
    path = _path(home, agent, session)
    try:
        os.remove(path)
    except FileNotFoundError:
        return
    except OSError:
        _emptied(path)


def clear_old(home: str, now: int) -> None:
    """Remove the files of sessions that have been quiet for a week."""
    try:
        with os.scandir(os.path.join(home, FOLDER)) as entries:
            for entry in entries:
                if now - entry.stat(follow_symlinks=False).st_mtime_ns // 1_000_000 > _KEPT_MS:
                    os.remove(entry.path)
    except OSError:
        return


def _emptied(path: str) -> None:
    """Empty a file that cannot be removed: that is possible wherever counting is."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_TRUNC | _SAFELY))
    except OSError:
        return


def _path(home: str, agent: str, session: str) -> str:
    return os.path.join(home, FOLDER, public_id("s", agent, session, length=12))


def _noted(path: str, mark: bytes) -> Count:
    """Add a mark, and return what stands there up to it."""
    try:
        descriptor = open_small(path, os.O_RDWR | os.O_APPEND | _SAFELY)
    except OSError:
        return Count()
    try:
        state = os.fstat(descriptor)
        if not S_ISREG(state.st_mode) or state.st_size >= _LARGEST:
            return Count()
        os.write(descriptor, mark)
        end = os.lseek(descriptor, 0, os.SEEK_CUR)  # of this mark, whoever has written meanwhile
        os.lseek(descriptor, 0, os.SEEK_SET)
        marks = os.read(descriptor, end)
        if marks.translate(None, _CALL + _DENIAL):  # not as it was written: nothing in it can be believed
            os.ftruncate(descriptor, 0)
            return Count()
        return Count(marks.count(_CALL), marks.count(_DENIAL))
    except OSError:
        return Count()
    finally:
        os.close(descriptor)
