"""Count the source: lines, files and folders, large files and data, and what one prompt executes."""

from __future__ import annotations

import argparse
import ast
import collections
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import told

SOURCE = Path(told.__file__).parent
_LITERALS = (ast.Dict, ast.List, ast.Set, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)
MOST_LINES, MOST_IN_FOLDER, MOST_DATA = 400, 30, 40
# As an agent calls the hook, in process: every module of told that runs a line is counted.
_TRACE = """
import json, sys, threading
sys.path[:0] = json.loads(sys.argv[1])
seen, source = set(), sys.argv[2]
def note(frame, event, arg):
    file = frame.f_code.co_filename
    if file.startswith(source) and frame.f_code.co_name != "<module>":
        seen.add(file)
{setup}
threading.setprofile(note)
sys.setprofile(note)
{call}
sys.setprofile(None)
print(len(seen))
"""
_PROMPT_SETUP = """
from told.hook.dispatch import answer_hook
environ = json.loads(sys.argv[3])
def call(text, session):
    payload = {"cwd": environ["HOME"], "session_id": session, "prompt": text}
    return answer_hook("claude-code", "prompt", payload, environ)
call("We always use pnpm here, never npm.", "first")
"""
_LINE_SETUP = """
from told.hook.dispatch import answer_hook
environ = json.loads(sys.argv[3])
project = environ["HOME"] + "/project"
transcript = sys.argv[4]
def call():
    payload = {"cwd": project, "session_id": SESSION, "transcript_path": transcript}
    return answer_hook("claude-code", "stop", payload, environ)
SESSION = "11111111-1111-4111-8111-111111111111"
call()
line = json.loads(open(transcript).readline())
with open(transcript, "a") as file:
    file.write(json.dumps(line | {"uuid": "u2", "timestamp": "2026-01-05T10:05:00.000Z"}) + "\\n")
"""
_LINE = {
    "type": "user", "sessionId": "11111111-1111-4111-8111-111111111111", "uuid": "u1", "cwd": "",
    "timestamp": "2026-01-05T10:00:00.000Z", "version": "2.1.0", "isSidechain": False, "userType": "external",
    "message": {"role": "user", "content": "We always use pnpm here, never npm."},
}  # fmt: skip


def run(arguments: argparse.Namespace) -> dict[str, Any]:  # noqa: ARG001 - the same for all benchmarks
    """Count the files below `src/told`."""
    sources = {_name(path): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    lines = {name: len(text.splitlines()) for name, text in sources.items()}
    nodes = {name: list(ast.walk(ast.parse(text))) for name, text in sources.items()}
    folders = collections.Counter(os.path.dirname(name) for name in lines)
    rooms: dict[str, list[int]] = {}
    for name, count in lines.items():
        room = rooms.setdefault(name.partition("/")[0] if "/" in name else "(root)", [0, 0])
        room[0] += 1
        room[1] += count
    return {
        "benchmark": "house",
        "lines": sum(lines.values()),
        "files": len(lines),
        "folders": len(folders),
        "most_files_in_a_folder": max(folders.values()),
        "files_above_400_lines": {name: count for name, count in lines.items() if count > MOST_LINES},
        "literal_data_above_40_lines": [
            found for name, inside in nodes.items() for found in long_literals(name, inside)
        ],
        "imports_of_private_names": [
            found for name, inside in nodes.items() for found in private_imports(name, inside)
        ],
        "local_imports": sum(map(_local_imports, nodes.values())),
        "files_executed_by_a_prompt": _executed(_PROMPT_SETUP, 'call("install the packages", "second")'),
        "files_executed_by_a_prompt_that_replaces": _executed(
            _PROMPT_SETUP, 'call("From now on we always use npm here, never pnpm.", "second")'
        ),
        "files_executed_by_a_transcript_line": _executed(_LINE_SETUP, "call()"),
        "rooms": {room: {"files": files, "lines": count} for room, (files, count) in sorted(rooms.items())},
    }


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def long_literals(name: str, nodes: Iterable[ast.AST]) -> list[str]:
    """Return the places of collections and strings that are longer than code should carry."""
    found = []
    for node in nodes:
        values = [node.value] if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value else []
        for value in values:
            length = (value.end_lineno or value.lineno) - value.lineno + 1
            if length > MOST_DATA and all(isinstance(part, _LITERALS) for part in ast.walk(value)):
                found.append(f"{name}:{value.lineno} ({length} lines)")
    return found


def private_imports(name: str, nodes: Iterable[ast.AST]) -> list[str]:
    room = name.partition("/")[0]
    return [
        f"{name}:{node.lineno} {node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("told.")
        if (node.module or "").split(".")[1] != room
        for alias in node.names
        if alias.name.startswith("_") or any(part.startswith("_") for part in (node.module or "").split("."))
    ]


def _local_imports(nodes: Iterable[ast.AST]) -> int:
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return len(
        {
            (node.lineno, node.col_offset)
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        }
    )


def _executed(setup: str, call: str) -> int | str:
    """Return how many files of told run a function during a call, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="told-house-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        transcripts = Path(folder, ".claude", "projects", "-project")
        transcripts.mkdir(parents=True)
        line = json.dumps(_LINE | {"cwd": str(project)})
        transcript = transcripts / f"{_LINE['sessionId']}.jsonl"
        transcript.write_text(f"{line}\n", encoding="utf-8")
        environ = {"HOME": folder, "TOLD_HOME": os.path.join(folder, "told"), "TOLD_BACKGROUND": "off"}
        program = _TRACE.replace("{setup}", setup).replace("{call}", call)
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps(sys.path), SOURCE, json.dumps(environ), transcript],
            capture_output=True, text=True, check=False, timeout=120, cwd=project, env=os.environ | environ,
        )  # fmt: skip
    last = done.stdout.strip().rpartition("\n")[2]
    return int(last) if last.isdigit() else f"failed: {done.stderr.strip()[-200:]}"
