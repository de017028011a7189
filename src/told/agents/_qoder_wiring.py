"""Wires Qoder's CLI, whose hooks are Claude Code's: settings.json, the MCP server, and AGENTS.md."""

from __future__ import annotations

from told.agents._wiring_forms import (
    hook_entries,
    mcp,
    note,
    project_mcp,
    seconds,
    shared_agents_file,
    shell_line,
    wanted,
)
from told.agents._wiring_places import below, named
from told.agents.wiring import COMPACT, END, HELPER, PROJECT_SCOPE, PROMPT, START, STOP, TOOL, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Change, Place

NAME = "qoder"
EVENTS = (
    ("SessionStart", START), ("UserPromptSubmit", PROMPT), ("PreCompact", COMPACT), ("Stop", STOP),
    ("SessionEnd", END), ("SubagentStart", HELPER),
)  # fmt: skip


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qoder's files."""

    def group(event: str) -> dict[str, Any]:
        hook = {"type": "command", "command": shell_line(place, NAME, event), "timeout": seconds(event)}
        return ({"matcher": "Bash|Edit|Write"} if event == TOOL else {}) | {"hooks": [hook]}

    events = wanted(place, EVENTS, ("PreToolUse", TOOL))
    if place.scope == PROJECT_SCOPE:
        path = below(place, place.project, ".qoder", "settings.local.json")
        return (*hook_entries(path, events, group), *project_mcp(place), *shared_agents_file(place))
    folder = named(place, "QODER_CONFIG_DIR", ".qoder")
    settings = below(place, folder, "settings.json")
    return (
        *hook_entries(settings, events, group),
        *mcp(place, settings),
        Block(below(place, folder, "AGENTS.md"), note(place)),
    )
