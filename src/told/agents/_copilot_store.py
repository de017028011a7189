"""Copilot's session-store.db: what it adds to the event files, and all of a session that has none."""

from __future__ import annotations

import json
import os
from itertools import groupby

from told.agents._copilot_notes import workspace
from told.agents.base import Table
from told.agents.text import mapping, millis, text
from told.guard.jsonl import parse
from told.model import AGENT, USER, Begin, Checkpoint, Cursor, Facts, Mark, Problem, Ref, Said, Source, Touch
from told.store.foreign import Foreign, ForeignError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.model import Event

STORE = "store"

TABLES = (
    Table(STORE, "sessions", ("id",)),
    Table(STORE, "turns", ("session_id", "turn_index", "user_message", "assistant_response")),
    Table(STORE, "checkpoints", ("session_id", "checkpoint_number")),
    Table(STORE, "session_files", ("session_id", "file_path")),
    Table(STORE, "session_refs", ("session_id", "ref_type", "ref_value")),
)

_NOTES = ("overview", "history", "work_done", "technical_details", "important_files", "next_steps")
_WANTED = {
    "sessions": ("id", "cwd", "repository", "branch", "summary", "created_at"),
    "turns": ("session_id", "turn_index", "user_message", "assistant_response", "timestamp"),
    "checkpoints": ("session_id", "checkpoint_number", "title", "created_at", *_NOTES),
    "session_files": ("session_id", "turn_index", "file_path", "tool_name", "first_seen_at"),
    "session_refs": ("session_id", "turn_index", "ref_type", "ref_value", "created_at"),
}
_HOW = {"create": "create", "edit": "edit", "view": "read", "delete": "delete"}

_THESE = "id IN (SELECT value FROM json_each(?))"
_OF_THESE = "session_id IN (SELECT value FROM json_each(?))"

# Sessions that are asked for at once: few enough to hold all they say in memory.
_BATCH = 100


def read_store(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what changed in the store since the cursor, session by session."""
    try:
        with Foreign(source.path) as database:
            yield from _changes(database, os.path.dirname(source.path), cursor)
    except ForeignError as error:
        yield Problem(0, str(error))


def _changes(database: Foreign, folder: str, cursor: Cursor) -> Iterator[Event | Problem]:
    lacking = [
        f"{needed.table}.{column}"
        for needed in TABLES
        for column in needed.columns
        if column not in database.columns(needed.table)
    ]
    if lacking:
        yield Problem(0, f"missing in the database: {', '.join(lacking)}")
    broken = {name.partition(".")[0] for name in lacking}
    tables = [needed.table for needed in TABLES if needed.table not in broken]
    changed, reached = _changed(database, tables, cursor)
    for start in range(0, len(changed), _BATCH):
        batch = changed[start : start + _BATCH]
        found = {table: _by_session(database, table, batch) for table in tables}
        for session in batch:
            yield from _session(folder, session, {table: found[table].get(session, []) for table in tables})
    if reached != cursor:
        yield Mark(reached)


def _changed(database: Foreign, tables: list[str], cursor: Cursor) -> tuple[list[str], Cursor]:
    """Return the sessions with a later time or a new row in any table, oldest first, and how far that is."""
    seen = mapping(parse(cursor.state)) if cursor.state else {}
    known = {table: number for table in tables if isinstance(number := seen.get(table), int)}
    latest, last, changed = cursor.offset, dict(known), dict[str, None]()
    for table in tables:
        owner = "id" if table == "sessions" else "session_id"
        times = ("updated_at", "created_at") if table == "sessions" else ()
        where, values = ("", ()) if times else ("rowid > ?", (known.get(table, 0),))
        for row in database.rows(table, ("rowid", owner, *times), where, values, order="rowid"):
            number = row["rowid"] if isinstance(row["rowid"], int) else 0
            at = max((millis(row[name]) for name in times), default=0)
            if (at > cursor.offset or number > known.get(table, 0)) and text(row[owner]):
                changed[row[owner]] = None
            latest, last[table] = max(latest, at), max(last.get(table, 0), number)
    return list(changed), Cursor(latest, 0, json.dumps(last, sort_keys=True))


def _by_session(database: Foreign, table: str, sessions: list[str]) -> dict[str, list[dict[str, Any]]]:
    owner = "id" if table == "sessions" else "session_id"
    where = _THESE if table == "sessions" else _OF_THESE
    rows = database.rows(table, _WANTED[table], where, (json.dumps(sessions),), order=f"{owner}, rowid")
    return {session: list(group) for session, group in groupby(rows, key=lambda row: text(row[owner]))}


def _session(folder: str, session: str, found: dict[str, list[dict[str, Any]]]) -> Iterator[Event]:
    own = os.path.join(folder, "session-state", session) if os.path.basename(session) == session else ""
    has_events = bool(own) and (
        os.path.isfile(os.path.join(own, "events.jsonl")) or os.path.isfile(own + ".jsonl")
    )
    if not has_events:
        yield Begin(session)
        if own:
            yield from workspace(own, session)
    for row in found.get("sessions", []):
        yield Facts(
            session,
            cwd=text(row["cwd"]),
            branch=text(row["branch"]),
            repository=text(row["repository"]),
            title=text(row["summary"]),
            started=millis(row["created_at"]),
        )
    if not has_events:
        yield from _turns(session, found)
    for row in found.get("session_refs", []):
        kind, value = _ref_kind(row["ref_type"]), row["ref_value"]
        if kind and isinstance(value, (str, int)) and str(value):
            yield Ref(session, kind, str(value), millis(row["created_at"]))
    for row in found.get("checkpoints", []):
        number = row["checkpoint_number"]
        notes = {name: text(row[name]) for name in _NOTES}
        if isinstance(number, int) and number >= 0:
            yield Checkpoint(session, number, title=text(row["title"]), at=millis(row["created_at"]), **notes)


def _turns(session: str, found: dict[str, list[dict[str, Any]]]) -> Iterator[Event]:
    touches = [row for row in found.get("session_files", []) if text(row["file_path"])]
    turns = sorted(found.get("turns", []), key=lambda row: _index(row["turn_index"]))
    numbers = {_index(row["turn_index"]) for row in turns}
    for row in turns:
        at = millis(row["timestamp"])
        if text(row["user_message"]).strip():
            yield Said(session, USER, row["user_message"], at)
        number = _index(row["turn_index"])
        yield from (_touch(session, touch) for touch in touches if _index(touch["turn_index"]) == number)
        if text(row["assistant_response"]).strip():
            yield Said(session, AGENT, row["assistant_response"], at)
    yield from (_touch(session, touch) for touch in touches if _index(touch["turn_index"]) not in numbers)


def _touch(session: str, row: dict[str, Any]) -> Touch:
    how = _HOW.get(text(row["tool_name"]), "edit")
    return Touch(session, text(row["file_path"]), how, millis(row["first_seen_at"]))


def _index(value: Any) -> int:
    return value if isinstance(value, int) else -1


def _ref_kind(value: Any) -> str:
    kind = text(value).lower()
    return {"pull_request": "pr"}.get(kind, kind if kind in {"commit", "pr", "issue"} else "")
