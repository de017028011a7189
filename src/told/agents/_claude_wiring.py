"""Wires Claude Code: hooks without a shell, the MCP server, CLAUDE.md and `/mem:` commands."""

from __future__ import annotations

from told.agents._wiring_forms import (
    CLAUDE_EVENTS,
    hook_entries,
    markdown_commands,
    mcp,
    note,
    project_mcp,
    seconds,
    wanted,
)
from told.agents._wiring_places import below, named
from told.agents.wiring import PROJECT_SCOPE, PROMPT, TOOL, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Change, Place

NAME = "claude-code"
# A compaction is followed by SessionStart, which hands the brief again; PostCompact would say it twice.
_SERVED_SECONDS = 0.25  # a service that hangs must not be noticed
GUARDED = "Bash|Edit|MultiEdit|Write|NotebookEdit"


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Claude Code's files."""
    if place.scope == PROJECT_SCOPE:
        folder = below(place, place.project, ".claude")
        # Not settings.json, which a team shares: the hooks name programs of this machine.
        hooks = _hooks(place, below(place, folder, "settings.local.json"))
        instructions = Block(below(place, place.project, "CLAUDE.md"), note(place))
        servers = project_mcp(place)
    else:
        folder = named(place, "CLAUDE_CONFIG_DIR", ".claude")
        hooks = _hooks(place, below(place, folder, "settings.json"))
        instructions = Block(below(place, folder, "CLAUDE.md"), note(place))
        home = folder if place.variables.get("CLAUDE_CONFIG_DIR") else place.home
        # Tools of MCP servers are left out of the first request unless the entry says otherwise.
        servers = mcp(place, below(place, home, ".claude.json"), type="stdio", alwaysLoad=True)
    commands = markdown_commands(place, below(place, folder, "commands"), claude=True)
    return (*hooks, *servers, instructions, *commands)


def _hooks(place: Place, path: str) -> tuple[Change, ...]:
    def group(event: str) -> dict[str, Any]:
        hook = _served(place, event) if event == PROMPT and place.service else _command(place, event)
        return ({"matcher": GUARDED} if event == TOOL else {}) | {"hooks": [hook]}

    return hook_entries(path, wanted(place, CLAUDE_EVENTS, ("PreToolUse", TOOL)), group)


def _command(place: Place, event: str) -> dict[str, Any]:
    program, *arguments = place.launch.words(NAME, event)
    return {"type": "command", "command": program, "args": arguments, "timeout": seconds(event)}


def _served(place: Place, event: str) -> dict[str, Any]:
    """Return the hook that asks the background service; when that is away, Claude Code goes on without."""
    return {
        "type": "http", "url": f"{place.service}/told.hook/{NAME}/{event}",
        "headers": {"Authorization": f"Bearer {place.token}"}, "timeout": _SERVED_SECONDS,
    }  # fmt: skip
