"""Sessions, and the tool calls that are sent in them."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from told.jsontext import dump_json, load_json
from told.server.agent_memory.keep import redact
from told.server.agent_memory.models import MAX_NAME, QueueItem, SessionChange, SessionIn
from told.server.context import AsMember, AsReader, Server, TheServer
from told.store.postgres.agent_memory.items import NewItem, add_item
from told.store.postgres.agent_memory.sessions import (
    UNKNOWN,
    SessionRow,
    add_session,
    ensure_project,
    find_session,
    list_sessions,
    update_session,
)

router = APIRouter(prefix="/api", tags=["agent-memory"])
_MAX_PREVIEW = 2_000  # characters
_MAX_INPUT = 4_000  # characters of one text in a tool's input
_MAX_MESSAGE = 20_000


@router.post("/queue")
def queue(item: QueueItem, server: TheServer, client: AsMember) -> dict[str, str]:
    """Take a tool call; what it teaches is found in the background."""
    new = make_item(server, item)
    with server.database.viewing(client.viewer) as connection:
        add_item(connection, client.viewer, new)
    return {"status": "queued"}


def make_item(server: Server, given: QueueItem) -> NewItem:
    """Return what is kept of a tool call, without secrets."""
    cwd = redact(server, given.cwd)
    preview, message = redact(server, given.tool_response_preview), redact(server, given.last_user_message)
    return NewItem(
        redact(server, given.session_id),
        os.path.basename((cwd or "").replace("\\", "/").rstrip("/"))[:MAX_NAME] or UNKNOWN,
        redact(server, given.tool_name),
        _shorten_texts(_redact_input(server, given.tool_input)),
        preview and preview[:_MAX_PREVIEW],
        cwd,
        message and message[:_MAX_MESSAGE],
    )


def _redact_input(server: Server, given: dict[str, Any] | None) -> Any:
    """Redact a tool's input; a secret may only be known by the name beside it."""
    cleaned = redact(server, given)
    text = dump_json(cleaned)
    redacted = server.settings.redact(text)
    if redacted == text:
        return cleaned
    try:
        return load_json(redacted)
    except (json.JSONDecodeError, ValueError):
        return {"input": redacted}


def _shorten_texts(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MAX_INPUT]
    if isinstance(value, dict):
        return {name: _shorten_texts(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_shorten_texts(one) for one in value]
    return value


@router.post("/sessions")
def create(given: SessionIn, server: TheServer, client: AsMember) -> SessionRow:
    """Register a session."""
    new = SessionIn.model_construct(**redact(server, given.model_dump()))
    with server.database.viewing(client.viewer) as connection:
        if find_session(connection, client.viewer.team, new.session_id) is None:
            project = ensure_project(connection, client.viewer.team, new.project, new.project_path)
            if add_session(connection, client.viewer, new.session_id, project, new.agent_type):
                found = find_session(connection, client.viewer.team, new.session_id)
                assert found
                return found
    raise HTTPException(409, "Session already exists")


@router.patch("/sessions/{session_id}")
def change(session_id: str, given: SessionChange, server: TheServer, client: AsMember) -> dict[str, str]:
    """End a session, or summarise it."""
    if given.status is None and given.summary is None:
        raise HTTPException(400, "No fields to update")
    summary, name = redact(server, given.summary), redact(server, session_id)
    with server.database.viewing(client.viewer) as connection:
        if not update_session(connection, client.viewer.team, name, status=given.status, summary=summary):
            raise HTTPException(404, "Session not found")
    return {"status": "updated"}


@router.get("/sessions")
def find(
    server: TheServer,
    client: AsReader,
    project: str | None = None,
    status: str | None = None,
    limit: Annotated[int, Query(ge=0, le=100)] = 20,
) -> list[SessionRow]:
    """List sessions, latest first."""
    with server.database.viewing(client.viewer) as connection:
        return list_sessions(
            connection, client.viewer.team, project=redact(server, project), status=redact(server, status),
            limit=limit,
        )  # fmt: skip
