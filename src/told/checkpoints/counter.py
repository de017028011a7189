"""Count tool calls since the last checkpoint; track automatic checkpoints.

A session's count is a file with one byte per event, so concurrent calls need no lock. Its name is a hash. If
counting fails the count is 0, and nothing is denied.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from told.files import is_timestamp, open_private, read_table, write_table
from told.hashing import blake2s
from told.store.database import public_id

_FOLDER = "counts"
_CALL, _DENIAL = b".", b"!"
_MAX_EVENTS = 65_536
_KEPT_MS = 7 * 86_400_000
# Follow no link, and do not wait if the path is a pipe.

_STATE_FILE = "hook.handed"
_MAX_STATES = 200
_MAX_LINE = 4000  # characters
_FIELDS = 6


@dataclass(frozen=True, slots=True)
class Count:
    """The events of a session since its last checkpoint."""

    calls: int = 0  # including this one; 0: unknown
    denials: int = 0


def count_call(home: str, agent: str, session: str) -> Count:
    """Count a tool call; concurrent calls get different numbers."""
    return _add_event(_path(home, agent, session), _CALL)


def count_denial(home: str, agent: str, session: str) -> int:
    """Count a denied call; return its number, or 0 on failure."""
    return _add_event(_path(home, agent, session), _DENIAL).denials


def reset_count(home: str, agent: str, session: str) -> None:
    """Reset the count after a checkpoint or at the end of a session."""
    path = _path(home, agent, session)
    try:
        os.remove(path)
    except FileNotFoundError:
        return
    except OSError:
        with suppress(OSError):
            os.close(open_private(path, os.O_WRONLY | os.O_TRUNC))


def remove_old_counts(home: str, now: int) -> None:
    """Remove the counts of sessions that were quiet for a week."""
    with suppress(OSError), os.scandir(os.path.join(home, _FOLDER)) as entries:
        for entry in entries:
            if now - entry.stat(follow_symlinks=False).st_mtime_ns // 1_000_000 > _KEPT_MS:
                os.remove(entry.path)


def _path(home: str, agent: str, session: str) -> str:
    return os.path.join(home, _FOLDER, public_id("s", agent, session, length=12))


def _add_event(path: str, event: bytes) -> Count:
    """Append an event; count the events up to it."""
    try:
        descriptor = open_private(path, os.O_RDWR | os.O_APPEND, make_parent=True)
    except OSError:
        return Count()
    try:
        if os.fstat(descriptor).st_size >= _MAX_EVENTS:
            return Count()
        os.write(descriptor, event)
        end = os.lseek(descriptor, 0, os.SEEK_CUR)  # of this event, even if others were added since
        os.lseek(descriptor, 0, os.SEEK_SET)
        events = os.read(descriptor, end)
        if events.translate(None, _CALL + _DENIAL):  # damaged: start again
            os.ftruncate(descriptor, 0)
            return Count()
        return Count(events.count(_CALL), events.count(_DENIAL))
    except OSError:
        return Count()
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """The automatic checkpoint of a session."""

    at: int
    agent: str
    session: str  # redacted
    waits: str = ""  # the event at which there was no time to write it
    id: str = ""  # of the checkpoint
    digest: str = ""  # of its file as told wrote it


def read_state(home: str, agent: str, session: str) -> CheckpointState | None:
    """Return the state of a session, or None."""
    return next((one for one in _read_states(home) if (one.agent, one.session) == (agent, session)), None)


def list_pending(home: str) -> list[CheckpointState]:
    """Return the sessions that wait for their checkpoint, latest first."""
    return [one for one in reversed(_read_states(home)) if one.waits]


def write_state(home: str, new: CheckpointState) -> None:
    """Store the state of a session; ignore errors."""
    known = _read_states(home)
    others = [one for one in known if (one.agent, one.session) != (new.agent, new.session)]
    states = [*others[-_MAX_STATES + 1 :], *([new] if new.waits or new.id else [])]
    if states != known:
        write_table(os.path.join(home, _STATE_FILE), filter(None, map(_format_state, states)))


def hash_file(path: str) -> str:
    """Hash a file; return "" if it cannot be read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return blake2s(file.read(1 << 20), digest_size=12).hexdigest()
    except (OSError, ValueError):
        return ""


def _format_state(one: CheckpointState) -> str:
    line = "\t".join((str(one.at), one.agent, one.session, one.waits, one.id, one.digest))
    is_valid = line.count("\t") == _FIELDS - 1 and "\n" not in line and "\r" not in line
    return line if is_valid and len(line) <= _MAX_LINE else ""


def _read_states(home: str) -> list[CheckpointState]:
    rows = read_table(os.path.join(home, _STATE_FILE), _FIELDS, _MAX_STATES * _MAX_LINE)
    return [CheckpointState(int(at), *rest) for at, *rest in rows if is_timestamp(at)]
