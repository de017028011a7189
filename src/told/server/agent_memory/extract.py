"""Find what a tool call and the user's message before it teach, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from told.agents.reading import FAILED, describe_call
from told.capture.statements import Statement, capture
from told.learning.observe import find_observations
from told.pattern import lazy_pattern
from told.server.agent_memory.keep import keep_in
from told.server.context import Client, Server
from told.server.jobs import Write
from told.store.postgres.agent_memory.items import (
    DONE,
    PENDING,
    SKIPPED,
    Item,
    ItemSession,
    lock_item,
    read_session_items,
    set_item_status,
)
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.people import MEMBER
from told.store.sessions.read import TurnRow
from told.tables import load_table
from told.text import shorten

_TABLE = load_table(__file__)
_SKIPPED_TOOLS = frozenset(_TABLE["skipped_tools"].split())
_FAILURE = lazy_pattern("|".join(_TABLE["failures"]), re.IGNORECASE)
_TYPES: dict[str, str] = _TABLE["types"]
_MAX_TITLE = 80  # characters


def capture_item(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
    """Find what an item teaches; return what keeps it."""
    number = int(payload["item"])
    with server.database.viewing(viewer) as connection:
        session, items = read_session_items(connection, viewer.team, number)
    found = list(learn(session, items)) if session else []
    client = Client(viewer, MEMBER, "")

    def write(connection: Connection) -> None:
        if lock_item(connection, viewer.team, number) == PENDING:
            for one in found:
                keep_in(connection, server, client, one)
            set_item_status(connection, viewer.team, number, DONE if found else SKIPPED)

    return write


def learn(session: ItemSession, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """Yield the observations that the last of a session's items teaches."""
    new = items[-1]
    if new.tool_name in _SKIPPED_TOOLS:
        return
    shared = {"session_id": session.session_id, "project": session.project}
    messages = list(dict.fromkeys(one.message for one in items[:-1] if one.message))
    if new.message and new.message not in messages:
        asked = messages[-1] if messages else ""
        for statement in capture(new.message, asked=asked):
            if statement.sure:
                yield {**shared, **_describe_statement(statement)}
    turns = [_make_turn(one) for one in items]
    # How the last call of a session ended is not known yet; of these it is.
    turns.append(TurnRow(0, new.id + 1, 0, "", "", ""))
    for one in find_observations(turns, session.full_path, limit=len(turns)):
        if one.turn == new.id:
            yield {
                **shared, "title": one.text, "type": one.label, "narrative": one.quote,
                "files_modified": list(one.paths), "tool_name": new.tool_name or None,
            }  # fmt: skip


def _describe_statement(one: Statement) -> dict[str, Any]:
    type_name = next((_TYPES[name] for name in (*one.marks, one.kind) if name in _TYPES), "discovery")
    return {
        "title": shorten(one.text, _MAX_TITLE), "type": type_name, "narrative": one.text,
        "facts": [one.quote] if one.quote != one.text else [],
    }  # fmt: skip


def _make_turn(item: Item) -> TurnRow:
    steps = describe_call(item.tool_name, item.tool_input) if item.tool_name else ""
    if steps and _FAILURE.search(item.preview):
        steps += f"\n{FAILED}"
    return TurnRow(0, item.id, int(item.created_at.timestamp() * 1000), item.message, "", steps)
