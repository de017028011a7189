"""Wires Gemini CLI: hooks and the MCP server in settings.json, GEMINI.md and `/mem:` commands."""

from __future__ import annotations

from told.agents._wiring_forms import hook_entries, mcp, node_line, seconds, toml_commands, wanted
from told.agents._wiring_places import below, named
from told.agents.wiring import END, PROJECT_SCOPE, PROMPT, START, STOP, TOOL, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Change, Place

NAME = "gemini-cli"
# Never PreCompress: it comes before every model turn, not only before a compaction.
EVENTS = (("SessionStart", START), ("BeforeAgent", PROMPT), ("AfterAgent", STOP), ("SessionEnd", END))


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Gemini CLI's files."""
    if place.scope == PROJECT_SCOPE:
        folder = below(place, place.project, ".gemini")
        instructions = below(place, place.project, "GEMINI.md")
    else:
        folder = below(place, named(place, "GEMINI_CLI_HOME"), ".gemini")
        instructions = below(place, folder, "GEMINI.md")
    settings = below(place, folder, "settings.json")

    def group(event: str) -> dict[str, Any]:
        hook = {
            "name": "told", "type": "command", "command": node_line(place, NAME, event),
            "timeout": 1000 * seconds(event),
        }  # fmt: skip
        return ({"matcher": "run_shell_command|write_file|replace"} if event == TOOL else {}) | {
            "hooks": [hook]
        }

    return (
        *hook_entries(settings, wanted(place, EVENTS, ("BeforeTool", TOOL)), group),
        *mcp(place, settings),
        Block(instructions, place.guide),  # Antigravity reads the same file, and has no hooks
        *toml_commands(place, below(place, folder, "commands")),
    )
