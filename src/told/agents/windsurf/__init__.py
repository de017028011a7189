"""Windsurf: its conversations are encrypted, so it is wired and not read."""

from __future__ import annotations

from typing import Any

from told.agents import wiring
from told.agents.base import Agent, Dialect, no_context
from told.agents.wiring import OWN, PROMPT, STOP, Block, Change, OwnFile, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Windsurf's files."""
    folder = place.in_project(".windsurf") if place.is_project else place.in_home(".codeium", "windsurf")

    def hook(event: str) -> dict[str, Any]:
        return {"command": wiring.shell_line(place, AGENT.name, event), "show_output": False}

    # The hook cannot brief Windsurf, but no other part of told sees what the user types.
    events = (("pre_user_prompt", PROMPT),)
    hooks = wiring.hook_entries(place, place.join(folder, "hooks.json"), hook, events, tool="")
    if place.is_project:
        rules = f"---\n# {OWN}\ntrigger: always_on\n---\n\n{place.guide}\n"
        return (*hooks, OwnFile(place.join(folder, "rules", "told.md"), rules))
    servers = wiring.mcp_entry(place, place.join(folder, "mcp_config.json"))
    return (*hooks, *servers, Block(place.join(folder, "memories", "global_rules.md"), place.guide))


AGENT = Agent(
    name="windsurf",
    title="Windsurf",
    label="windsurf",
    aliases=("cascade",),
    wire=wire,
    programs=("windsurf",),
    install_signs=("~/.codeium/windsurf",),
    limits="Its hooks cannot brief it: it asks told because its rules say so.",
    dialect=Dialect({"preuserprompt": PROMPT, "postcascaderesponse": STOP}, no_context),
    instruction_files=(".windsurfrules", ".windsurf/rules/*.md"),
)
