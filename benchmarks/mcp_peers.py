"""The servers that stand beside told's: a minimal one on the official SDK, and those of other tools."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks import tools
from benchmarks.hook_peers import OCM, OCM_VERSION
from benchmarks.measure import Command

SDK, SDK_VERSION = "mcp", "2.3.0"
AGENTMEMORY, AGENTMEMORY_VERSION = "agentmemory-rrs", "3.0.2"
NAMES = (SDK, OCM, AGENTMEMORY)
_BEFORE_2 = "mcp<2"  # what ocm asks for has no upper bound, and it does not start with what that brings
_NEWER = ("python3.13", "python3.12")  # agentmemory-rrs takes nothing older

# The least that a server on the SDK can be: tools that give back what they are given.
_ECHO = """
import sys
from mcp.server import MCPServer
server = MCPServer("echo")
def named(name):
    def echo(text: str) -> str:
        "Give back what was said."
        return text
    echo.__name__ = name
    return echo
for number in range(int(sys.argv[1])):
    server.tool()(named(f"echo{number}"))
server.run()
"""
_ECHO_LOW = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
async def listed(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="echo0", description="Echo.", input_schema=SCHEMA)])
async def called(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text=params.arguments["text"])])
async def main():
    server = Server("echo", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
anyio.run(main)
"""


class Server(NamedTuple):
    """A server, and what is asked of it."""

    command: Command
    cheap: tuple[str, Mapping[str, Any]]  # the call that is made a hundred times
    calls: Mapping[str, Mapping[str, Any]]  # what each of its tools is called with
    url: str = ""  # where it answers; empty for its standard streams


class Peers(NamedTuple):
    """The servers that could be installed, and what became of each tool."""

    servers: dict[str, Server]
    state: dict[str, str]  # by tool: its version, or why it is not measured


def none() -> Peers:
    """Return no servers at all."""
    return Peers({}, dict.fromkeys(NAMES, "left out"))


def installed(cache: str, folder: str, sources: Mapping[str, str]) -> Peers:
    """Install what can be installed.

    Args:
        cache: Where tools are installed to stay; by default the user's cache.
        folder: Where homes and projects for them are made.
        sources: By tool, a folder with its source, where the package index does not have it.
    """
    servers: dict[str, Server] = {}
    state: dict[str, str] = {}
    for name, prepare in ((SDK, _sdk), (OCM, _ocm), (AGENTMEMORY, _agentmemory)):
        root = os.path.join(folder, name)
        for made in (os.path.join(root, "project", ".git"), os.path.join(root, ".claude")):
            os.makedirs(made)
        found = prepare(cache, root, sources.get(name, ""))
        servers |= found.servers
        state |= found.state
    return Peers(servers, state)


def _sdk(cache: str, root: str, source: str) -> Peers:
    peer = tools.install(SDK, SDK_VERSION, "python", cache, source=source)
    if not peer.folder:
        return Peers({}, {SDK: f"not measured; {peer.why}"})
    python = os.path.join(peer.folder, "python")
    once = ("echo0", {"text": "hello"})
    five = {f"echo{number}": {"text": "hello"} for number in range(5)}
    return Peers(
        {
            "SDK, lowlevel, 1 tool": Server(
                _command(root, [python, "-c", _ECHO_LOW]), once, {"echo0": {"text": "hello"}}
            ),
            "SDK, MCPServer, 5 tools": Server(_command(root, [python, "-c", _ECHO, "5"]), once, five),
        },
        {SDK: SDK_VERSION},
    )


def _ocm(cache: str, root: str, source: str) -> Peers:
    peer = tools.install(OCM, OCM_VERSION, "ocm", cache, beside=_BEFORE_2, source=source)
    if not peer.folder:
        return Peers({}, {OCM: f"not measured; {peer.why}"})
    program = os.path.join(peer.folder, "ocm")
    command = _command(root, [program, "serve", "--foreground"], peer.folder)
    init = [program, "init", "-y", "--claude-hooks", "minimal"]
    try:
        subprocess.run(
            init, cwd=command.folder, env=command.environ, check=True, capture_output=True, timeout=60
        )
        with open(os.path.join(command.folder, ".openCodeMemory", "server.json"), encoding="utf-8") as file:
            url = str(json.load(file)["url"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        return Peers({}, {OCM: f"not measured; {error}"})
    calls: dict[str, dict[str, Any]] = {
        "ocm__checkpoint": {"session_id": "bench", "goal": "Charge each order once", "work_completed": ["a"]},
        "ocm__search_sessions": {"query": "order"}, "ocm__list_sessions": {"limit": 5},
        "ocm__get_session_files": {"session_id": "bench"},
    }  # fmt: skip
    server = Server(command, ("ocm__list_sessions", {"limit": 5}), calls, url)
    state = f"{OCM_VERSION} with {_BEFORE_2}, without which it does not start; answers over HTTP"
    return Peers({"ocm": server}, {OCM: state})


def _agentmemory(cache: str, root: str, source: str) -> Peers:
    python = _newer()
    if not python:
        return Peers({}, {AGENTMEMORY: "not measured; it needs Python 3.12, which is not here"})
    peer = tools.install(AGENTMEMORY, AGENTMEMORY_VERSION, "agentmemory", cache, source=source, python=python)
    if not peer.folder:
        return Peers({}, {AGENTMEMORY: f"not measured; {peer.why}"})
    calls: dict[str, dict[str, Any]] = {
        "remember": {"text": "Orders are charged once."}, "search": {"query": "orders"}, "status": {},
        "observe": {"text": "The build took a minute."}, "get_locked": {}, "timeline": {"limit": 5},
        "diff": {"since": "2026-01-01"}, "snapshot": {"limit": 5}, "graph_metrics": {"top_n": 5},
        "wonder": {"query": "orders"}, "correct": {"text": "Orders are charged twice, never once."},
        "get_unclassified": {"limit": 5},
    }  # fmt: skip
    command = _command(root, [os.path.join(peer.folder, "agentmemory"), "mcp"])
    version = f"{AGENTMEMORY_VERSION}{' from its source' if source else ''}, on {os.path.basename(python)}"
    return Peers(
        {"agentmemory": Server(command, ("search", {"query": "orders"}), calls)}, {AGENTMEMORY: version}
    )


def _newer() -> str:
    """Return a Python that is new enough; pyenv has names on the path for some that do not run there."""
    if sys.version_info >= (3, 12):
        return sys.executable
    kept = os.path.join(
        os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"), "versions", "*", "bin"
    )
    for name in _NEWER:
        for path in (shutil.which(name), *sorted(glob.glob(os.path.join(kept, name)))):
            if path and not subprocess.run([path, "-c", ""], check=False, capture_output=True).returncode:
                return path
    return ""


def _command(root: str, words: list[str], path: str = "") -> Command:
    paths = [path] if path else []
    environ = {
        "HOME": root, "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([*paths, os.environ.get("PATH", os.defpath)]),
    }  # fmt: skip
    return Command(words, environ, os.path.join(root, "project"))
