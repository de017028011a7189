"""The hooks of other tools, as their own installers wire them into Claude Code."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, measure, tools
from benchmarks.wired import hooks_in

OCM, OCM_VERSION = "ocm-session-memory", "0.2.0"
CLAUDE_MEM = "claude-mem"
_NOT_INSTALLED = "not installed"
_PLUGIN = os.path.join(".claude", "plugins", "marketplaces", "thedotmack", "plugin")
_PAYLOADS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "deploy the payment webhook again, customers were charged twice"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PostToolUse": {
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "README.md"},
    },
    "Stop": {},
}  # fmt: skip


class Peers(NamedTuple):
    """What is measured of other tools, and what became of each."""

    commands: dict[str, measure.Command]
    state: dict[str, str]  # by tool: its version, or why it is not measured

    def figures(self, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the state of each tool and the cost of its hooks."""
        return {**self.state, "hooks": {name: rows[name] for name in self.commands}}


def none() -> Peers:
    """Return no tools at all."""
    return Peers({}, {OCM: "left out", CLAUDE_MEM: "left out"})


def installed(cache: str, folder: str) -> Peers:
    """Install what can be installed, and wire it.

    Args:
        cache: Where tools are installed to stay; by default the user's cache.
        folder: Where homes and projects for them are made.
    """
    commands, state = _ocm(cache, os.path.join(folder, "ocm"))
    plugin = os.path.join(os.path.expanduser("~"), _PLUGIN, "hooks", "hooks.json")
    # Its hooks start a worker that outlives them and writes into the user's own store, so it is only named.
    state[CLAUDE_MEM] = "installed, not measured" if os.path.exists(plugin) else _NOT_INSTALLED
    return Peers(commands, state)


def _ocm(cache: str, root: str) -> tuple[dict[str, measure.Command], dict[str, str]]:
    peer = tools.install(OCM, OCM_VERSION, "ocm-hook", cache)
    if not peer.folder:
        return {}, {OCM: f"{_NOT_INSTALLED}; {peer.why}"}
    project = os.path.join(root, "project")
    for made in (os.path.join(project, ".git"), os.path.join(root, "home", ".claude")):
        os.makedirs(made)
    environ = {
        "HOME": os.path.join(root, "home"), "LANG": "C.UTF-8",
        "PATH": os.pathsep.join((peer.folder, os.environ.get("PATH", os.defpath))),
    }  # fmt: skip
    init = [os.path.join(peer.folder, "ocm"), "init", "-y", "--claude-hooks", "minimal"]
    try:
        subprocess.run(init, cwd=project, env=environ, check=True, capture_output=True, timeout=60)
        hooks = hooks_in(os.path.join(project, ".claude", "settings.json"))
    except (OSError, subprocess.SubprocessError, CannotMeasureError) as error:
        return {}, {OCM: f"{_NOT_INSTALLED}; {error}"}
    commands = {}
    for event, payload in _PAYLOADS.items():
        path = os.path.join(root, f"{event}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"session_id": "bench", "cwd": project, "hook_event_name": event, **payload}, file)
        for words in hooks.get(event, []):
            commands[f"ocm {event}"] = measure.Command(words, environ, project, path)
    return commands, {OCM: OCM_VERSION}
