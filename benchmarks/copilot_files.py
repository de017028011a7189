"""Writes sessions the way Copilot CLI 1.0 keeps them: `session-store.db`, and a folder of events for some."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable

import apsw

from benchmarks.claude_files import iso
from benchmarks.story import Session, identifier

_SCHEMA = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (8);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, cwd TEXT, repository TEXT, host_type TEXT, branch TEXT, summary TEXT,
  created_at TEXT DEFAULT (datetime('now')), updated_at TEXT DEFAULT (datetime('now')));
CREATE TABLE turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  turn_index INTEGER NOT NULL, user_message TEXT, assistant_response TEXT,
  timestamp TEXT DEFAULT (datetime('now')), UNIQUE(session_id, turn_index));
CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  checkpoint_number INTEGER NOT NULL, title TEXT, overview TEXT, history TEXT, work_done TEXT,
  technical_details TEXT, important_files TEXT, next_steps TEXT,
  created_at TEXT DEFAULT (datetime('now')), UNIQUE(session_id, checkpoint_number));
CREATE TABLE session_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  file_path TEXT NOT NULL, tool_name TEXT, turn_index INTEGER,
  first_seen_at TEXT DEFAULT (datetime('now')), UNIQUE(session_id, file_path));
CREATE TABLE session_refs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  ref_type TEXT NOT NULL, ref_value TEXT NOT NULL, turn_index INTEGER,
  created_at TEXT DEFAULT (datetime('now')), UNIQUE(session_id, ref_type, ref_value));
CREATE INDEX idx_sessions_repo ON sessions(repository);
CREATE INDEX idx_sessions_cwd ON sessions(cwd);
CREATE INDEX idx_session_files_path ON session_files(file_path);
CREATE INDEX idx_session_refs_type_value ON session_refs(ref_type, ref_value);
CREATE INDEX idx_turns_session ON turns(session_id);
CREATE INDEX idx_checkpoints_session ON checkpoints(session_id);
CREATE VIRTUAL TABLE search_index USING fts5(
  content, session_id UNINDEXED, source_type UNINDEXED, source_id UNINDEXED);
"""
_TURN = (
    "INSERT INTO turns (session_id, turn_index, user_message, assistant_response, timestamp)"
    " VALUES (?,?,?,?,?)"
)
_FILE = (
    "INSERT OR IGNORE INTO session_files (session_id, file_path, tool_name, turn_index, first_seen_at)"
    " VALUES (?,?,?,?,?)"
)
_REF = (
    "INSERT OR IGNORE INTO session_refs (session_id, ref_type, ref_value, turn_index, created_at)"
    " VALUES (?,?,?,?,?)"
)
_CHECKPOINT = (
    "INSERT INTO checkpoints (session_id, checkpoint_number, title, overview, history, work_done,"
    " technical_details, important_files, next_steps, created_at) VALUES (?,?,?,?,?,?,?,?,?,?)"
)


def write_store(
    home: str, sessions: Iterable[Session], chance: random.Random, *, searchable: bool = True
) -> None:
    """Write sessions into `session-store.db`; `searchable` also fills the index Copilot itself searches."""
    folder = os.path.join(home, ".copilot")
    os.makedirs(folder, exist_ok=True)
    database = apsw.Connection(os.path.join(folder, "session-store.db"))
    try:
        if not database.table_exists(None, "sessions"):
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(_SCHEMA)
        database.execute("BEGIN")
        for session in sessions:
            _insert(database, session, chance, searchable=searchable)
        database.execute("COMMIT")
    finally:
        database.close()


