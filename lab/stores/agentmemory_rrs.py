"""Runs agentmemory-rrs from its repository: its command line and its MCP server."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.stores.run import call_tools, install_pypi, pack_database, run

# Not on PyPI any more; needs Python 3.12.
PACKAGE = "agentmemory-rrs @ git+https://github.com/robot-rocket-science/agentmemory"


def make(scratch: Path, target: Path) -> None:
    """Make a store with remembered, locked, corrected, deleted and extracted beliefs."""
    programs = install_pypi(scratch, PACKAGE, python="python3.12")
    home = scratch / "homes" / "agentmemory-rrs"
    shutil.rmtree(home, ignore_errors=True)
    project = home / "work" / "orders"
    command, environ = str(programs / "agentmemory"), {"HOME": str(home)}
    for words in (
        ("remember", "The staging database is reset every Sunday night."),
        ("lock", "Never push directly to the main branch."),
        ("remember", "The importer reads files in Latin-1."),
    ):
        run([command, *words], project, environ)
    found = run([command, "search", "importer Latin-1"], project, environ)
    deleted = found.partition("(ID: ")[2].partition(",")[0]
    server = [str(programs / "python"), "-m", "agentmemory.server"]
    call_tools(server, project, environ, [
        ("remember", {"text": "Deploy the orders service with make deploy on Fridays"}),
        ("correct", {
            "text": "Deploy the orders service with make release on Mondays",
            "replaces": "Deploy the orders service with make deploy on Fridays",
        }),
        ("ingest", {
            "text": "We prefer pnpm over npm in this repository. All prices must be stored in cents.",
            "source": "user",
        }),
        ("delete", {"belief_id": deleted}),
    ])  # fmt: skip
    (database,) = (home / ".agentmemory" / "projects").glob("*/memory.db")
    pack_database(database, target / "memory.db.gz")
    (target / "project.txt").write_text("/home/ada/orders\n", encoding="utf-8")
