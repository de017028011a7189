"""Runs sessionmem from its repository: its MCP server, its hook and its export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from lab.stores.run import call_tools, pack_database, run

# Not on npm any more: clone, `npm ci && npm run build`, and put it into SCRATCH/sessionmem.
REPOSITORY = "https://github.com/catfish-1234/sessionmem"


def make(scratch: Path, target: Path) -> None:
    """Make a store with a memory of each kind, an expired and a deleted one, and its export."""
    command = ["node", str(scratch / "sessionmem" / "dist" / "cli" / "index.js")]
    home = scratch / "homes" / "sessionmem"
    shutil.rmtree(home, ignore_errors=True)
    project = home / "orders"
    environ = {"HOME": str(home), "SESSIONMEM_USERNAME": "ada"}
    run(["git", "init", "-q", "."], project)
    store = [
        _memory("one", "decision", "Prices are stored in cents.", 8, tags=["prices"]),
        _memory("two", "warning", "The payment sandbox rejects cards after 20 calls a minute.", 9),
        _memory("three", "fact", "The importer reads files in Latin-1.", 5),
        _memory("four", "preference", "Use pnpm and not npm.", 6),
        _memory("five", "fact", "The old shop is still up.", 3, expiresAt="2026-01-01T00:00:00.000Z"),
        _memory("six", "fact", "Deleted again.", 3),
    ]
    summary = {
        "memoryId": "session-1-summary", "sessionId": "session-1", "sourceAdapter": "claude-code",
        "summary": "Added an idempotency key to the payment client.", "importance": 7,
    }  # fmt: skip
    call_tools([*command, "run"], project, environ, [
        *(("storeMemory", one) for one in store),
        ("summarizeSessionToMemory", summary),
        ("forgetMemory", {"memoryId": "six"}),
    ])  # fmt: skip
    hook = {
        "session_id": "session-1", "cwd": "/home/ada/orders", "tool_name": "Bash",
        "tool_input": {"command": 'git commit -m "Add idempotency keys"'}, "tool_response": {},
    }  # fmt: skip
    run([*command, "ingest-hook"], project, environ, json.dumps(hook))
    run([*command, "export", str(target / "export.json")], project, environ)
    pack_database(home / ".sessionmem" / "memories.db", target / "memories.db.gz")


def _memory(name: str, kind: str, content: str, importance: int, **others: object) -> dict[str, object]:
    return {
        "memoryId": name, "sessionId": "session-1", "sourceAdapter": "claude-code", "kind": kind,
        "content": content, "importance": importance, **others,
    }  # fmt: skip