def write_state(home: str, session: Session, chance: random.Random) -> None:
    """Write a session's folder below `session-state`: its events and what is known about it."""
    folder = os.path.join(home, ".copilot", "session-state", session.id)
    os.makedirs(folder, exist_ok=True)
    began, ended = session.turns[0].at, session.turns[-1].at
    with open(os.path.join(folder, "workspace.yaml"), "w", encoding="utf-8") as file:
        file.write(
            f"id: {session.id}\ncwd: {session.folder}\ngit_root: {session.folder}\n"
            f"repository: {session.repository}\nhost_type: github\nbranch: {session.branch}\n"
            f"client_name: github/cli\nname: {session.title}\nuser_named: false\n"
            f"created_at: {iso(began)}\nupdated_at: {iso(ended)}\n"
        )
    path = os.path.join(folder, "events.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(_events(session, chance))
    os.utime(path, (ended / 1000, ended / 1000))


def _insert(database: apsw.Connection, session: Session, chance: random.Random, *, searchable: bool) -> None:
    began, ended = iso(session.turns[0].at), iso(session.turns[-1].at)
    known = (session.folder, session.repository, "github", session.branch, session.title)
    database.execute("INSERT INTO sessions VALUES (?,?,?,?,?,?,?,?)", (session.id, *known, began, ended))
    found: list[tuple[str, str, str, str]] = []
    for number, turn in enumerate(session.turns):
        at = iso(turn.at)
        database.execute(_TURN, (session.id, number, turn.asked, turn.answered, at))
        found.append((f"{turn.asked}\n{turn.answered}", session.id, "turn", f"{session.id}:turn:{number}"))
        for call in turn.calls:
            if call.tool in ("Edit", "Write"):
                how = "edit" if call.tool == "Edit" else "create"
                database.execute(_FILE, (session.id, call.target, how, number, at))
    if chance.random() < 0.2:
        database.execute(_REF, (session.id, "commit", f"{chance.getrandbits(160):040x}", 0, ended))
    if chance.random() < 0.1:
        database.execute(_REF, (session.id, "pr", str(chance.randint(1, 900)), 0, ended))
    if session.summary:
        files = "\n".join(sorted({call.target for turn in session.turns for call in turn.calls if call.text}))
        last = session.turns[-1]
        note = (
            session.title,
            session.summary,
            session.summary,
            last.answered,
            last.thought,
            files,
            last.asked,
        )
        database.execute(_CHECKPOINT, (session.id, 1, *note, ended))
        found.append((session.summary, session.id, "checkpoint_overview", f"{session.id}:checkpoint:1"))
    if searchable:
        database.executemany("INSERT INTO search_index VALUES (?,?,?,?)", found)


def _events(session: Session, chance: random.Random) -> list[str]:
    lines: list[str] = []
    parent: str | None = None

    def event(kind: str, data: dict[str, object], at: int) -> None:
        nonlocal parent
        own = identifier(chance)
        record = {"type": kind, "data": data, "id": own, "timestamp": iso(at), "parentId": parent}
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
        parent = own

    began = session.turns[0].at
    context = {
        "cwd": session.folder,
        "gitRoot": session.folder,
        "repository": session.repository,
        "hostType": "github",
        "branch": session.branch,
    }
    start: dict[str, object] = {"sessionId": session.id, "version": 1, "producer": "copilot-agent"}
    event(
        "session.start",
        start | {"copilotVersion": "1.0.102", "startTime": iso(began), "context": context},
        began,
    )
    names = {"Edit": "edit", "Write": "create", "Read": "view", "Grep": "grep", "Bash": "bash"}
    for number, turn in enumerate(session.turns):
        event("user.message", {"content": turn.asked, "messageId": identifier(chance)}, turn.at)
        event("assistant.turn_start", {"turnId": str(number)}, turn.at)
        for call in turn.calls:
            call_id, name = f"call_{chance.getrandbits(96):024x}", names[call.tool]
            given = {"command" if name == "bash" else "pattern" if name == "grep" else "path": call.target}
            request = {"toolCallId": call_id, "name": name, "arguments": given, "type": "function"}
            said: dict[str, object] = {
                "messageId": identifier(chance),
                "content": call.remark,
                "toolRequests": [request],
            }
            event("assistant.message", said, turn.at)
            event(
                "tool.execution_start", {"toolCallId": call_id, "toolName": name, "arguments": given}, turn.at
            )
            done: dict[str, object] = {
                "toolCallId": call_id,
                "success": True,
                "result": {"content": call.output},
            }
            event("tool.execution_complete", done, turn.at)
        answer: dict[str, object] = {
            "messageId": identifier(chance),
            "content": turn.answered,
            "toolRequests": [],
        }
        event("assistant.message", answer, turn.at)
        event("assistant.turn_end", {"turnId": str(number)}, turn.at)
    return lines
