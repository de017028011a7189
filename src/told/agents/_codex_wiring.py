"""Wires Codex: hooks.json, the MCP server in config.toml, and AGENTS.md."""

from __future__ import annotations

from told.agents._wiring_forms import (
    CLAUDE_EVENTS,
    MARK,
    hook_entries,
    mcp,
    note,
    shared_agents_file,
    shell_group,
    wanted,
)
from told.agents._wiring_places import below, named
from told.agents.wiring import PROJECT_SCOPE, TOOL, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place

NAME = "codex"
_FORWARDED = ("TOLD_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def _hooks_file(place: Place) -> str:
    if place.scope == PROJECT_SCOPE:
        return below(place, place.project, ".codex", "hooks.json")
    return below(place, named(place, "CODEX_HOME", ".codex"), "hooks.json")


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Codex's files. Only commands: one hook of another type spoils the file."""
    group = shell_group(place, NAME)
    events = wanted(place, CLAUDE_EVENTS, ("PreToolUse", TOOL))
    if place.scope == PROJECT_SCOPE:
        return (*hook_entries(_hooks_file(place), events, group), *shared_agents_file(place))
    folder = named(place, "CODEX_HOME", ".codex")
    return (
        *hook_entries(_hooks_file(place), events, group),
        *mcp(place, below(place, folder, "config.toml"), ("mcp_servers",), **_forwarded(place)),
        Block(below(place, folder, "AGENTS.md"), note(place)),
    )


def _forwarded(place: Place) -> dict[str, list[str]]:
    """Return the names of variables that the server needs too: Codex hands it none that it does not know."""
    names = [name for name in _FORWARDED if place.variables.get(name)]
    return {"env_vars": names} if names else {}


def is_approved(place: Place) -> bool:
    """Tell whether Codex has a trusted hash for each of told's hooks; told itself never writes one."""
    import json
    import tomllib

    path = _hooks_file(place)
    try:
        with open(path, encoding="utf-8-sig") as file:
            groups = json.load(file)["hooks"]
        with open(below(place, named(place, "CODEX_HOME", ".codex"), "config.toml"), "rb") as file:
            trusted = tomllib.load(file)["hooks"]["state"]
        keys = [
            f"{path}:{_snake(name)}:{at}:0"
            for name, items in groups.items()
            for at, item in enumerate(items)
            if MARK in json.dumps(item)
        ]
        return bool(keys) and all(trusted.get(key, {}).get("trusted_hash") for key in keys)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
