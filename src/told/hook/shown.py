"""What a session was shown: noted at a prompt in a small file, and later from there in the journal.

A line says when, how many tokens, and which memories; `since` says when the session was compacted.
"""

from __future__ import annotations

import os

from told.record import record
from told.store.ids import public_id
from told.store.small_files import open_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from told.hook.moment import Moment
    from told.memory.pen import Pen

_FOLDER = "shown"
_SINCE = "since"
_KEPT_MS = 7 * 86_400_000
_HOUR_MS = 3_600_000
_WRITTEN_WHOLE = ("key", "machine", "places", "settings", "hook.current", "hook.handed")


@record
class Shown:
    """What the file of a session says."""

    session: str
    memories: dict[str, int]  # by id, when last
    tokens: int
    since: int  # when it was compacted; 0 if it was not


def shown(moment: Moment) -> Shown:
    """Return what a session was shown and the journal does not have yet."""
    return _read(_path(moment), moment.call.session)


def note(moment: Moment, memories: Sequence[str], tokens: int) -> None:
    """Note that a session was shown memories."""
    _append(_path(moment), moment.hidden_session, f"{moment.now} {tokens} {' '.join(memories)}")


def note_compaction(moment: Moment) -> None:
    """Note that a session was compacted: what it was shown before, it may be shown again."""
    _append(_path(moment), moment.hidden_session, f"{moment.now} {_SINCE}")


def write_down(pen: Pen, now: int, *, own: str = "") -> None:
    """Move what sessions were shown into the journal; files of sessions that ended long ago go away.

    Args:
        pen: Notes it; nothing is written yet.
        now: When.
        own: Only the session with this id of the agent's.
    """
    folder = os.path.join(pen.home, _FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        found = _read(path, "")
        if own not in ("", found.session):
            continue
        if found.memories:
            payload = {"memories": list(found.memories), "session": found.session, "tokens": found.tokens}
            pen.note("show", "", **payload)
            pen.now = max(found.memories.values())  # when it was shown
            pen.write(sync=False)
            pen.now = now
        is_old = now - found.since > _KEPT_MS
        if found.memories or is_old:
            os.remove(path)
        if found.memories and not is_old:
            _append(path, found.session.strip, f"{found.since} {_SINCE}")


def clear_left_behind(home: str, now: int) -> None:
    """Remove files that a process was writing when it was cut off, an hour after."""
    for name in os.listdir(home):
        kind, _, number = name.removesuffix(".new").rpartition(".")
        if kind in _WRITTEN_WHOLE and number.isdigit():
            path = os.path.join(home, name)
            if now - os.stat(path).st_mtime_ns // 1_000_000 > _HOUR_MS:
                os.remove(path)


def _path(moment: Moment) -> str:
    name = public_id("s", moment.call.agent, moment.call.session, length=12)
    return os.path.join(moment.home, _FOLDER, name)


def _read(path: str, session: str) -> Shown:
    memories: dict[str, int] = {}
    tokens = since = 0
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return Shown(session, {}, 0, 0)
    for line in lines[1:]:
        at, _, rest = line.partition(" ")
        what, _, names = rest.partition(" ")
        if not at.isdigit():
            continue
        if what == _SINCE:
            since = int(at)
        elif what.isdigit():
            tokens += int(what)
            memories.update(dict.fromkeys(names.split(), int(at)))
    return Shown(lines[0] if lines else session, memories, tokens, since)


def _append(path: str, session: Callable[[], str], line: str) -> None:
    """Add a line below the session's id, in one step; what cannot be noted is shown again."""
    try:
        descriptor = open_small(path, os.O_WRONLY | os.O_APPEND)
        begun = os.fstat(descriptor).st_size > 0
        first = "" if begun else " ".join(session().split()) + "\n"
        os.write(descriptor, f"{first}{line}\n".encode("utf-8", "replace"))
        os.close(descriptor)
    except OSError:
        return
