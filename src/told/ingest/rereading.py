"""Reads an agent's file once more, for the texts of one session alone; nothing of it is stored."""

from __future__ import annotations

import apsw

from told.ingest.sweep import Sweep
from told.store.erasing import Erasing
from told.store.reading import Reading
from told.store.schema import migrate
from told.store.sources import Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from told.ingest.whole import Texts
    from told.settings import Settings


def texts_again(
    connection: apsw.Connection, settings: Settings, environ: Mapping[str, str],
    redact: Callable[[str], str], name: tuple[str, str],
) -> Texts:  # fmt: skip
    """Return the texts of a session as its agent's file has them; nothing if the file is gone.

    Args:
        connection: The open store, which knows the file.
        settings: The user's.
        environ: Where the agents are.
        redact: Removes secrets.
        name: The session's agent and its own id.
    """
    owner = Sources(connection).of_session(*name)
    if owner is None or owner.gone:
        return {}
    scratch = apsw.Connection(":memory:")
    try:
        migrate(scratch)
        Sweep(scratch, settings, environ, redact).alone(owner.source)
        session_id = Erasing(scratch).find(*name)
        return {n: (asked, answered, steps) for n, _, _, asked, answered, steps in
                Reading(scratch).kept_turns(session_id)}  # fmt: skip
    finally:
        scratch.close()
