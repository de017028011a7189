"""What told itself wrote as a session's checkpoint, and which sessions still wait for theirs.

A line says when, whose session, at which event there was no time, and the id and the hash of what was
written; never the name of a file, which has words of the session in it. It is a cache: without it a
checkpoint is taken for one that somebody edited, and another is written beside it.
"""

from __future__ import annotations

import os
from _blake2 import blake2s

from told.hook.lines import is_time, read_rows, write_lines
from told.record import record

FILE = "hook.handed"
_MOST = 200  # sessions
_LONGEST = 4000  # characters of a line
_FIELDS = 6


@record
class Handed:
    """One session."""

    at: int
    agent: str
    session: str  # as it may be stored
    waits: str = ""  # the event at which there was no time to write
    id: str = ""  # of the checkpoint
    digest: str = ""  # of its file as told wrote it


def handed(home: str, agent: str, session: str) -> Handed | None:
    """Return what is known of a session; None if nothing is."""
    return next((one for one in _every(home) if (one.agent, one.session) == (agent, session)), None)


def waiting(home: str) -> list[Handed]:
    """Return the sessions that wait for their checkpoint, the latest first."""
    return [one for one in reversed(_every(home)) if one.waits]


def note(home: str, new: Handed) -> None:
    """Note what is known of a session from now on; what cannot be noted is not known."""
    known = _every(home)
    others = [one for one in known if (one.agent, one.session) != (new.agent, new.session)]
    kept = [*others[-_MOST + 1 :], *([new] if new.waits or new.id else [])]
    if kept == known:
        return
    write_lines(home, FILE, [line for line in map(_line, kept) if line])


def digest_of(path: str) -> str:
    """Return the hash of a file; empty if it cannot be read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            return blake2s(file.read(1 << 20), digest_size=12).hexdigest()
    except (OSError, ValueError):
        return ""


def _line(one: Handed) -> str:
    line = "\t".join((str(one.at), one.agent, one.session, one.waits, one.id, one.digest))
    is_fine = line.count("\t") == _FIELDS - 1 and "\n" not in line and "\r" not in line
    return line if is_fine and len(line) <= _LONGEST else ""


def _every(home: str) -> list[Handed]:
    rows = read_rows(home, FILE, _FIELDS, _MOST * _LONGEST)
    return [Handed(int(at), *rest) for at, *rest in rows if is_time(at)]
