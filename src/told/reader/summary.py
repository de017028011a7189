"""Put a reader's summary of a session into told's own checkpoint of it."""

from __future__ import annotations

from dataclasses import replace

from told.checkpoints.counter import CheckpointState, hash_file, read_state, write_state
from told.checkpoints.save import update_checkpoint
from told.ingest.checkpoint_files import UnreadableError, read_checkpoint
from told.model import OPEN, TOOL
from told.reader.answer import Summary
from told.reader.base import Stores
from told.store.sessions.facts import QueuedSession
from told.store.sessions.read import Filter

_NOTES = 8


def find_own_checkpoint(stores: Stores, session: QueuedSession) -> tuple[CheckpointState, str] | None:
    """Return the state and path of told's own checkpoint; None if somebody changed it."""
    state = read_state(stores.home, session.agent, session.native)
    if state is None or not state.id or state.waits:
        return None
    rows = stores.reading.checkpoints(Filter(), _NOTES, session_id=session.id)
    path = next((one.path for one in rows if one.public == state.id), "")
    return (state, path) if path and hash_file(path) == state.digest else None


def word_checkpoint(stores: Stores, session: QueuedSession, summary: Summary) -> bool:
    """Replace what the checkpoint says of goal, work and decisions; return whether it changed.

    Files, plans and references stay as the transcript has them, and an open checkpoint stays open.
    """
    found = find_own_checkpoint(stores, session)
    if found is None:
        return False
    state, path = found
    try:
        old = read_checkpoint(path)
    except UnreadableError:
        return False
    if old.by != TOOL:
        return False
    new = replace(
        old,
        goal=summary.goal,
        done=summary.done or old.done,
        pending=summary.pending,
        decisions=summary.decisions or old.decisions,
        status=OPEN if summary.pending else old.status,
    )
    changed = update_checkpoint(stores.connection, stores.home, path, new, stores.redact)
    if changed:
        write_state(stores.home, replace(state, digest=hash_file(path)))
    return changed
