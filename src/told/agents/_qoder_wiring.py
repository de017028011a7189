"""Wires Qoder's CLI, whose hooks are Claude Code's: settings.json, the MCP server, and AGENTS.md."""

from __future__ import annotations

from told.agents._wiring_forms import (
    CLAUDE_EVENTS,
    hook_entries,
    mcp,
    note,
    project_mcp,
    shared_agents_file,
    shell_group,
    wanted,
)
from told.agents._wiring_places import below, named
from told.agents.wiring import PROJECT_SCOPE, TOOL, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place

NAME = "qoder"


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qoder's files."""
    group = shell_group(place, NAME)
    events = wanted(place, CLAUDE_EVENTS, ("PreToolUse", TOOL))
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
