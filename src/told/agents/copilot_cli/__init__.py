"""GitHub Copilot CLI: event files in ~/.copilot/session-state, and session-store.db beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from told.agents import wiring
from told.agents.base import Agent, Dialect, Layout, ProcessSign, ShellSign, Table, flat_context, flat_verdict
from told.agents.copilot_cli.events import SECTIONS, read_events, read_workspace
from told.agents.reading import find_missing_columns, read_database
from told.agents.values import as_millis, as_text, parse_object
from told.agents.wiring import COMPACT, END, HELPER, PROMPT, START, STOP, Block, Change, OwnFile, Place
from told.model import AGENT as BY_AGENT
from told.model import (
    USER,
    Begin,
    Checkpoint,
    Cursor,
    Event,
    Facts,
    Mark,
    Message,
    Problem,
    Ref,
    Source,
    Touch,
)
from told.store.foreign import ForeignDatabase

STORE = "store"
TABLES = (
    Table(STORE, "sessions", ("id",)),
    Table(STORE, "turns", ("session_id", "turn_index", "user_message", "assistant_response")),
    Table(STORE, "checkpoints", ("session_id", "checkpoint_number")),
    Table(STORE, "session_files", ("session_id", "file_path")),
    Table(STORE, "session_refs", ("session_id", "ref_type", "ref_value")),
)

Row = dict[str, Any]
_COLUMNS = {
    "sessions": ("id", "cwd", "repository", "branch", "summary", "created_at"),
    "turns": ("session_id", "turn_index", "user_message", "assistant_response", "timestamp"),
    "checkpoints": ("session_id", "checkpoint_number", "title", "created_at", *SECTIONS),
    "session_files": ("session_id", "turn_index", "file_path", "tool_name", "first_seen_at"),
    "session_refs": ("session_id", "turn_index", "ref_type", "ref_value", "created_at"),
}
_HOW = {"create": "create", "edit": "edit", "view": "read", "delete": "delete"}
_REF_KINDS = {"commit": "commit", "pr": "pr", "pull_request": "pr", "issue": "issue"}
_BATCH = 100  # sessions that are held in memory at once


def read_store(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the sessions that changed in the store since the cursor."""
    folder = os.path.dirname(source.path)
    yield from read_database(source.path, lambda database: _read_changed(database, folder, cursor))


def _read_changed(database: ForeignDatabase, folder: str, cursor: Cursor) -> Iterator[Event | Problem]:
    missing = find_missing_columns(database, TABLES)
    if missing:
        yield Problem(0, f"missing in the database: {', '.join(missing)}")
    broken = {name.partition(".")[0] for name in missing}
    tables = [needed.table for needed in TABLES if needed.table not in broken]
    changed, reached = _find_changed(database, tables, cursor)
    for start in range(0, len(changed), _BATCH):
        batch = changed[start : start + _BATCH]
        found = {table: _rows_by_session(database, table, batch) for table in tables}
        for session in batch:
            rows = {table: found[table].get(session, []) for table in tables}
            yield from _parse_session(folder, session, rows)
    if reached != cursor:
        yield Mark(reached)


def _find_changed(database: ForeignDatabase, tables: list[str], cursor: Cursor) -> tuple[list[str], Cursor]:
    """Return the sessions with changes, and the next cursor."""
    seen = parse_object(cursor.state)
    known = {table: number for table in tables if isinstance(number := seen.get(table), int)}
    latest, last, changed = cursor.offset, dict(known), dict[str, None]()
    for table in tables:
        owner = "id" if table == "sessions" else "session_id"
        times = ("updated_at", "created_at") if table == "sessions" else ()
        where, values = ("", ()) if times else ("rowid > ?", (known.get(table, 0),))
        for row in database.rows(table, ("rowid", owner, *times), where, values, order="rowid"):
            number = row["rowid"] if isinstance(row["rowid"], int) else 0
            at = max((as_millis(row[name]) for name in times), default=0)
            if (at > cursor.offset or number > known.get(table, 0)) and as_text(row[owner]):
                changed[row[owner]] = None
            latest, last[table] = max(latest, at), max(last.get(table, 0), number)
    return list(changed), Cursor(latest, 0, json.dumps(last, sort_keys=True))


def _rows_by_session(database: ForeignDatabase, table: str, sessions: list[str]) -> dict[str, list[Row]]:
    owner = "id" if table == "sessions" else "session_id"
    where = f"{owner} IN (SELECT value FROM json_each(?))"  # noqa: S608 - one of two constants
    rows = database.rows(table, _COLUMNS[table], where, (json.dumps(sessions),), order=f"{owner}, rowid")
    return {session: list(group) for session, group in groupby(rows, key=lambda row: as_text(row[owner]))}


