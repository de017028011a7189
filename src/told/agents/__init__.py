"""One file for each coding agent. A new agent is a new file here that defines `AGENT`."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.base import Agent

# Modules of this room that are not agents; nor are those whose name begins with an underscore.
_SHARED = {"base", "dialects", "events", "labels", "plans", "text", "wiring"}


def _is_agent(file: str) -> bool:
    return file.endswith(".py") and not file.startswith("_") and file[:-3] not in _SHARED


def all_agents() -> dict[str, Agent]:
    """Return every agent whose conversations are read by name, in alphabetical order."""
    return {agent.name: agent for agent in _agents() if agent.reads}


def wired_agents() -> dict[str, Agent]:
    """Return every agent that `told install` knows by name, in alphabetical order."""
    return {agent.name: agent for agent in _agents() if agent.wire is not None}


def _agents() -> list[Agent]:
    here = os.path.dirname(__file__)
    modules = sorted(name[:-3] for name in os.listdir(here) if _is_agent(name))
    return sorted((_load(name) for name in modules), key=lambda agent: agent.name)


def is_agent(name: str) -> bool:
    """Whether there is an agent of that name, without loading it where that can be."""
    module = os.path.join(os.path.dirname(__file__), f"{name.replace('-', '_')}.py")
    return (_is_agent(os.path.basename(module)) and os.path.exists(module)) or agent_named(name) is not None


def agent_named(name: str) -> Agent | None:
    """Return one agent by its name, without loading the others where that can be."""
    try:
        return _load(name.replace("-", "_"))
    except (ImportError, AttributeError):
        return next((agent for agent in _agents() if agent.name == name), None)  # such as continue_dev


def _load(module: str) -> Agent:
    __import__(f"told.agents.{module}")
    agent: Agent = sys.modules[f"told.agents.{module}"].AGENT
    return agent
