"""Check exports with the programs they are for: `python -m lab.exchange [--scratch DIR]`.

The real MCP memory server, from npm, reads our `memory.jsonl` and gives the graph back; what it writes is
imported again. PAM's own package validates our document.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import portable_ai_memory as pam

from demo.told import Scratch
from lab import CannotRunError
from lab.clients.packages import library
from lab.npm import Program, Shelf

SERVER = Program("@modelcontextprotocol/server-memory", "2026.8.31", "mcp-server-memory", node=18)
_SAID = (
    ("Use pnpm here, never npm",),
    ("Release on Tuesdays", "--kind", "decision"),
    ("Release on Thursdays now, not on Tuesdays", "--kind", "decision"),
    ('Quote "names" & <tags>, ümläute, 日本語 🚀', "--scope", "global"),
)


def main(words: Sequence[str]) -> int:
    """Run both checks and print what they found."""
    parser = argparse.ArgumentParser(prog="python -m lab.exchange", description=__doc__)
    default = os.path.join(tempfile.gettempdir(), f"told-lab-{os.getuid()}")
    parser.add_argument("--scratch", default=default, help="a folder for programs, kept between runs")
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="told-exchange-") as folder:
        scratch = Scratch(folder)
        _run(scratch, "index")
        for said in _SAID:
            _run(scratch, "remember", *said)
        try:
            found = [_check_server(scratch, folder, Shelf(os.path.join(chosen.scratch, "programs")))]
        except CannotRunError as error:
            print(error, file=sys.stderr)
            return 1
        found.append(_check_pam(scratch, folder))
    for line, works in found:
        print(f"{'works' if works else 'FAILS'}: {line}")
    return 0 if all(works for _, works in found) else 1


def _run(scratch: Scratch, *words: str) -> str:
    done = scratch.told(*words)
    if done.returncode:
        raise SystemExit(f"told {' '.join(words)}: {done.stdout}")
    return done.stdout


def _check_server(scratch: Scratch, folder: str, shelf: Shelf) -> tuple[str, bool]:
    path = os.path.join(folder, "memory.jsonl")
    _run(scratch, "export", path, "--format", "mcp-memory")
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    written = {kind: [one for one in lines if one.pop("type") == kind] for kind in ("entity",)}
    entities = written["entity"]
    relations = [one for one in lines if "relationType" in one]
    program = os.path.join(library(shelf, SERVER), "node_modules", ".bin", SERVER.command)
    environ = {**scratch.environ, "MEMORY_FILE_PATH": path}
    graph, hits = _ask_server(program, environ)
    same = _sorted(graph["entities"]) == _sorted(entities)
    same = same and _sorted(graph["relations"]) == _sorted(relations) and bool(relations)
    found = any("pnpm" in text for one in hits["entities"] for text in one["observations"])
    again = json.loads(_run(scratch, "import", path, "--json"))["counts"]
    text = (
        f"MCP memory server {SERVER.version}: {len(entities)} entities and {len(relations)} relations"
        f" read back, {len(hits['entities'])} found by a search,"
        f" {again['same']} memories of the file that it wrote are known to told"
    )
    memories = sum(bool(one["observations"]) for one in entities)
    return text, same and found and again["same"] == memories and not again["new"]


def _ask_server(program: str, environ: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the server's graph, and what it finds; make it write its file as well."""
    extra = {"entityName": "told-exchange", "contents": ["written by the server"]}
    node = {"name": "told-exchange", "entityType": "check", "observations": []}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("read_graph", {}), ("search_nodes", {"query": "pnpm"}), ("create_entities", {"entities": [node]}),
        ("add_observations", {"observations": [extra]}), ("delete_entities", {"entityNames": [node["name"]]}),
    ]  # fmt: skip
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "lab", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    messages += [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for number, (name, given) in enumerate(asked, 1)
    ]
    answers: dict[int, Any] = {}
    with subprocess.Popen(
        [program], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answer = json.loads(process.stdout.readline())
                answers[answer["id"]] = answer.get("result")
        process.stdin.close()
        process.terminate()
    graph, hits = (json.loads(answers[number]["content"][0]["text"]) for number in (1, 2))
    return graph, hits


def _sorted(entries: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in entries)


def _check_pam(scratch: Scratch, folder: str) -> tuple[str, bool]:
    path = os.path.join(folder, "memories.pam.json")
    _run(scratch, "export", path, "--format", "pam")
    store = pam.load_memory_store(path)
    result = pam.validate(store)
    problems = [str(one) for one in (*result.errors, *result.warnings)]
    text = f"PAM {store.schema_version}: {len(store.memories)} memories, {len(store.relations)} relations"
    return f"{text}; problems: {problems or 'none'}", result.is_valid and not problems


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
