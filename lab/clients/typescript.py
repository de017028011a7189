"""The TypeScript SDK's client: its first line, and the second that also knows 2026-07-28."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict

from lab import CannotRunError
from lab.clients.packages import NEWER, OLDER, library
from lab.clients.talk import INITIALIZE, STATELESS, WORD, Call, Client, Heard, Server, heard
from lab.npm import Program, Shelf

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "talk.mjs")
SECONDS = 60
_LONGEST = 600


def clients(shelf: Shelf) -> list[Client]:
    """Return it once for each line and era."""
    found = []
    for program, eras in ((OLDER, (INITIALIZE,)), (NEWER, (INITIALIZE, STATELESS))):
        for era in eras:
            talk = functools.partial(_talk, shelf, program, era)
            found.append(Client("TypeScript SDK", program.version, era, talk))
    return found


def _talk(shelf: Shelf, program: Program, era: str, server: Server, calls: Sequence[Call]) -> Heard:
    folder = library(shelf, program)
    environ = {"PATH": shelf.path_for(program)}
    node = shutil.which("node", path=environ["PATH"])
    if node is None:
        raise CannotRunError("node is not on the PATH; install Node.js 20 or newer.")
    started = {
        "command": server.command,
        "args": list(server.args),
        "env": dict(server.env),
        "cwd": server.cwd,
    }
    orders = {
        "folder": folder, "older": program is OLDER, "era": era, "server": started, "word": WORD,
        "roots": list(server.roots), "seconds": SECONDS, "calls": [asdict(call) for call in calls],
    }  # fmt: skip
    done = subprocess.run(
        [node, SCRIPT], input=json.dumps(orders), env=environ, capture_output=True, text=True,
        encoding="utf-8", timeout=_LONGEST, check=False,
    )  # fmt: skip
    try:
        return heard(json.loads(done.stdout))
    except ValueError:
        return Heard(failure=(done.stderr or done.stdout).strip()[-300:] or "it said nothing")
