"""Kiro: wired by a steering file, and not read."""

from __future__ import annotations

from told.agents import wiring
from told.agents.base import Agent, ProcessSign
from told.agents.wiring import OWN, Change, OwnFile, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Kiro's files."""
    folder = place.in_project(".kiro") if place.is_project else place.in_home(".kiro")
    servers = wiring.mcp_entry(place, place.join(folder, "settings", "mcp.json"), disabled=False)
    steering = f"---\n# {OWN}\ninclusion: always\n---\n\n{place.guide}\n"
    return (*servers, OwnFile(place.join(folder, "steering", "told.md"), steering))


AGENT = Agent(
    name="kiro",
    title="Kiro",
    label="kiro",
    wire=wire,
    process=ProcessSign("kiro-cli"),
    programs=("kiro", "kiro-cli"),
    install_signs=("~/.kiro",),
    limits="told has no hooks in it: it asks told because its steering file says so.",
    instruction_files=(".kiro/steering/*.md",),
)
