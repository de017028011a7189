"""One moment of a session, as everything in this room is told it."""

from __future__ import annotations

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.agents.dialects import Call


@record
class Moment:
    """A call of an agent's, and where and when it came."""

    call: Call
    home: str  # the folder of everything told writes for itself
    environ: Mapping[str, str]
    now: int  # in ms since 1970
    began: float  # on the clock that only goes forward