def _parse_session(folder: str, session: str, found: dict[str, list[Row]]) -> Iterator[Event]:
    own = os.path.join(folder, "session-state", session) if os.path.basename(session) == session else ""
    has_events = bool(own) and (
        os.path.isfile(os.path.join(own, "events.jsonl")) or os.path.isfile(own + ".jsonl")
    )
    if not has_events:
        yield Begin(session)
        if own:
            yield from read_workspace(own, session)
    for row in found.get("sessions", []):
        yield Facts(
            session,
            cwd=as_text(row["cwd"]),
            branch=as_text(row["branch"]),
            repository=as_text(row["repository"]),
            title=as_text(row["summary"]),
            started=as_millis(row["created_at"]),
        )
    if not has_events:
        yield from _parse_turns(session, found)
    for row in found.get("session_refs", []):
        kind, value = _REF_KINDS.get(as_text(row["ref_type"]).lower()), row["ref_value"]
        if kind and isinstance(value, (str, int)) and str(value):
            yield Ref(session, kind, str(value), as_millis(row["created_at"]))
    for row in found.get("checkpoints", []):
        number, title, at = row["checkpoint_number"], as_text(row["title"]), as_millis(row["created_at"])
        sections = {name: as_text(row[name]) for name in SECTIONS}
        if isinstance(number, int) and number >= 0:
            yield Checkpoint(session, number, title=title, at=at, **sections)


def _parse_turns(session: str, found: dict[str, list[Row]]) -> Iterator[Event]:
    touches = [row for row in found.get("session_files", []) if as_text(row["file_path"])]
    turns = sorted(found.get("turns", []), key=_turn_index)
    numbers = {_turn_index(row) for row in turns}
    for row in turns:
        at = as_millis(row["timestamp"])
        if as_text(row["user_message"]).strip():
            yield Message(session, USER, row["user_message"], at)
        yield from (_touch(session, touch) for touch in touches if _turn_index(touch) == _turn_index(row))
        if as_text(row["assistant_response"]).strip():
            yield Message(session, BY_AGENT, row["assistant_response"], at)
    yield from (_touch(session, touch) for touch in touches if _turn_index(touch) not in numbers)


def _touch(session: str, row: Row) -> Touch:
    how = _HOW.get(as_text(row["tool_name"]), "edit")
    return Touch(session, as_text(row["file_path"]), how, as_millis(row["first_seen_at"]))


def _turn_index(row: Row) -> int:
    return row["turn_index"] if isinstance(row["turn_index"], int) else -1


_EVENTS = (
    ("sessionStart", START), ("userPromptSubmitted", PROMPT), ("preCompact", COMPACT), ("agentStop", STOP),
    ("sessionEnd", END), ("subagentStart", HELPER),
)  # fmt: skip


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the events of one file from the cursor on."""
    yield from read_store(source, cursor) if source.layout == STORE else read_events(source, cursor)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Copilot CLI's files."""
    if place.is_project:
        folder = place.in_project(".github")
        servers = place.join(folder, "mcp.json")
        instructions = wiring.github_instructions(place)
    else:
        folder = place.folder("COPILOT_HOME", ".copilot")
        servers = place.join(folder, "mcp-config.json")
        instructions = (Block(place.join(folder, "copilot-instructions.md"), place.instructions),)
    hooks = {
        name: [_make_hook(place, event)] for name, event in wiring.select_events(place, _EVENTS, "preToolUse")
    }
    file = OwnFile(
        place.join(folder, "hooks", "told.json"), json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
    )
    return (
        *((file,) if hooks else ()),
        *wiring.mcp_entry(place, servers, type="local", tools=["*"]),
        *instructions,
    )


def _make_hook(place: Place, event: str) -> dict[str, Any]:
    return {
        "type": "command",
        "bash": place.launch.line(AGENT.name, event),
        "powershell": place.launch.line(AGENT.name, event, wiring.POWERSHELL),
        "timeoutSec": wiring.hook_timeout(event),
    }


AGENT = Agent(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    label="copilot",
    read=read,
    roots=("~/.copilot",),
    root_variable="COPILOT_HOME",
    layouts=(
        Layout("session-state/*/events.jsonl", "events"),
        Layout("session-state/*.jsonl", "events"),
        Layout("session-store.db", STORE),
    ),
    tables=TABLES,
    advice="It keeps no conversations here yet: in copilot, type /experimental and switch SESSION_STORE on.",
    wire=wire,
    programs=("copilot",),
    install_signs=("$COPILOT_HOME", "~/.copilot/session-state"),
    has_hooks=True,
    since={wiring.HOOKS: "1.0.44"},  # the first that takes context at a prompt
    dialect=Dialect(
        {"userpromptsubmitted": PROMPT, "agentstop": STOP, "sessionshutdown": END},
        flat_context,
        flat_verdict,
        takes_context_after_compaction=True,
        replaces_start_brief=True,
    ),
    process=ProcessSign("copilot", "@github/copilot", replaces_shell=True),
    shell_signs=(
        ShellSign("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),  # every command
        ShellSign("COPILOT_AGENT_SESSION_ID", "COPILOT_AGENT_SESSION_ID", in_hooks=False),  # every command
        ShellSign("COPILOT_AGENT"),  # the agent that works on GitHub
    ),
    client_words=("copilot",),
    instruction_files=(".github/copilot-instructions.md", ".github/instructions/*.md"),
)
