"""Antigravity: its conversations are encrypted, so it is wired and not read."""

from __future__ import annotations

from told.agents import wiring
from told.agents.base import Agent, ShellSign
from told.agents.wiring import Block, Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Antigravity's files."""
    if place.is_project:
        servers = wiring.mcp_entry(place, place.in_project(".agents", "mcp_config.json"))
        return (*servers, *wiring.agents_file(place))
    servers = wiring.mcp_entry(place, place.in_home(".gemini", "config", "mcp_config.json"))
    return (*servers, Block(place.in_home(".gemini", "GEMINI.md"), place.guide))


AGENT = Agent(
    name="antigravity",
    title="Antigravity",
    label="antigrav",
    aliases=("agy",),
    wire=wire,
    programs=("agy", "antigravity"),
    install_signs=("~/.gemini/antigravity", "~/.antigravity"),
    limits="told has no hooks in it: it asks told because its instructions say so.",
    shell_signs=(ShellSign("ANTIGRAVITY_AGENT", rank=2),),
)
