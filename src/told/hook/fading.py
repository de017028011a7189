"""Once a day, at the end of a session: what nobody needed for long goes to the archive, a few at a time."""

from __future__ import annotations

import os
import time

from told.errors import ToldError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment
    from told.store.memories import Memories

_STAMP = "hook.faded"  # the day on which all was done; without it, it is looked at once more
_UNDONE = b"+"  # behind the day: there was no time for all of it, so the rest is the sweep's
_DAY_MS = 86_400_000
_BEGINS, _ENDS = 0.13, 0.2  # seconds after the hook began: when it is too late to begin, and to go on
_FEW = 10
_LARGEST = 20_000_000  # bytes of the journals that can be looked through in that time


def is_due(home: str, now: int, *, hurry: bool = False) -> bool:
    """Tell whether what fades was not yet looked at today; in a hurry, not even at a part of it."""
    try:
        with open(os.path.join(home, _STAMP), "rb") as file:
            noted = file.read(20)
    except OSError:
        return True
    return (noted.removesuffix(_UNDONE) if hurry else noted) != b"%d" % (now // _DAY_MS)


def fade_a_little(memories: Memories, moment: Moment) -> None:
    """Archive what fades, if there is time left for it."""
    settings = moment.settings
    if settings.problem or not settings.retention_days or not is_due(moment.home, moment.now, hurry=True):
        return
    size = sum(one.size for one in memories.positions().values())
    if time.monotonic() > moment.began + _BEGINS or size > _LARGEST:
        return  # left to the sweep in the background
    ends = moment.began + _ENDS
    try:
        fade(moment.home, memories, moment.now, settings.retention_days, most=_FEW, ends=ends)
    except (ToldError, OSError):
        return  # full, locked or read-only: another day


def fade(home: str, memories: Memories, now: int, days: int, *, most: int, ends: float = 0.0) -> None:
    """Archive what fades, after noting what running sessions were shown.

    Args:
        home: The folder of everything told writes for itself.
        memories: The open memories.
        now: When, in ms since 1970.
        days: The window; 0: nothing is done.
        most: How many to archive at most.
        ends: When to stop, on the clock that only goes forward; 0: not before all is done.

    Raises:
        MissingError: the journal cannot be written.
        BusyError: another told is writing.
    """
    from told.hook.shown import write_down
    from told.memory.authority import Caller
    from told.memory.pen import Pen
    from told.memory.retention import check
    from told.store.memory_records import CAPTURE

    pen = Pen(home, memories, now, Caller(CAPTURE))
    if days > 0:
        write_down(pen, now)
    if check(pen, days, most=most, ends=ends):
        _stamp(home, now)
    elif ends and time.monotonic() > ends:
        _stamp(home, now, _UNDONE)


def _stamp(home: str, now: int, more: bytes = b"") -> None:
    path = os.path.join(home, _STAMP)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        os.write(descriptor, b"%d%b" % (now // _DAY_MS, more))
    finally:
        os.close(descriptor)
