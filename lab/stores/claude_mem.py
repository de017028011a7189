"""Runs the worker of claude-mem from npm with Bun, and fills its store through its own routes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from lab.stores.run import install_npm, pack_database, post, serving, unpack_npm

PACKAGE, BUN = "claude-mem@13.25.3", "bun@1.4.4"
_URL = "http://127.0.0.1:37988"
_START = 1_780_000_000_000


def make(scratch: Path, target: Path) -> None:
    """Make a store with three sessions, nine observations, two summaries and two prompts."""
    bun = install_npm(scratch, BUN) / ".bin" / "bun"
    scripts = unpack_npm(scratch, PACKAGE) / "plugin" / "scripts"
    home = scratch / "homes" / "claude-mem"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    environ = {
        "HOME": str(home),
        "CLAUDE_MEM_DATA_DIR": str(home / ".claude-mem"),
        "CLAUDE_MEM_WORKER_PORT": "37988",
    }
    with serving([str(bun), "worker-service.cjs", "--daemon"], scripts, environ, f"{_URL}/api/health"):
        post(
            f"{_URL}/api/import",
            {
                "sessions": [_session(1, "claude"), _session(2, "codex")],
                "observations": _OBSERVATIONS,
                "summaries": _SUMMARIES,
                "prompts": [
                    _prompt(1, "Why is the order charged twice?"),
                    _prompt(2, "Add a retry to the importer"),
                ],
            },
        )
        post(
            f"{_URL}/api/memory/save",
            {
                "text": "The staging database is reset every Sunday night.",
                "title": "Staging reset",
                "project": "orders",
            },
        )
        post(f"{_URL}/api/observation/9", {}, "DELETE")
    pack_database(home / ".claude-mem" / "claude-mem.db", target / "claude-mem.db.gz")


def _times(number: int) -> dict[str, Any]:
    return {"created_at": f"2026-05-28T20:2{number}:40.000Z", "created_at_epoch": _START + number * 60_000}


def _session(number: int, platform: str) -> dict[str, Any]:
    return {
        "content_session_id": f"content-{number}",
        "memory_session_id": f"memory-{number}",
        "project": "orders",
        "platform_source": platform,
        "user_prompt": "Why is the order charged twice?",
        "status": "completed",
        "started_at": "2026-05-28T20:26:40.000Z",
        "started_at_epoch": _START,
        "completed_at": "2026-05-28T21:26:40.000Z",
        "completed_at_epoch": _START + 3_600_000,
    }


def _prompt(number: int, text: str) -> dict[str, Any]:
    return {
        "content_session_id": f"content-{number}",
        "prompt_number": 1,
        "prompt_text": text,
        "project": "orders",
        "platform_source": "claude",
        **_times(number),
    }


def _observation(number: int, kind: str, title: str, narrative: str, **others: Any) -> dict[str, Any]:
    return {
        "memory_session_id": f"memory-{1 + number % 2}",
        "project": "orders",
        "text": None,
        "type": kind,
        "title": title,
        "subtitle": "",
        "narrative": narrative,
        "facts": "[]",
        "concepts": "[]",
        "files_read": "[]",
        "files_modified": "[]",
        "prompt_number": 1,
        "discovery_tokens": 100,
        **_times(number),
        **others,
    }


_OBSERVATIONS = [
    _observation(
        1,
        "decision",
        "Charge an order once by its idempotency key",
        "The payment client sends the order number as idempotency key. A retry cannot charge twice.",
        facts='["The idempotency key is the order number.", "Keys expire after 24 hours."]',
        concepts='["trade-off", "why-it-exists"]',
        files_modified='["src/payments/client.py"]',
    ),
    _observation(
        2,
        "discovery",
        "The importer reads CSV files in Latin-1",
        "Files of the old shop are not UTF-8. The importer guesses Latin-1 when decoding fails.",
        facts='["Files of the old shop are in Latin-1."]',
        concepts='["how-it-works"]',
        files_read='["src/importer/read.py"]',
    ),
    _observation(
        3,
        "bugfix",
        "Fixed the time zone of delivery dates",
        "Dates were stored in local time.",
        concepts='["problem-solution", "gotcha"]',
    ),
    _observation(4, "feature", "Added a retry to the importer", "", subtitle="Three tries with a pause"),
    _observation(5, "security_alert", "A token stood in the log", "The importer logged the whole header."),
    _observation(6, "refactor", "Moved the prices to one module", "", text="Prices are in src/prices.py."),
    _observation(7, "change", "", "", text="Raised the timeout of the test database to ten seconds."),
    _observation(8, "discovery", "", ""),
    _observation(9, "discovery", "Deleted in the viewer", "This one is deleted again."),
]

_SUMMARIES = [
    {
        "memory_session_id": "memory-1",
        "project": "orders",
        "request": "Find why orders are charged twice",
        "investigated": "The payment client and its retries",
        "learned": "The client retried without a key.",
        "completed": "Added the idempotency key.",
        "next_steps": "Add a test with a slow payment server.",
        "files_read": '["src/payments/client.py"]',
        "files_edited": '["src/payments/client.py"]',
        "notes": "The provider has a sandbox.",
        "prompt_number": 1,
        "discovery_tokens": 10,
        **_times(1),
    },
    {
        "memory_session_id": "memory-2",
        "project": "orders",
        "request": "Add a retry to the importer",
        "investigated": "",
        "learned": "",
        "completed": "Added it.",
        "next_steps": "",
        "files_read": "[]",
        "files_edited": "[]",
        "notes": "",
        "prompt_number": 1,
        "discovery_tokens": 10,
        **_times(2),
    },
]
