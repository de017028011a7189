"""Wires opencode: a plugin that calls the hook, the MCP server, AGENTS.md and `/mem/` commands."""

from __future__ import annotations

from told.agents._opencode_plugin import plugin
from told.agents._wiring_forms import markdown_commands, note, server, shared_agents_file
from told.agents._wiring_places import below, config, first_there
from told.agents.wiring import NO_HOOKS, PROJECT_SCOPE, Block, Entry, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into opencode's files."""
    if place.scope == PROJECT_SCOPE:
        folder = below(place, place.project, ".opencode")
        files = (below(place, place.project, name) for name in ("opencode.json", "opencode.jsonc"))
        instructions = shared_agents_file(place)
    else:
        folder = place.variables.get("OPENCODE_CONFIG_DIR", "") or config(place, "opencode")
        named = place.variables.get("OPENCODE_CONFIG", "")
        files = (file for file in (named, *_usual(place, folder)) if file)
        instructions = (Block(below(place, folder, "AGENTS.md"), note(place)),)
    command = server(place)
    entry = {"type": "local", "command": [command["command"], *command["args"]], "enabled": True}
    servers = Entry(first_there(*files), ("mcp", "told"), entry, mark="mcp")
    return (
        *(() if place.profile == NO_HOOKS else (_plugin(place, folder),)),
        *((servers,) if place.mcp else ()),
        *instructions,
        *markdown_commands(place, below(place, folder, "commands"), spoken=True),
    )


def _usual(place: Place, folder: str) -> list[str]:
    return [below(place, folder, name) for name in ("opencode.json", "opencode.jsonc", "config.json")]


def _plugin(place: Place, folder: str) -> Change:
    return OwnFile(below(place, folder, "plugins", "told.js"), plugin(place))
