"""Wires Copilot CLI: a file of hooks of its own, the MCP server, and its instructions."""

from __future__ import annotations

from told.agents._wiring_forms import mcp, note, seconds, shared_copilot_file, wanted
from told.agents._wiring_places import below, named
from told.agents.wiring import (
    COMPACT,
    END,
    NO_HOOKS,
    PROJECT_SCOPE,
    PROMPT,
    START,
    STOP,
    TOOL,
    Block,
    OwnFile,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Change, Place

NAME = "copilot-cli"
EVENTS = (
    ("sessionStart", START), ("userPromptSubmitted", PROMPT), ("preCompact", COMPACT), ("agentStop", STOP),
    ("sessionEnd", END),
)  # fmt: skip


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Copilot CLI's files."""
    local: dict[str, Any] = {"type": "local", "tools": ["*"]}
    if place.scope == PROJECT_SCOPE:
        folder = below(place, place.project, ".github")
        servers = mcp(place, below(place, folder, "mcp.json"), **local)
        instructions = shared_copilot_file(place)
    else:
        folder = named(place, "COPILOT_HOME", ".copilot")
        servers = mcp(place, below(place, folder, "mcp-config.json"), **local)
        instructions = (Block(below(place, folder, "copilot-instructions.md"), note(place)),)
    return (*_hooks(place, below(place, folder, "hooks", "told.json")), *servers, *instructions)


def _hooks(place: Place, path: str) -> tuple[Change, ...]:
    if place.profile == NO_HOOKS:
        return ()
    import json

    hooks = {name: [_hook(place, event)] for name, event in wanted(place, EVENTS, ("preToolUse", TOOL))}
    return (OwnFile(path, json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"),)


def _hook(place: Place, event: str) -> dict[str, Any]:
    bash, powershell = place.launch.line(NAME, event), place.launch.powershell(NAME, event)
    if event == TOOL:
        # Copilot refuses the tool when this hook fails in any way, be it that told is no longer there.
        bash, powershell = f"{bash} || true", f"{powershell}; exit 0"
    return {"type": "command", "bash": bash, "powershell": powershell, "timeoutSec": seconds(event)}
