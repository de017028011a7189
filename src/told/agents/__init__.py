"""The coding agents told supports: one package each, with an `AGENT` that describes it.

Other packages add an agent by an entry point of the group `told.agents` that names its `Agent`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from glob import glob
from importlib import import_module
from typing import TYPE_CHECKING

from told.words import WORD

if TYPE_CHECKING:  # a command that lists sessions needs the names only
    from told.agents.base import Agent, DetectedAgent

ENTRY_POINTS = "told.agents"
LONGEST_LABEL = 9  # letters
_OFF = ("", "0", "false", "off", "no")


@cache
def installed_agents() -> dict[str, Agent]:
    """Return every agent by name, in alphabetical order."""
    # It loads email, zipfile and csv, which a hook call does not need.
    from importlib.metadata import entry_points  # noqa: PLC0415

    agents = [_load(package) for package in bundled_names()]
    agents += [point.load() for point in entry_points(group=ENTRY_POINTS)]
    return {agent.name: agent for agent in sorted(agents, key=lambda agent: agent.name)}


def all_agents() -> dict[str, Agent]:
    """Return the agents whose conversations told reads, by name."""
    return {name: agent for name, agent in installed_agents().items() if agent.is_readable}


def wired_agents() -> dict[str, Agent]:
    """Return the agents that told can be installed into, by name."""
    return {name: agent for name, agent in installed_agents().items() if agent.wire is not None}


def find_agent(name: str) -> Agent | None:
    """Return the agent with this name, or None."""
    package = name.replace("-", "_")
    # One package is enough for a hook call; the others need not be imported.
    return _load(package) if package in bundled_names() else installed_agents().get(name)


def label(name: str) -> str:
    """Return an agent's short name for lists: the first word of its name if that is short enough."""
    first = name.partition("-")[0]
    if len(first) <= LONGEST_LABEL and name.replace("-", "_") in bundled_names():
        return first
    agent = find_agent(name)
    return agent.label if agent else first


def detect_agent(environ: Mapping[str, str]) -> DetectedAgent | None:
    """Return the agent whose shell sets these variables, or None."""
    signs = [(sign, agent) for agent in _agents_with_signs(environ) for sign in agent.shell_signs]
    for sign, agent in sorted(signs, key=lambda one: one[0].rank):
        if environ.get(sign.variable, "").lower() not in _OFF:
            from told.agents.base import DetectedAgent  # noqa: PLC0415

            session = environ.get(sign.session_variable, "") if sign.session_variable else ""
            return DetectedAgent(sign.agent or agent.name, session, sign.variable)
    return None


def _agents_with_signs(environ: Mapping[str, str]) -> Iterable[Agent]:
    """Return the agents of which a sign may be set; importing all of them takes longer than most commands."""
    if _has_entry_points():
        return installed_agents().values()
    set_signs = (name for name, (signs, _) in _read_signs().items() if not environ.keys().isdisjoint(signs))
    return [_load(name) for name in set_signs]


def agents_with_processes(names: Collection[str]) -> list[Agent]:
    """Return the agents that may have a process or an npm package of these names."""
    if _has_entry_points():
        return [agent for agent in installed_agents().values() if agent.process]
    return [_load(name) for name, (_, signs) in _read_signs().items() if not signs.isdisjoint(names)]


@cache
def _read_signs() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the variables and the processes that each package's source gives as signs."""
    found = {}
    for package in bundled_names():
        with open(os.path.join(os.path.dirname(__file__), package, "__init__.py"), encoding="utf-8") as file:
            text = file.read()
        variables = [part.partition('"')[0] for part in text.split('ShellSign("')[1:]]
        processes = [part.partition(")")[0] for part in text.split("ProcessSign(")[1:]]
        names = [name for part in processes for name in part.split('"')[1::2]]
        found[package] = frozenset(variables), frozenset(names)
    return found


@cache
def _has_entry_points() -> bool:
    """Tell whether another package adds an agent, without loading what reads packages."""
    for folder in sys.path:
        for path in glob(os.path.join(folder, "*-info", "entry_points.txt")):
            with open(path, encoding="utf-8", errors="replace") as file:
                if f"[{ENTRY_POINTS}]" in file.read():
                    return True
    return False


def agent_of_client(client: str) -> str:
    """Return the agent that an MCP client's name means, or "".

    >>> agent_of_client("codex-mcp-client"), agent_of_client("gemini-cli-mcp-client")
    ('codex', 'gemini-cli')
    >>> agent_of_client("Visual Studio Code"), agent_of_client("cursor-vscode"), agent_of_client("claude-ai")
    ('vscode-copilot', 'cursor', '')
    """
    said = set(WORD.findall(client[:200].lower()))
    agents = [agent for agent in installed_agents().values() if not agent.is_fallback]
    full = [agent.name for agent in agents if set(agent.name.split("-")) <= said]
    if full:
        return max(full, key=len)
    shared = {
        agent.name: len(said & {*agent.client_words, *agent.name.split("-")})
        for agent in agents
        if said & set(agent.client_words)
    }
    return max(shared, key=shared.__getitem__, default="")


@cache
def bundled_names() -> tuple[str, ...]:
    """Return the package names of told's own agents, without importing them."""
    with os.scandir(os.path.dirname(__file__)) as found:
        return tuple(sorted(one.name for one in found if one.is_dir() and one.name[0].isalpha()))


def _load(package: str) -> Agent:
    agent: Agent = import_module(f"{__name__}.{package}").AGENT
    return agent
