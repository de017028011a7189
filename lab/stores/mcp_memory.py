"""Runs the MCP memory server from npm and fills its file through its tools."""

from __future__ import annotations

from pathlib import Path

from lab.stores.run import call_tools, install_npm

PACKAGE = "@modelcontextprotocol/server-memory@2026.8.31"


def make(scratch: Path, target: Path) -> None:
    """Make a graph of three entities and two relations."""
    server = install_npm(scratch, PACKAGE) / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    target.mkdir(parents=True, exist_ok=True)
    file = target / "memory.jsonl"
    file.unlink(missing_ok=True)
    environ = {"MEMORY_FILE_PATH": str(file)}
    call_tools(["node", str(server)], scratch, environ, [
        ("create_entities", {"entities": [
            {"name": "Ada", "entityType": "person",
             "observations": ["Prefers pnpm over npm", "Works on Mondays"]},
            {"name": "orders", "entityType": "project", "observations": ["Prices in orders are in cents"]},
            {"name": "Charge once", "entityType": "decision",
             "observations": ["The key is the order number"]},
            {"name": "Old shop", "entityType": "system", "observations": []},
        ]}),
        ("add_observations", {"observations": [
            {"entityName": "orders", "contents": ["Deploys with make release", "Is tested with pytest"]},
        ]}),
        ("create_relations", {"relations": [
            {"from": "Ada", "to": "orders", "relationType": "maintains"},
            {"from": "orders", "to": "Old shop", "relationType": "reads_files_of"},
        ]}),
        ("delete_observations", {"deletions": [
            {"entityName": "orders", "observations": ["Is tested with pytest"]},
        ]}),
    ])  # fmt: skip
