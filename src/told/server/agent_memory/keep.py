"""Keep what clients send: observations and lessons, redacted, and as told's own memories."""

from __future__ import annotations

import secrets
from typing import Any

from told.errors import UsageError
from told.search.vectors.table import make_vector, table_model_id
from told.server.agent_memory.memories import TOOL, remember_row
from told.server.agent_memory.models import MAX_TEXT
from told.server.agent_memory.patterns import check_pattern
from told.server.context import Client, Server
from told.server.jobs import Write
from told.server.memory import use_memory
from told.store.memories.names import AGENT
from told.store.postgres.agent_memory.lessons import (
    LessonRow,
    NewLesson,
    add_lesson,
    get_lesson,
    update_lesson,
)
from told.store.postgres.agent_memory.memories import find_memory, note_memory
from told.store.postgres.agent_memory.observations import (
    NewObservation,
    ObservationRow,
    add_observation,
    get_observation,
)
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.jobs import enqueue
from told.store.postgres.people import MEMBER, add_audit
from told.text import clean

REMEMBER = "remember"  # kind of the items that make a memory of a row
_MAX_DEPTH = 20  # of foreign JSON


def redact(server: Server, value: Any, depth: int = 0) -> Any:
    """Return a foreign value without secrets, control characters and what cannot be stored."""
    if isinstance(value, str):
        return server.settings.redact(clean(value[:MAX_TEXT]))
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {redact(server, str(name)): redact(server, one, depth + 1) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(server, one, depth + 1) for one in value]
    return value


def embed(text: str) -> tuple[bytes | None, str]:
    """Return the vector of a text, and the model's name."""
    return make_vector(text), table_model_id() or ""


def keep_observation(server: Server, client: Client, given: dict[str, Any]) -> ObservationRow:
    """Keep an observation; its fields are redacted here."""
    with server.database.viewing(client.viewer) as connection:
        return keep_in(connection, server, client, given)


def keep_in(connection: Connection, server: Server, client: Client, given: dict[str, Any]) -> ObservationRow:
    """Keep an observation within a transaction; its fields are redacted here."""
    new = NewObservation(**redact(server, given))
    row = add_observation(connection, client.viewer, new, *embed(new.raw_text))
    add_audit(connection, client.viewer, client.token, "observation.create", str(row.id))
    keep_as_memory(connection, client, row, new.session_id)
    return row


def keep_lesson(server: Server, client: Client, given: dict[str, Any]) -> LessonRow:
    """Keep a lesson; its fields are redacted here.

    Raises:
        UsageError: its pattern is wrong, or its source does not exist.
    """
    check_pattern(given.get("trigger_pattern"))
    new = NewLesson(**redact(server, given))
    check_pattern(new.trigger_pattern)
    source = new.source_observation_id
    with server.database.viewing(client.viewer) as connection:
        if source is not None and get_observation(connection, client.viewer.team, source) is None:
            raise UsageError(f"Unknown source_observation_id {source}. Give the id of an observation.")
        row = add_lesson(connection, client.viewer, new)
        add_audit(connection, client.viewer, client.token, "lesson.create", str(row.id))
        keep_as_memory(connection, client, row)
    return row


def change_lesson(server: Server, client: Client, number: int, given: dict[str, Any]) -> LessonRow | None:
    """Change a lesson and its memory; None if there is none of this id.

    Raises:
        UsageError: its pattern is wrong.
    """
    check_pattern(given.get("trigger_pattern"))
    changes = redact(server, given)
    with server.database.viewing(client.viewer) as connection:
        if get_lesson(connection, client.viewer.team, number) is None:
            return None
        row = update_lesson(connection, client.viewer.team, number, changes)
        add_audit(
            connection, client.viewer, client.token, "lesson.change", str(number), fields=sorted(changes)
        )
        if row:
            keep_as_memory(connection, client, row)
    return row


def keep_as_memory(
    connection: Connection, client: Client, row: ObservationRow | LessonRow, session: str = ""
) -> None:
    """Let a worker make a memory of an observation or a lesson: comparing it with others takes a while."""
    kind = "lesson" if isinstance(row, LessonRow) else "observation"
    payload = {kind: row.id, "session": session}
    enqueue(connection, client.viewer, REMEMBER, payload, f"{kind} {row.id} {secrets.token_hex(4)}")


def remember_item(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
    """Return what makes a memory of an observation or a lesson.

    It is the sender's, with the trust of an agent: colleagues get it in briefs when a person confirms and
    shares it, and see the row in agent-memory's answers.
    """
    client = Client(viewer, MEMBER, "")

    def write(connection: Connection) -> None:
        team = viewer.team
        row: ObservationRow | LessonRow | None
        if "lesson" in payload:
            row = get_lesson(connection, team, int(payload["lesson"]))
        else:
            row = get_observation(connection, team, int(payload["observation"]))
        if row is None:
            return
        opened = use_memory(connection, server, client, by=AGENT, agent=TOOL)
        known = find_memory(connection, team, row)
        made = remember_row(opened.writer, row, known, str(payload["session"]))
        if made and made != known:
            note_memory(connection, team, row, made)
            opened.note("memory.remember", made)

    return write
