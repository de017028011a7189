"""Places for tests of wirings: the three kinds of system, without touching any."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from told.agents import wired_agents
from told.agents.wiring import Entry, Launch, OwnFile, Place
from told.install import place as instructions
from told.install import place as slash

if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.agents.wiring import Change

COMMANDS = frozenset(
    ("brief", "search", "wonder", "reason", "why", "stats", "onboard", "remember", "lock", "correct", "mcp")
)
CLIENT = "/opt/told/src/told/hook/client.py"
LAUNCH = Launch("/opt/python/bin/python3.11", CLIENT, ("/opt/told/site-packages",))
LINUX = Place(
    home="/home/ada", project="/home/ada/shop", variables={}, launch=LAUNCH, told=("/usr/bin/told",),
    mcp=True,
    note_text=instructions.paragraph("briefed", COMMANDS),
    guide_text=instructions.paragraph("guide", COMMANDS),
    slash_commands=slash.slash_commands(COMMANDS),
)  # fmt: skip
MAC = replace(LINUX, home="/Users/ada", project="/Users/ada/shop", system="darwin")
WINDOWS = replace(
    LINUX, home="C:\\Users\\Ada L", project="C:\\Users\\Ada L\\shop", system="win32",
    variables={name: f"C:\\Users\\Ada L\\AppData\\{folder}" for name, folder in
             (("APPDATA", "Roaming"), ("LOCALAPPDATA", "Local"))},
    launch=Launch("C:\\Program Files\\Python\\python.exe", "C:\\Users\\Ada L\\told\\hook\\client.py"),
)  # fmt: skip


def wired(agent: str, place: Place = LINUX, **wishes: Any) -> tuple[Change, ...]:
    """Return what an agent's wiring says."""
    wire = wired_agents()[agent].wire
    assert wire is not None
    return wire(replace(place, **wishes))


def paths(
    agent: str, environ: Mapping[str, str] | None = None, place: Place = LINUX, **wishes: Any
) -> set[str]:
    """Return the files an agent's wiring is about, without slash commands."""
    changes = wired(agent, place, variables=environ if environ is not None else place.variables, **wishes)
    return {change.path for change in changes if "commands" not in change.path}


def hooks(agent: str, place: Place = LINUX, **wishes: Any) -> dict[str, Any]:
    """Return the value of every hook entry, by the agent's own name of the event."""
    changes = wired(agent, place, **wishes)
    return {one.keys[-1]: one.value for one in changes if isinstance(one, Entry) and one.item}


def server(agent: str, **wishes: Any) -> Entry:
    """Return the MCP entry of an agent."""
    found = [one for one in wired(agent, **wishes) if isinstance(one, Entry) and one.keys[-1] == "told"]
    assert len(found) == 1
    return found[0]


def own_file(agent: str, ending: str, place: Place = LINUX, **wishes: Any) -> str:
    """Return the text of a file that is told's alone."""
    found = [
        one for one in wired(agent, place, **wishes) if isinstance(one, OwnFile) and one.path.endswith(ending)
    ]
    assert len(found) == 1
    return found[0].text
