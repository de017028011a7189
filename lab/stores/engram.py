"""Builds a store to the published schema of engram: its Go modules are not needed for that.

Tables and columns are those of internal/store/store.go; `sync_id` and `memory_relations` came later.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from lab.stores.run import pack_database

_SCHEMA = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL, started_at TEXT NOT NULL,
  ended_at TEXT, summary TEXT);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sync_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id),
  type TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL, tool_name TEXT, project TEXT,
  scope TEXT NOT NULL DEFAULT 'project', topic_key TEXT, normalized_hash TEXT,
  revision_count INTEGER NOT NULL DEFAULT 1, duplicate_count INTEGER NOT NULL DEFAULT 1, last_seen_at TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, content TEXT NOT NULL, project TEXT,
  created_at TEXT NOT NULL);
CREATE TABLE memory_relations (
  id INTEGER PRIMARY KEY, sync_id TEXT, source_id TEXT, target_id TEXT, relation TEXT);
CREATE VIRTUAL TABLE observations_fts USING fts5(
  title, content, tool_name, type, project, content='observations', content_rowid='id');
"""
_DAY = "2026-05-28 20:26:40"
_ROWS = (
    ("decision", "Charge once", "**What**: The order number is the key\n**Why**: Retries charged twice",
     "orders", "project", "architecture/payments", None),
    ("bugfix", "Fixed delivery dates", "Dates were stored in local time.", "orders", "project", None, None),
    ("manual", "Editor", "Ada uses vim.", "orders", "personal", None, None),
    ("tool_use", "Bash", "ls", "orders", "project", None, None),
    ("config", "Deleted", "This one is deleted.", "orders", "project", None, _DAY),
    ("architecture", "Charge twice", "There is no key.", "orders", "project", None, None),
)  # fmt: skip


def make(scratch: Path, target: Path) -> None:
    """Make a store with six observations, a summary, a prompt and a relation."""
    path = scratch / "engram.db"
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.executescript(_SCHEMA)
        database.execute(
            "INSERT INTO sessions VALUES ('session-1', 'orders', '/home/ada/orders', ?, ?, ?)",
            (_DAY, _DAY, "Goal: charge each order once. Done: the key."),
        )
        for number, (kind, title, content, project, scope, topic, deleted) in enumerate(_ROWS, 1):
            database.execute(
                "INSERT INTO observations (sync_id, session_id, type, title, content, project, scope,"
                " topic_key, created_at, updated_at, deleted_at)"
                " VALUES (?, 'session-1', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (f"obs-{number}", kind, title, content, project, scope, topic, _DAY, _DAY, deleted),
            )
        database.execute(
            "INSERT INTO user_prompts VALUES (1, 'session-1', 'Why twice?', 'orders', ?)", (_DAY,)
        )
        database.execute("INSERT INTO memory_relations VALUES (1, 'rel-1', 'obs-1', 'obs-6', 'supersedes')")
    pack_database(path, target / "engram.db.gz")
