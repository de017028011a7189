"""Zed: its agent is wired and not read."""

from __future__ import annotations

import os

from told.agents._wiring_forms import mcp, shared_agents_file
from told.agents._wiring_places import below, config, roaming
from told.agents.base import Agent
from told.agents.wiring import PROJECT_SCOPE, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place

_SERVERS = ("context_servers",)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Zed's files."""
    if place.scope != PROJECT_SCOPE:
        folder = roaming(place, "Zed") if place.system == "win32" else config(place, "zed")
        return mcp(place, below(place, folder, "settings.json"), _SERVERS, env={})
    servers = mcp(place, below(place, place.project, ".zed", "settings.json"), _SERVERS, env={})
    # Zed reads one file of instructions only, and this one before AGENTS.md.
    rules = below(place, place.project, ".rules")
    if os.path.exists(rules):
        return (*servers, Block(rules, place.guide))
    return (*servers, *shared_agents_file(place))


AGENT = Agent(
    name="zed",
    title="Zed",
    label="zed",
    wire=wire,
    programs=("zed", "zeditor"),
    present=("$XDG_CONFIG_HOME|~/.config:zed", "$APPDATA/Zed"),
    limits="told has no hooks in it, and its instructions are a project's: --scope project.",
)
