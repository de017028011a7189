"""Which session of which agent runs in a folder, noted at its start: commands in an agent's shell ask it.

A line says when, which agent, which session and where; the newest comes last. It is only a cache.
"""

from __future__ import annotations

import os
import time

from told.hook.lines import is_time, read_rows, write_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.hook.moment import Moment

FILE = "hook.current"
_MOST = 100  # sessions
_LONGEST = 4000  # characters of a line
_FIELDS = 4
_KEPT_MS = 14 * 86_400_000  # an agent says it again whenever a session goes on


def note(moment: Moment) -> None:
    """Note that a session begins, or goes on, in a folder; what cannot be noted is not known."""
    call = moment.call
    if not call.session or not call.cwd or moment.hide(call.cwd) != call.cwd:
        return
    session = moment.hidden_session()
    entry = f"{moment.now}\t{call.agent}\t{session}\t{call.cwd}"
    if entry.count("\t") != _FIELDS - 1 or "\n" in entry or "\r" in entry or len(entry) > _LONGEST:
        return
    rows = read_rows(moment.home, FILE, _FIELDS, _MOST * _LONGEST)
    others = ["\t".join(row) for row in rows if row[1:] != [call.agent, session, call.cwd]]
    write_lines(moment.home, FILE, [*others[-_MOST + 1 :], entry])


def running(home: str, agent: str, folder: str) -> str:
    """Return the agent's own id of the session that runs in a folder; empty if nobody knows.

    Args:
        home: The folder of everything told writes for itself.
        agent: Whose; empty for any agent.
        folder: Where. One that was noted for exactly this folder is meant, else for the nearest above it,
            else for the nearest below it; of these the one that began last.
    """
    best: tuple[int, int, int] | None = None
    found = ""
    for at, of, session, noted in _noted(home):
        near = _nearness(noted, os.path.realpath(folder)) if folder else None
        if near is None or agent not in ("", of):
            continue
        rank = (*near, at)
        if best is None or rank >= best:
            best, found = rank, session
    return found


def _nearness(noted: str, folder: str) -> tuple[int, int] | None:
    """Return how near a folder is to the one that was noted, larger if nearer; None if it is elsewhere."""
    if noted == folder:
        return 2, 0
    if _is_below(folder, noted):
        return 1, len(noted)
    return (0, -len(noted)) if _is_below(noted, folder) and not _is_home(folder) else None


def _is_below(folder: str, above: str) -> bool:
    return not _is_home(above) and folder.startswith(above.rstrip("/") + "/")


def _is_home(folder: str) -> bool:
    """Tell whether a folder holds everything there is: what is below it has nothing in common."""
    return folder in ("/", os.path.realpath(os.path.expanduser("~")))


def _noted(home: str) -> Iterator[tuple[int, str, str, str]]:
    oldest = time.time_ns() // 1_000_000 - _KEPT_MS
    for at, agent, session, folder in read_rows(home, FILE, _FIELDS, _MOST * _LONGEST):
        if is_time(at) and int(at) > oldest:
            yield int(at), agent, session, folder
