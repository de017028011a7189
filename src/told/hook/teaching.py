"""Keeps what a prompt teaches, before the agent has read it: on disk when this returns."""

from __future__ import annotations

from told.guard.cutting import whole_words
from told.guard.redact import Redactor
from told.memory.authority import Caller
from told.memory.capture import capture
from told.memory.hearing import take
from told.memory.pen import Pen
from told.memory.remember import Said
from told.record import replaced
from told.store.memory_records import CAPTURE, GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment
    from told.hook.places import Here
    from told.memory.capture import Statement
    from told.store.memories import Memories

_BEYOND = 8_000  # characters; a secret is not cut in two before it is seen
_LONGEST = 32_000  # characters; the same as sessions keep of a message


def learn_from(
    moment: Moment, taught: list[Statement], place: Here, memories: Memories, key: bytes
) -> list[str]:
    """Keep what a prompt teaches; return the ids of the memories that say it."""
    call, now = replaced(moment.call, session=moment.hidden_session()), moment.now
    redactor = Redactor(key, moment.settings.redaction)
    message = redactor.redact(whole_words(call.prompt, _LONGEST + _BEYOND))[:_LONGEST]
    pen = Pen(moment.home, memories, now, Caller(CAPTURE), hurry=True)
    known = []
    if message != call.prompt:  # it was long, or there was a secret in it
        taught = capture(message)
    for number, one in enumerate(taught):
        said = Said(
            " ".join(one.text.split()), GLOBAL if one.scope == GLOBAL else place.scope, one.kind,
            quote=one.quote, agent=call.agent, session=call.session, at=now, about=one,
            seed=f"{call.agent}/{call.session}.{now}.{number}", certainty=one.certainty,
        )  # fmt: skip
        known.append(take(pen, said, sync=True)[0])
    return known
