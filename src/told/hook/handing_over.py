"""Before a compaction and at the end of a session: writes its checkpoint, or brings told's own up to date."""

from __future__ import annotations

import time

import apsw

from told.agents.events import COMPACT, END
from told.errors import ToldError
from told.hook.catching_up import is_known
from told.hook.handed import Handed, handed, note, waiting
from told.record import replaced
from told.snapshot import HAND, ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.hook.moment import Moment
    from told.settings import Settings
    from told.store.memories import Memories

_WRITING, _MAKING_UP = 0.18, 0.1  # seconds after the hook began: too late to begin with it
_AT_LEISURE = 60.0  # seconds more, where no agent waits
_MOST = 50
_LOOK = "look"  # waits for a second look, for which no agent has to wait
_AUTO = "auto"  # why an agent compacts in the middle of its work


def hand_over(connection: apsw.Connection | None, memories: Memories, moment: Moment) -> None:
    """Write the checkpoint of the session that is about to be compacted, or that ends.

    Where there is no time for it, or the sessions cannot be opened, the next session's start makes up for it.
    """
    call = moment.call
    if call.event not in (COMPACT, END) or not call.session or not _may(moment):
        return
    session = moment.hidden_session()
    known = handed(moment.home, call.agent, session) or Handed(moment.now, call.agent, session)
    known = replaced(known, at=moment.now, waits=call.event)
    # Noted first: where the time is up in the midst of it, it is made up for.
    note(moment.home, known)
    if connection is None or time.monotonic() > moment.began + _WRITING:
        return
    done = _written(connection, memories, moment, known, call.event == COMPACT and call.source == _AUTO)
    if not call.transcript and call.event == END:
        done = replaced(done, waits=_LOOK)  # it may write the last answer only now
    if not call.transcript or is_known(connection, call.transcript):  # else there is more to say
        note(moment.home, done)


def make_up(connection: apsw.Connection, memories: Memories, moment: Moment) -> None:
    """Write the checkpoint of a session for which there was no time when it ended."""
    if time.monotonic() < moment.began + _MAKING_UP:
        _make_up(connection, memories, moment, most=1)


def make_up_for_all(
    connection: apsw.Connection, memories: Memories, settings: Settings, environ: Mapping[str, str], now: int
) -> None:
    """Write the checkpoints of all sessions for which there was no time, outside any hook."""
    if not waiting(settings.home):
        return
    from told.agents.dialects import Call
    from told.hook.moment import Moment

    began = time.monotonic() + _AT_LEISURE
    _make_up(
        connection, memories, Moment(Call("", END), settings.home, environ, now, began, settings), most=_MOST
    )


def _make_up(connection: apsw.Connection, memories: Memories, moment: Moment, *, most: int) -> None:
    found = [one for one in waiting(moment.home) if most > 1 or one.waits != _LOOK]
    for one in found[:most] if _may(moment) else ():
        then = replaced(moment, now=one.at)  # it is as old as the session, not as this start
        done = _written(connection, memories, then, one, under_way=False)
        note(moment.home, replaced(done, waits=""))


def _may(moment: Moment) -> bool:
    return moment.settings.learn and not moment.settings.problem


def _written(
    connection: apsw.Connection, memories: Memories, moment: Moment, known: Handed, under_way: bool
) -> Handed:
    """Return what is known of the session then; the same as before if nothing could be written."""
    ready(HAND)
    from told.hook.handing import write

    try:
        return write(connection, memories, moment, known, under_way=under_way)
    except (ToldError, OSError, apsw.Error):
        return known  # full, locked or read-only: an agent is not bothered with it
