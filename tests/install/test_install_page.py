"""docs/install.md says of every agent what `told install` does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.agents.wiring_places import wired
from told import agents
from told.agents import wired_agents
from told.agents.wiring import HOOKS, PROJECT_SCOPE, SLASH_COMMANDS, USER_SCOPE, OwnFile
from told.install.apply import part_of

PAGE = (Path(__file__).parents[2] / "docs" / "install.md").read_text(encoding="utf-8")


def row(agent: str) -> list[str]:
    title = wired_agents()[agent].title
    found = re.search(rf"^\| {re.escape(title)} \|(.*)\|$", PAGE, re.MULTILINE)
    assert found, title
    return [cell.strip() for cell in found[1].split("|")]


@pytest.mark.parametrize("agent", list(wired_agents()))
def test_every_agent_is_there_with_what_it_gets(agent: str) -> None:
    name, hooks, instructions, commands, scopes = row(agent)
    known = wired_agents()[agent]
    assert name.strip("`") in (known.name, known.label)
    changes = wired(agent) + wired(agent, scope=PROJECT_SCOPE)
    parts = {part_of(change) for change in changes}
    assert hooks.startswith("no") == (HOOKS not in parts)
    since = known.since.get(HOOKS)
    assert (f"since {since}" in hooks) if since else ("since" not in hooks)
    assert bool(commands) == (SLASH_COMMANDS in parts)
    assert instructions
    written = [scope for scope in (USER_SCOPE, PROJECT_SCOPE) if wired(agent, scope=scope)]
    assert scopes == ", ".join(written)


def test_files_that_are_named_are_written() -> None:
    for agent in wired_agents():
        files = {Path(change.path).name for change in wired(agent) + wired(agent, scope=PROJECT_SCOPE)}
        named = set(re.findall(r"`([^`]+\.(?:md|json))`", row(agent)[2]))
        assert named <= files


def test_every_variable_of_an_agent_that_moves_its_files_is_named() -> None:
    used = {
        name
        for path in Path(agents.__file__).parent.rglob("*.py")
        for name in re.findall(r"(?:\.folder\(|variables\.get\()\"([A-Z]+_[A-Z_]+)\"", path.read_text())
    }
    assert [name for name in sorted(used) if f"`{name}`" not in PAGE] == []


def test_every_command_for_agents_is_named() -> None:
    names = [Path(one.path).stem for one in wired("claude-code") if isinstance(one, OwnFile)]
    assert [name for name in names if f"`/mem:{name}`" not in PAGE] == []
