"""Any other agent: the files that many agents read in a project."""

from __future__ import annotations

from told.agents import wiring
from told.agents.base import Agent, Dialect, ShellSign, no_context
from told.agents.wiring import Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into a project for unknown agents."""
    return (*wiring.project_mcp(place), *wiring.agents_file(place)) if place.is_project else ()


AGENT = Agent(
    name="generic",
    title="Any other agent",
    label="generic",
    is_fallback=True,
    wire=wire,
    limits="It is wired in a project only: --scope project.",
    dialect=Dialect(context=no_context),
    # Agents that told neither reads nor wires: a command in their shell is not the user's.
    shell_signs=(
        ShellSign("AUGMENT_AGENT", rank=3, agent="augment"),
        ShellSign("TRAE_AI_SHELL_ID", rank=3, agent="trae"),
        ShellSign("GOOSE_TERMINAL", rank=3, agent="goose"),
        ShellSign("AI_AGENT", rank=4, agent="agent"),  # shared by several agents
    ),
    instruction_files=(
        "AGENT.md",
        ".roorules",
        ".goosehints",
        ".junie/guidelines.md",
        "WARP.md",
        ".roo/rules/*.md",
        ".amazonq/rules/*.md",
        ".augment/rules/*.md",
    ),
)
