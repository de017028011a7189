"""Wires Cline: a file of rules and the MCP server. Its hooks give the model nothing but at tool calls."""

from __future__ import annotations

import os

from told.agents._wiring_forms import mcp, shared_agents_file
from told.agents._wiring_places import below, named
from told.agents.wiring import OWN, PROJECT_SCOPE, Block, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Cline's files."""
    if place.scope == PROJECT_SCOPE:
        rules = below(place, place.project, ".clinerules")
        if os.path.isfile(rules):
            return (Block(rules, place.guide),)
        if os.path.isdir(rules):
            return (OwnFile(below(place, rules, "told.md"), _rules(place)),)
        # A new .clinerules would keep Cline from reading the rules that a project has for other agents.
        return shared_agents_file(place)
    folder = named(place, "CLINE_DIR", ".cline")
    settings = below(place, folder, "data", "settings", "cline_mcp_settings.json")
    return (
        # Without it Cline waits three seconds for a server, and then leaves it out without a word.
        *mcp(place, settings, timeout=60, disabled=False),
        OwnFile(below(place, folder, "rules", "told.md"), _rules(place)),
    )


def _rules(place: Place) -> str:
    return f"<!-- {OWN} -->\n{place.guide}\n"
