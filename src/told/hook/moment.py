"""One moment of a session, as everything in this room is told it."""

from __future__ import annotations

import time

from told.guard.names import is_plain, plain_id, plain_path
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from told.agents.dialects import Call
    from told.settings import Settings
    from told.store.memories import Memories


@record
class Serving:
    """What a service brings along that answers many calls."""

    memories: Callable[..., Memories]  # as `open_memories`, which opens them for one call
    ends: float  # when the agent no longer listens


@record
class Moment:
    """A call of an agent's, and where and when it came."""

    call: Call
    home: str  # the folder of everything told writes for itself
    environ: Mapping[str, str]
    now: int  # in ms since 1970
    began: float  # on the clock that only goes forward
    settings: Settings
    serving: Serving | None = None

    def memories(self, *, hurry: bool = True) -> Memories:
        """Return the memories as the journal has them now."""
        if self.serving is not None:
            return self.serving.memories(self.home, hurry=hurry)
        from told.journal.apply import open_memories

        return open_memories(self.home, hurry=hurry)

    def hide(self, name: str) -> str:
        """Return a path or a name without secrets; most need no look at them."""
        if is_plain(name):
            return name
        from told.guard.redact import Redactor
        from told.store.key import own_key

        return plain_path(name, Redactor(own_key(self.home), self.settings.redaction).redact)

    def hidden_session(self) -> str:
        """Return the session's id as it may be stored."""
        if is_plain(self.call.session):
            return self.call.session
        from told.guard.redact import Redactor
        from told.store.key import own_key

        key = own_key(self.home)
        return plain_id(self.call.session, Redactor(key, self.settings.redaction).redact, lambda: key)

    @property
    def is_late(self) -> bool:
        """Whether nobody waits for the answer any more; a process of the agent's own would have ended."""
        return self.serving is not None and time.monotonic() > self.serving.ends
