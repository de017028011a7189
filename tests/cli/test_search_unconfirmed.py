"""An agent finds at once what it saved without the user's word; nobody else is shown it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.asking import Asking
from tests.cli.machine import remember

if TYPE_CHECKING:
    from tests.cli.machine import Machine

SAVED = "The preview server listens on port 5544."
MARK = "(saved by an agent, unconfirmed)"


@pytest.fixture
def agent(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """An agent in a repository, which saved something that nobody told it."""
    folder = machine.repo("work/shop", "git@github.com:acme/shop.git")
    monkeypatch.chdir(folder)
    asking = Asking(machine, "claude-code", folder)
    assert "candidate" in asking.say("remember", items=[{"text": SAVED}])
    return asking


@pytest.mark.parametrize("question", ["port 5544", "which port does the preview server use", "preview"])
def test_it_is_found_marked_as_the_agents(agent: Asking, question: str) -> None:
    lines = agent.say("search", query=question).splitlines()

    assert "5544" in lines[-1]
    assert lines[-1].endswith(MARK)


def test_what_the_user_said_comes_first(agent: Asking, machine: Machine) -> None:
    remember(machine, "The preview server is started with make preview")

    lines = agent.say("search", query="preview server", in_="memories").splitlines()

    assert "make preview" in lines[1]
    assert MARK in lines[-1]
    assert sum(MARK in line for line in lines) == 1


def test_other_questions_do_not_find_it(agent: Asking) -> None:
    assert "5544" not in agent.call("search", query="database password rotation").text


def test_an_agents_shell_finds_it_too(agent: Asking, machine: Machine) -> None:
    del agent
    machine.environ["CLAUDECODE"] = "1"

    assert machine.told("search", "preview", "port").out.splitlines()[-1].endswith(MARK)
    (row,) = machine.told("search", "--json", "preview", "port").json["memories"]
    assert row["unconfirmed"] is True
    assert row["status"] == "candidate"


def test_the_user_and_briefs_are_not_shown_it(agent: Asking, machine: Machine) -> None:
    del agent

    assert "5544" not in machine.told("search", "preview", "port").out
    assert "5544" not in machine.told("brief", "--prompt", "Which port does the preview server use?").out
    assert "5544" not in machine.told("brief").out


def test_once_confirmed_it_is_an_ordinary_memory(agent: Asking, machine: Machine) -> None:
    waiting = machine.told("memories", "--json", "--status", "candidate").json["memories"]
    assert machine.told("confirm", waiting[0]["id"]).code == 0

    answer = agent.say("search", query="preview server port")

    assert "5544" in answer
    assert MARK not in answer
