"""Agents that other packages add by an entry point of the group `told.agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import machine
from told import agents
from told.agents.base import Agent, Dialect, Layout, ShellSign
from told.agents.dialects import answer_context, parse_call
from told.agents.wiring import PROMPT
from told.model import USER, Cursor, Message, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.machine import Machine
    from told.model import Event, Problem

__all__ = ["machine"]


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield one message for each file."""
    yield Message("1", USER, f"Read {source.path}")


FAKE = Agent(
    name="fake-agent",
    title="Fake Agent",
    label="fake",
    read=read,
    roots=("~/.fake",),
    layouts=(Layout("*.log"),),
    dialect=Dialect({"asked": PROMPT}, lambda _call, text: {"say": text}),
    shell_signs=(ShellSign("FAKE_AGENT", "FAKE_SESSION"),),
    client_words=("phony",),
)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    """Install a package with an entry point for the time of a test."""
    package = tmp_path / "packages" / "fake-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: fake\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[told.agents]\nfake-agent = {__name__}:FAKE\n")
    monkeypatch.syspath_prepend(str(package.parent))
    for cached in (agents.installed_agents, agents._has_entry_points):
        cached.cache_clear()
    yield FAKE
    for cached in (agents.installed_agents, agents._has_entry_points):
        cached.cache_clear()


@pytest.mark.usefixtures("fake")
def test_entry_point_adds_an_agent() -> None:
    assert agents.all_agents()["fake-agent"] is FAKE
    assert agents.find_agent("fake-agent") is FAKE
    assert agents.label("fake-agent") == "fake"
    assert agents.agent_of_client("Phony MCP client") == "fake-agent"
    assert list(agents.installed_agents()) == sorted(agents.installed_agents())


@pytest.mark.usefixtures("fake")
def test_entry_point_agent_is_detected_by_its_variable() -> None:
    found = agents.detect_agent({"FAKE_AGENT": "1", "FAKE_SESSION": "abc"})
    assert found is not None
    assert (found.name, found.session) == ("fake-agent", "abc")


@pytest.mark.usefixtures("fake")
def test_entry_point_agent_speaks_its_own_hook_dialect() -> None:
    call = parse_call("fake-agent", "Asked", {"prompt": "Hello"})
    assert call is not None
    assert (call.event, call.prompt) == (PROMPT, "Hello")
    assert answer_context(call, "text") == {"say": "text"}
    assert parse_call("fake-agent", "unknown", {}) is None


@pytest.mark.usefixtures("fake")
def test_told_agents_lists_an_entry_point_agent(machine: Machine) -> None:
    log = machine.home / ".fake" / "one.log"
    log.parent.mkdir()
    log.write_text("x")
    listed = machine.told("agents", "--json").json["agents"]
    assert [row["found"] for row in listed if row["agent"] == "fake-agent"] == [True]
