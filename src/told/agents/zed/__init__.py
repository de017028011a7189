"""Zed: its agent is wired and not read."""

from __future__ import annotations

import os

from told.agents import wiring
from told.agents.base import Agent
from told.agents.wiring import Block, Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Zed's files."""
    folder = place.in_app_data("Zed") if place.is_windows else place.in_config("zed")
    if place.is_project:
        folder = place.in_project(".zed")
    servers = wiring.mcp_entry(place, place.join(folder, "settings.json"), ("context_servers",), env={})
    if not place.is_project:
        return servers
    # Zed reads only one file of instructions: .rules before AGENTS.md.
    rules = place.in_project(".rules")
    instructions = (Block(rules, place.guide),) if os.path.exists(rules) else wiring.agents_file(place)
    return (*servers, *instructions)


AGENT = Agent(
    name="zed",
    title="Zed",
    label="zed",
    wire=wire,
    programs=("zed", "zeditor"),
    install_signs=("$XDG_CONFIG_HOME|~/.config:zed", "$APPDATA/Zed"),
    limits="told has no hooks in it, and its instructions are a project's: --scope project.",
    instruction_files=(".rules",),
)
