"""Wires Copilot in VS Code and in JetBrains' IDEs: the MCP server and their instructions."""

from __future__ import annotations

import os

from told.agents._wiring_forms import mcp, shared_copilot_file
from told.agents._wiring_places import below, config, named, user_data
from told.agents.wiring import OWN, PROJECT_SCOPE, Block, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place

_SERVERS = ("servers",)
_MORE_EDITORS = ("Code - Insiders", "VSCodium")
_HEAD = f"---\n# {OWN}\nname: told\ndescription: what told remembers\napplyTo: '**'\n---\n\n"


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into VS Code's files, and into those of its siblings that are there."""
    if place.scope == PROJECT_SCOPE:
        servers = mcp(place, below(place, place.project, ".vscode", "mcp.json"), _SERVERS, type="stdio")
        return (*servers, *shared_copilot_file(place))
    folders = [user_data(place, "Code"), *(user_data(place, name) for name in _MORE_EDITORS)]
    made: list[Change] = []
    for folder in folders[:1] + [one for one in folders[1:] if os.path.isdir(one)]:
        made += mcp(place, below(place, folder, "User", "mcp.json"), _SERVERS, type="stdio")
        instructions = below(place, folder, "User", "prompts", "told.instructions.md")
        made.append(OwnFile(instructions, _HEAD + place.guide + "\n"))
    return tuple(made)


def jetbrains_changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into the files of Copilot in JetBrains' IDEs."""
    if place.scope == PROJECT_SCOPE:
        return shared_copilot_file(place)
    if place.system == "win32":
        folder = below(place, named(place, "LOCALAPPDATA", "AppData", "Local"), "github-copilot", "intellij")
    else:
        folder = config(place, "github-copilot", "intellij")
    return (
        *mcp(place, below(place, folder, "mcp.json"), _SERVERS, type="stdio"),
        Block(below(place, folder, "global-copilot-instructions.md"), place.guide),
    )
