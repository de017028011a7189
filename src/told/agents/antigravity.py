"""Antigravity: its conversations are encrypted, so it is wired and not read."""

from __future__ import annotations

from told.agents._wiring_forms import mcp, shared_agents_file
from told.agents._wiring_places import below
from told.agents.base import Agent
from told.agents.wiring import PROJECT_SCOPE, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Antigravity's files."""
    if place.scope == PROJECT_SCOPE:
        servers = mcp(place, below(place, place.project, ".agents", "mcp_config.json"))
        return (*servers, *shared_agents_file(place))
    folder = below(place, place.home, ".gemini")
    servers = mcp(place, below(place, folder, "config", "mcp_config.json"))
    return (*servers, Block(below(place, folder, "GEMINI.md"), place.guide))


AGENT = Agent(
    name="antigravity",
    title="Antigravity",
    label="antigrav",
    wire=wire,
    programs=("agy", "antigravity"),
    present=("~/.gemini/antigravity", "~/.antigravity"),
    limits="told has no hooks in it: it asks told because its instructions say so.",
)
