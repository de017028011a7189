"""Runs the MCP server of agentmemory from npm, and builds what only its engine writes.

The standalone file is from a real run. The state folder and the export are built to the published
schema (src/types.ts, engine/src/builtins/kv.rs): the engine is a binary that is not on npm.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from lab.stores.run import call_tools, install_npm

PACKAGE = "@agentmemory/agentmemory@0.9.29"
_TIMES = {"createdAt": "2026-05-28T20:26:40.000Z", "updatedAt": "2026-05-28T21:26:40.000Z"}
_SHARED = {"concepts": [], "files": [], "sessionIds": ["session-1"], "strength": 7, "version": 1, **_TIMES}


def make(scratch: Path, target: Path) -> None:
    """Make a standalone file, a state folder and an export."""
    target.mkdir(parents=True, exist_ok=True)
    server = install_npm(scratch, PACKAGE) / "@agentmemory" / "agentmemory" / "dist" / "standalone.mjs"
    file = target / "standalone.json"
    file.unlink(missing_ok=True)
    environ = {
        "HOME": str(scratch / "homes" / "agentmemory"), "STANDALONE_PERSIST_PATH": str(file),
        "AGENTMEMORY_URL": "http://127.0.0.1:9",
    }  # fmt: skip
    saved = call_tools(["node", str(server)], scratch, environ, [
        ("memory_save", {"content": "Prices are stored in cents.", "type": "architecture",
                         "concepts": "prices,money", "files": "src/prices.py"}),
        ("memory_save", {"content": "Use pnpm and not npm.", "type": "preference"}),
        ("memory_save", {"content": "Deleted again.", "type": "fact"}),
    ])  # fmt: skip
    deleted = json.loads(saved[2]["content"][0]["text"])["saved"]
    call_tools(
        ["node", str(server)], scratch, environ, [("memory_governance_delete", {"memoryIds": deleted})]
    )
    _build_state(target / "state_store.db")
    (target / "export.json").write_text(json.dumps(_export(), indent=1), encoding="utf-8")


def _build_state(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for scope, rows in _STATE.items():
        text = json.dumps(rows).encode()
        if len(text) <= 8:
            content = text.ljust(8, b"\xff")
        else:
            text_length = (len(text) & 0x3F) | 0x80 | ((len(text) & ~0x3F) << 2)
            text += bytes(-len(text) % 4)
            content = (
                text + text_length.to_bytes(4, "little") + (-len(text)).to_bytes(4, "little", signed=True)
            )
        (folder / f"{scope.replace(':', '%3A')}.bin").write_bytes(content)


def _export() -> dict[str, Any]:
    lists = {name.removeprefix("mem:"): list(rows.values()) for name, rows in _STATE.items()}
    return {
        "version": "0.9.29", "exportedAt": _TIMES["updatedAt"], "sessions": lists["sessions"],
        "observations": {"session-1": lists["obs:session-1"]}, "memories": lists["memories"],
        "summaries": lists["summaries"], "semanticMemories": lists["semantic"], "lessons": lists["lessons"],
        "proceduralMemories": lists["procedural"],
    }  # fmt: skip


_STATE: dict[str, dict[str, Any]] = {
    "mem:sessions": {"session-1": {"id": "session-1", "project": "orders", "cwd": "/home/ada/orders"}},
    "mem:memories": {
        "mem_1": {
            "id": "mem_1",
            "type": "bug",
            "title": "Dates",
            "content": "Dates were in local time.",
            "isLatest": True,
            "supersedes": ["mem_2"],
            "project": "orders",
            **_SHARED,
        },
        "mem_2": {
            "id": "mem_2",
            "type": "fact",
            "title": "Dates are in UTC.",
            "content": "Dates are in UTC.",
            "isLatest": False,
            "project": "orders",
            **_SHARED,
        },
        "mem_3": {
            "id": "mem_3",
            "type": "fact",
            "title": "A sale runs.",
            "content": "A sale runs.",
            "isLatest": True,
            "forgetAfter": "2026-06-01T00:00:00.000Z",
            **_SHARED,
        },
    },
    "mem:lessons": {
        "lsn_1": {
            "id": "lsn_1",
            "content": "Run the migrations before the tests.",
            "context": "CI failed",
            "confidence": 0.8,
            "tags": ["ci"],
            "project": "orders",
            **_TIMES,
        },
        "lsn_2": {"id": "lsn_2", "content": "Deleted.", "deleted": True, **_TIMES},
    },
    "mem:semantic": {
        "sem_1": {"id": "sem_1", "fact": "The importer reads Latin-1.", "strength": 0.5, **_TIMES}
    },
    "mem:procedural": {
        "proc_1": {
            "id": "proc_1",
            "name": "Release",
            "triggerCondition": "on Mondays",
            "steps": ["run make release", "watch the log"],
            **_TIMES,
        },
    },
    "mem:summaries": {
        "session-1": {
            "sessionId": "session-1",
            "project": "orders",
            "createdAt": _TIMES["createdAt"],
            "title": "Charge once",
            "narrative": "Added a key.",
            "keyDecisions": ["The key is the order"],
            "filesModified": ["src/payments/client.py"],
            "concepts": ["payments"],
        },
    },
    "mem:obs:session-1": {
        "obs_1": {
            "id": "obs_1",
            "sessionId": "session-1",
            "timestamp": _TIMES["createdAt"],
            "type": "decision",
            "title": "Key chosen",
            "narrative": "Order numbers are unique.",
            "facts": ["Keys live 24 hours"],
            "concepts": [],
            "files": [],
            "importance": 6,
        },
        "obs_2": {
            "id": "obs_2",
            "sessionId": "session-1",
            "timestamp": _TIMES["createdAt"],
            "type": "command_run",
            "title": "Bash",
            "narrative": "ls",
            "facts": [],
            "concepts": [],
            "files": [],
            "importance": 5,
        },
    },
    "mem:relations": {},
}
