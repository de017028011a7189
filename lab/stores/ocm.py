"""Runs openCodeMemory from PyPI: `ocm init`, checkpoints and its hooks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from lab.stores.run import install_pypi, pack_database, run

PACKAGE = "ocm-session-memory==0.2.0"


def make(scratch: Path, target: Path) -> None:
    """Make a store with two sessions."""
    programs = install_pypi(scratch, PACKAGE)
    home = scratch / "homes" / "ocm"
    shutil.rmtree(home, ignore_errors=True)
    project, environ = home / "orders", {"HOME": str(home)}
    run(["git", "init", "-q", "."], project)
    run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m",
         "Begin"], project)  # fmt: skip
    ocm = str(programs / "ocm")
    run([ocm, "init", "-y", "--claude-hooks", "none"], project, environ)
    run([
        ocm, "checkpoint", "--session-id", "session-1", "--tool", "claude-code", "--slug", "charge-once",
        "--goal", "Charge each order once", "--completed", "Added the idempotency key",
        "--pending", "Test with a slow payment server", "--summary", "The client retried without a key.",
        "--decision", "Use the order number as idempotency key",
        "--plan-file", json.dumps({"path": "docs/plan.md", "header": "## Payments"}),
        "--reference", json.dumps({"url": "https://example.org/keys", "title": "Idempotency keys"}),
    ], project, environ)  # fmt: skip
    (project / "client.py").write_text("key = order.number\n", encoding="utf-8")
    edited = {"session_id": "session-1", "cwd": str(project), "tool_name": "Write",
              "tool_input": {"file_path": str(project / "client.py")}}  # fmt: skip
    run([str(programs / "ocm-hook"), "file-edited"], project, environ, json.dumps(edited))
    run([ocm, "checkpoint", "--session-id", "session-1", "--decision", "Keys expire after 24 hours"],
        project, environ)  # fmt: skip
    run([ocm, "checkpoint", "--session-id", "session-2", "--tool", "cursor", "--goal", "Read old files",
         "--decision", "Read files of the old shop as Latin-1"], project, environ)  # fmt: skip
    run([str(programs / "ocm-hook"), "session-end"], project, environ, json.dumps(edited))
    pack_database(project / ".openCodeMemory" / "memory.db", target / "memory.db.gz")
