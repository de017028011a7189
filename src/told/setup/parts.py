"""What a change is for, and which agents are on this machine."""

from __future__ import annotations

import os

from told.agents.base import expand
from told.agents.wiring import PROJECT_SCOPE, Block, Entry, OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.agents.base import Agent
    from told.agents.wiring import Change, Place

HOOKS, SERVER, INSTRUCTIONS, COMMANDS = "hooks", "MCP server", "instructions", "commands"
_MARK = "told.hook"


def part(change: Change) -> str:
    """Return what a change is for: hooks, the MCP server, instructions or commands."""
    if isinstance(change, Block):
        return INSTRUCTIONS
    if isinstance(change, Entry):
        return SERVER if change.keys[-1] == "told" else HOOKS
    if _MARK in change.text:
        return HOOKS
    return COMMANDS if folder_of_commands(change) else INSTRUCTIONS


def folder_of_commands(change: Change) -> str:
    """Return the folder that a slash command is in; empty for everything else."""
    if not isinstance(change, OwnFile):
        return ""
    folder = change.path.replace("\\", "/").rpartition("/")[0]
    return change.path[: len(folder)] if folder.endswith("/commands/mem") else ""


def event_of(change: Change) -> str:
    """Return the event a hook is for, as the agent calls it."""
    return change.keys[-1] if isinstance(change, Entry) and part(change) == HOOKS else ""


def owner(agent: Agent, place: Place) -> str:
    """Return for whom a change is made, as the ledger has it: words that other owners' do not begin with."""
    words = [agent.name, place.scope]
    if place.scope == PROJECT_SCOPE:
        words.append(place.project.replace("%", "%25").replace(" ", "%20"))
    return " ".join(words)


def found(agent: Agent, environ: Mapping[str, str]) -> str:
    """Return the program or folder that shows that an agent is used here; empty if nothing does."""
    import shutil

    for folder in agent.present:
        path = expand(folder, environ)
        if path and os.path.isdir(path):
            return path
    for program in agent.programs:
        path = shutil.which(program, path=environ.get("PATH", os.defpath)) or ""
        if path:
            return path
    return ""
