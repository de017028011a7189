"""Wires Qwen Code: hooks and the MCP server in settings.json, QWEN.md and `/mem:` commands."""

from __future__ import annotations

from told.agents._wiring_forms import (
    CLAUDE_EVENTS,
    hook_entries,
    markdown_commands,
    mcp,
    node_line,
    note,
    seconds,
    wanted,
)
from told.agents._wiring_places import below, named
from told.agents.wiring import PROJECT_SCOPE, TOOL, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Change, Place

NAME = "qwen-code"


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qwen Code's files."""
    if place.scope == PROJECT_SCOPE:
        folder = below(place, place.project, ".qwen")
        instructions = below(place, place.project, "QWEN.md")
    else:
        folder = named(place, "QWEN_HOME", ".qwen")
        instructions = below(place, folder, "QWEN.md")
    settings = below(place, folder, "settings.json")

    def group(event: str) -> dict[str, Any]:
        # Milliseconds up to 0.24 and seconds later: too long does no harm, 5 ms would. And no `args`: an
        # older Qwen Code takes no notice of it and would start the bare interpreter.
        hook: dict[str, Any] = {
            "type": "command", "command": node_line(place, NAME, event), "name": "told",
            "timeout": 1000 * seconds(event),
        }  # fmt: skip
        if place.system == "win32":
            hook["shell"] = "powershell"
        return ({"matcher": "Bash|Edit|Write"} if event == TOOL else {}) | {"hooks": [hook]}

    return (
        *hook_entries(settings, wanted(place, CLAUDE_EVENTS, ("PreToolUse", TOOL)), group),
        *mcp(place, settings),
        Block(instructions, note(place)),
        *markdown_commands(place, below(place, folder, "commands"), arguments="{{args}}", spoken=True),
    )
