"""What processes the items of the queue, by their kind, and which of them take long."""

from __future__ import annotations

from collections.abc import Mapping

from told.server.agent_memory.extract import capture_item
from told.server.agent_memory.keep import REMEMBER, remember_item
from told.server.apply import APPLY, apply_series
from told.server.hybrid import embed_memories
from told.server.jobs import Handler
from told.server.memory import EMBED
from told.server.publish import PUBLISH, publish_memories
from told.server.purge import purge_deleted
from told.server.review import REVIEW, review_session
from told.store.postgres.agent_memory.items import CAPTURE
from told.store.postgres.purge import PURGE

HANDLERS: Mapping[str, Handler] = {
    APPLY: apply_series,
    CAPTURE: capture_item,
    EMBED: embed_memories,
    PUBLISH: publish_memories,
    PURGE: purge_deleted,
    REMEMBER: remember_item,
    REVIEW: review_session,
}
SLOW: Mapping[str, float] = {REVIEW: 400.0}  # seconds that a reader may take
