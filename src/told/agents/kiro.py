"""Kiro: wired by a steering file, and not read."""

from __future__ import annotations

from told.agents._wiring_forms import mcp
from told.agents._wiring_places import below
from told.agents.base import Agent
from told.agents.wiring import OWN, PROJECT_SCOPE, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place

_HEAD = f"---\n# {OWN}\ninclusion: always\n---\n\n"


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Kiro's files."""
    folder = below(place, place.project if place.scope == PROJECT_SCOPE else place.home, ".kiro")
    servers = mcp(place, below(place, folder, "settings", "mcp.json"), disabled=False)
    return (*servers, OwnFile(below(place, folder, "steering", "told.md"), _HEAD + place.guide + "\n"))


AGENT = Agent(
    name="kiro",
    title="Kiro",
    label="kiro",
    wire=wire,
    programs=("kiro", "kiro-cli"),
    present=("~/.kiro",),
    limits="told has no hooks in it: it asks told because its steering file says so.",
)
