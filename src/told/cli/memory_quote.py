"""Looks up whether the user really said what an agent quotes, in the session that the agent runs in."""

from __future__ import annotations

from told.ingest.look import look
from told.record import record
from told.store.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context
    from told.memory.authority import Caller

_SECONDS = 2.0
_ENDS = (". ", "! ", "? ", "。", "！", "？")  # noqa: RUF001 - people write in these
_SHORTEST = 3  # words of a quote that says anything


@record
class Quoted:
    """Where the user said it."""

    session: str
    turn: int
    sentence: str  # the whole of it: a quote may have left out a "never"


def quoted(context: Context, caller: Caller, quote: str) -> Quoted | None:
    """Return the user's turn of this session that has these words; None if there is none.

    The words of a helper's task were written by an agent, so they do not count.
    """
    wanted = " ".join(quote.split())
    if not caller.session or (len(wanted.split()) < _SHORTEST and wanted.isascii()):
        return None
    catch_up(context)
    for session in context.reading.sessions_like(caller.session, 4):
        if session.native != caller.session or session.kind or session.agent != caller.agent:
            continue
        for turn in context.reading.turns(session.id):
            asked = " ".join(turn.asked.split())
            at = asked.find(wanted)
            if at >= 0:
                return Quoted(session.native, turn.n, _sentence(asked, at, at + len(wanted)))
    return None


def _sentence(text: str, start: int, end: int) -> str:
    """Return a part of a text up to the ends of its sentences."""
    begins = max(text.rfind(sign, 0, start) for sign in _ENDS)
    ends = [place for place in (text.find(sign, end) for sign in _ENDS) if place >= 0]
    return text[begins + 1 : min(ends, default=len(text))]


def catch_up(context: Context) -> None:
    """Read what the agent wrote down just now: the prompt that it quotes may be seconds old."""
    changed = look(Watch(context.connection), context.environ, context.settings.chosen)
    if changed.nothing:
        return
    from told.ingest.sweep import Sweep

    sweep = Sweep(context.connection, context.settings, context.environ, context.redactor().redact)
    sweep.some(changed, context.cwd, _SECONDS)
