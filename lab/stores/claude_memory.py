"""Writes files as Claude Code keeps its memory: the model writes them, so there is no tool to run."""

from __future__ import annotations

import shutil
from pathlib import Path

_FILES = {
    "memory/MEMORY.md": """# Memory

- [Test database](test-database.md) — never mock it
- [Gone](gone.md) — this file was deleted

## Build
- Run `make release` on Mondays
  - never on Fridays
- Prices are stored in cents

The importer reads files of the old shop
as Latin-1.
""",
    "memory/test-database.md": """---
name: test-database
description: Tests use a real database
metadata:
  type: feedback
---

Do not mock the database in tests.

**Why:** a mocked test passed while the migration failed.
**How to apply:** use the container in docker-compose.yml.
""",
    "memory/debugging.md": """# Debugging

## Payments
1. Start the sandbox
2. Run the tests with one worker

```sh
# not a heading
make sandbox
```
""",
    "session.jsonl": '{"type":"user","cwd":"/home/ada/orders","message":{"role":"user","content":"hello"}}\n',
}


def make(scratch: Path, target: Path) -> None:  # noqa: ARG001 - as all makers have it
    """Make the folder of one project."""
    shutil.rmtree(target, ignore_errors=True)
    for name, text in _FILES.items():
        path = target / "projects" / "-home-ada-orders" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
