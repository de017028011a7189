"""Takes in what a session just wrote, for as long as a hook may; the rest is taken in by the next told."""

from __future__ import annotations

import os
import time

import apsw

from told.errors import ToldError
from told.store.database import open_database
from told.store.schema import VERSION, migrate, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment
    from told.store.memories import Memories

_WAIT_MS = 20
_READING, _LEARNING = 0.14, 0.22  # seconds after the hook began


def open_sessions(home: str, *, make: bool = False) -> apsw.Connection | None:
    """Open the sessions in a hurry; None if they are not there, or not of this version.

    Args:
        home: The folder of everything told writes for itself.
        make: Make them if they are not there.
    """
    path = os.path.join(home, "sessions.db")
    if not os.path.exists(path) and not make:
        return None
    connection = None
    try:
        connection = open_database(path, create=make)
        connection.set_busy_timeout(_WAIT_MS)
        if version(connection) == VERSION or (make and version(connection) == 0 and migrate(connection)):
            return connection
    except (apsw.Error, ToldError):
        pass  # damaged or locked: `told` itself mends it, and what is remembered can be said without it
    if connection is not None:
        connection.close()
    return None


def take_in(connection: apsw.Connection, moment: Moment) -> None:
    """Read the new part of the conversation, or of whatever changed where the agent names no file.

    Whether anything is new is seen without loading what reads it.
    """
    from told.ingest.look import Look, look
    from told.store.watch import Watch

    call, environ, settings = moment.call, moment.environ, moment.settings
    if settings.problem:
        return  # there may be a rule that takes something out, and nobody knows which

    def changed() -> Look:
        found = look(Watch(connection), environ, settings.chosen)
        own = tuple(name for name in found.agents if name == call.agent)
        return Look() if found.moved else Look(found.files, own)

    if is_known(connection, call.transcript) if call.transcript else changed().nothing:
        return
    from told.guard.redact import Redactor
    from told.ingest.sweep import Sweep
    from told.store.key import own_key

    seconds = moment.began + _READING - time.monotonic()
    redact = Redactor(own_key(moment.home), settings.redaction).redact
    sweep = Sweep(connection, settings, environ, redact)
    try:
        if not (call.transcript and sweep.one(call.agent, call.transcript, call.cwd, seconds)):
            sweep.some(changed(), call.cwd, seconds)
    except (ToldError, apsw.BusyError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError, apsw.CantOpenError):
        return  # the next told that can will read it


def is_known(connection: apsw.Connection, path: str) -> bool:
    """Tell whether all that a file has was taken in."""
    from told.ingest.look import state_of
    from told.store.sources import Sources

    known = Sources(connection).get(path)
    return known is not None and state_of(path) == (known.size, known.changed)


def learn_a_little(connection: apsw.Connection, memories: Memories, moment: Moment) -> None:
    """Learn from what was taken in, while there is time."""
    from told.store.fresh import Fresh

    home = moment.home
    seconds = moment.began + _LEARNING - time.monotonic()
    if seconds <= 0 or not moment.settings.learn or not Fresh(connection).is_waiting():
        return
    from told.ingest.whole import Whole
    from told.memory._intake_projects import left_out
    from told.memory.authority import Caller
    from told.memory.intake import Intake
    from told.memory.pen import Pen
    from told.store.locks import LEARN, hold_lock
    from told.store.memory_records import CAPTURE

    lock = hold_lock(home, LEARN)
    if lock is None:
        return
    try:
        pen = Pen(home, memories, moment.now, Caller(CAPTURE))
        deaf = left_out(connection, moment.settings)
        Intake(pen, Fresh(connection), Whole(connection, home), deaf).run(seconds)
    except ToldError:
        return
    finally:
        if lock:
            os.close(lock)
