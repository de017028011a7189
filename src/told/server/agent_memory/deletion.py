"""Delete what clients sent; agent-memory's own API cannot, so the paths are told's."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path

from told.errors import NotFoundError
from told.server.context import AsMember, TheServer
from told.server.forget import forget_memories
from told.server.memory import open_memory
from told.store.postgres.agent_memory.delete import delete_sent
from told.store.postgres.people import ADMIN, add_audit

router = APIRouter(prefix="/api/v1/agent-memory", tags=["agent-memory"])


@router.delete("/{kind}/{key}")
def delete(
    kind: Literal["observations", "lessons", "sessions"],
    key: Annotated[str, Path(max_length=500)],
    server: TheServer,
    client: AsMember,
) -> dict[str, Any]:
    """Delete an observation, a lesson, or a session with all of its observations; forget your memories of it.

    Members delete what they sent; admins also what others sent, whose memories stay theirs.
    """
    with open_memory(server, client) as opened:
        found = delete_sent(opened.connection, client.viewer, kind, key, of_all=client.role == ADMIN)
        if found is None:
            raise NotFoundError(f"You have sent no {kind.removesuffix('s')} with this id.")
        memories = opened.memories.get(found).values()
        own = [one for one in memories if one.text and not opened.author_of(one)]
        forgotten = forget_memories(opened, own)
        action = f"{kind.removesuffix('s')}.delete"
        add_audit(opened.connection, client.viewer, client.token, action, server.settings.redact(key))
    return {"deleted": key, "forgotten": forgotten}
