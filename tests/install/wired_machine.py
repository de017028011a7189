"""A scratch machine for `told install`: agents by name, their files as users have them, and snapshots."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from told.agents import wired_agents
from told.agents.wiring import Block, Entry, Launch
from told.cli import service
from told.cli.arguments import Command, all_commands
from told.cli.connect import uninstall
from told.install import place as places

if TYPE_CHECKING:
    import pytest

    from tests.cli.machine import Answer, Machine
    from told.agents.wiring import Place

WITH_MCP = (*all_commands(), Command("mcp", "serve", "reads", ""))
JSON_OF_USER = """{
\t// mine
\t"theme": "dark",
\t"mcpServers": {"other": {"command": "x", "args": ["--key", "s3cret"]}},
\t"hooks": {
\t\t"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}], // keep
\t},
}
"""
TOML_OF_USER = 'model = "gpt"  # mine\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n'
MARKDOWN_OF_USER = "# My rules\n\nBe kind."


def launch_with(monkeypatch: pytest.MonkeyPatch, started: Launch) -> None:
    """Let agents start the hook this way, without looking for an interpreter again."""
    for module in (places, service, uninstall):
        monkeypatch.setattr(module, "launch", lambda **_: started)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return every file below a folder with its bytes, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def fill(agent: str, place: Place) -> None:
    """Write the files of an agent as a user may have them: with comments, tabs, and entries of others."""
    wire = wired_agents()[agent].wire
    assert wire is not None
    for change in wire(place):
        path = Path(change.path)
        if path.exists() or not isinstance(change, (Entry, Block)):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        content = MARKDOWN_OF_USER
        if isinstance(change, Entry):
            content = TOML_OF_USER if path.suffix == ".toml" else JSON_OF_USER
        path.write_bytes(content.encode())


def project(machine: Machine, name: str = "shop") -> Path:
    """Make a folder that is a project, without asking git."""
    folder = Path(machine.folder(name))
    (folder / ".git").mkdir(exist_ok=True)
    return folder


def at_terminal(machine: Machine, words: list[str], answers: str) -> Answer:
    """Run told with a terminal on both sides, and type answers."""
    from tests.cli.machine import Answer

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "told", *words],
        stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=machine.environ, cwd=machine.home,
    )  # fmt: skip
    os.close(slave)
    os.write(master, answers.encode())
    seen = b""
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        if select.select([master], [], [], 0.1)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            seen += part
        elif child.poll() is not None:
            break
    _, err = child.communicate(timeout=120)
    os.close(master)
    return Answer(child.returncode, seen.decode().replace("\r\n", "\n"), err.decode())
