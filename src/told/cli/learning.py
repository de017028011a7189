"""Has told listen to sessions that came in: before a command about memories, and in the background."""

from __future__ import annotations

import os

from told.store.fresh import Fresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context
    from told.memory.intake import Learned
    from told.store.memories import Memories

_SECONDS = 0.4  # that a command waits; the background does the rest


def learn_some(context: Context, memories: Memories) -> None:
    """Learn from what is new, for a moment; all of it where nothing goes on in the background."""
    if context.settings.learn and Fresh(context.connection).is_waiting():
        from told.errors import ToldError

        try:
            learn(context, memories, _SECONDS if context.settings.background else None)
        except ToldError:
            return  # busy or full: what is known is answered, and the rest is learned later
        context.behind = context.behind or Fresh(context.connection).is_waiting()


def learn(context: Context, memories: Memories, seconds: float | None = None) -> Learned | None:
    """Learn from what is new; None if another told is at it."""
    from told.memory._intake_projects import left_out
    from told.memory.authority import Caller
    from told.memory.intake import Intake
    from told.memory.pen import Pen
    from told.store.locks import LEARN, hold_lock
    from told.store.memory_records import CAPTURE

    lock = hold_lock(context.settings.home, LEARN)
    if lock is None:
        return None
    try:
        pen = Pen(context.settings.home, memories, context.now, Caller(CAPTURE))
        deaf = left_out(context.connection, context.settings)
        return Intake(pen, Fresh(context.connection), context.reading, deaf).run(seconds)
    finally:
        if lock:
            os.close(lock)


def learn_everything(context: Context) -> Learned | None:
    """Open the memories, and learn from all that is new, if there is any and the user wants that at all."""
    fresh = Fresh(context.connection)
    if not context.settings.learn or not (fresh.is_waiting() or fresh.is_at_rest(context.now)):
        return None
    from told.journal.apply import open_memories

    memories = open_memories(context.settings.home)
    try:
        return learn(context, memories)
    finally:
        memories.close()
