"""Wires Cursor: hooks.json, the MCP server, and a rule in the project."""

from __future__ import annotations

from told.agents._wiring_forms import hook_entries, mcp, note, seconds, shell_line, wanted
from told.agents._wiring_places import below
from told.agents.wiring import COMPACT, END, OWN, PROJECT_SCOPE, PROMPT, START, STOP, TOOL, Entry, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Change, Place

NAME = "cursor"
EVENTS = (
    ("sessionStart", START), ("beforeSubmitPrompt", PROMPT), ("preCompact", COMPACT), ("stop", STOP),
    ("sessionEnd", END),
)  # fmt: skip
_RULE_HEAD = f"---\n# {OWN}\ndescription: what told remembers\nalwaysApply: true\n---\n\n"


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Cursor's files; what holds everywhere is set in Cursor, not in a file."""
    in_project = place.scope == PROJECT_SCOPE
    folder = below(place, place.project if in_project else place.home, ".cursor")
    path = below(place, folder, "hooks.json")

    def hook(event: str) -> dict[str, Any]:
        return {"command": shell_line(place, NAME, event), "timeout": seconds(event)}

    hooks = hook_entries(path, wanted(place, EVENTS, ("preToolUse", TOOL)), hook)
    rule = OwnFile(below(place, folder, "rules", "told.mdc"), _RULE_HEAD + note(place) + "\n")
    return (
        *((Entry(path, ("version",), 1, default=True),) if hooks else ()),
        *hooks,
        *mcp(place, below(place, folder, "mcp.json")),
        *((rule,) if in_project else ()),
    )
