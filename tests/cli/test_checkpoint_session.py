"""Whose session a checkpoint belongs to."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from tests.cli.test_checkpoint_command import as_agent, pipe, project, read, session
from tests.hook.desk import Desk, begun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.machine import Machine

__all__ = ["pipe", "project", "session"]


def whose(machine: Machine, *words: str) -> tuple[str, str]:
    """Write a checkpoint, and return the agent and the session that its file names."""
    answer = machine.told("checkpoint", "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    found = read(answer.json["path"])
    return found.agent, found.session


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """A machine whose agents call hooks; the current folder is the project."""
    made = Desk(tmp_path, capsys)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.project)
    yield made
    gc.enable()  # a command does without


def test_an_agents_environment_names_it_whatever_else_is_given(machine: Machine, session: str) -> None:
    as_agent(machine, "the-one-that-runs")
    assert whose(machine, "OAuth", "--session", session) == ("claude-code", "the-one-that-runs")


def test_an_agent_without_a_name_for_it_has_the_one_its_hook_saw(desk: Desk) -> None:
    desk.ask("cursor", "start", begun(desk, "cursor", "conv-7"))
    desk.environ["CURSOR_AGENT"] = "1"
    assert whose(desk, "OAuth", "--session", "made-up") == ("cursor", "conv-7")


def test_another_agents_session_in_the_folder_is_not_taken(desk: Desk) -> None:
    desk.ask("cursor", "start", begun(desk, "cursor", "conv-7"))
    desk.environ["CLINE_ACTIVE"] = "1"
    assert whose(desk, "OAuth", "--session", "mine-1") == ("cline", "mine-1")


def test_you_may_name_it_by_either_id_or_its_beginning(machine: Machine, session: str) -> None:
    machine.told("index")
    (public,) = machine.ids()
    for given in (session, session[:8], public, public[:5]):
        assert whose(machine, f"OAuth {given}", "--session", given) == ("claude-code", session)


def test_what_could_be_several_is_asked_for(machine: Machine, project: str) -> None:
    for ending in ("aa", "bb"):
        machine.claude(("Go on", "Done."), cwd=project, session=f"1111-{ending}", at=ago(hours=1))
    machine.told("index")
    answer = machine.told("checkpoint", "OAuth", "--session", "1111")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert "'1111' matches s" in answer.err


@pytest.mark.usefixtures("project")
def test_one_that_nobody_knows_is_made(machine: Machine) -> None:
    assert whose(machine, "OAuth", "--session", "brand-new") == ("terminal", "brand-new")
    (note,) = machine.told("checkpoints", "--json").json["checkpoints"]
    assert machine.told("show", "brand-new").code == 0
    assert machine.told("show", note["session"]).out.count(note["id"]) == 1


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("tool", "agent"), [("claude-code", "claude-code"), ("Claude", "claude-code"), ("my-bot", "my-bot")]
)
def test_json_may_say_whose_it_is(
    machine: Machine, pipe: Callable[[str], None], tool: str, agent: str
) -> None:
    pipe(f'{{"goal": "OAuth", "session_id": "x-1", "tool": "{tool}"}}')
    assert whose(machine, "--stdin") == (agent, "x-1")


@pytest.mark.usefixtures("project")
def test_a_program_gives_ids_whole_and_of_the_agent_that_it_names(
    machine: Machine, pipe: Callable[[str], None]
) -> None:
    assert whose(machine, "OAuth", "--session", "conv-1-and-more") == ("terminal", "conv-1-and-more")
    for said, agent in (("conv-1", "cursor"), ("conv-1-and-more", "cursor"), ("conv-1", "codex")):
        pipe(f'{{"goal": "OAuth", "session_id": "{said}", "tool": "{agent}"}}')
        assert whose(machine, "--stdin") == (agent, said)


@pytest.mark.usefixtures("project")
def test_what_an_agent_calls_its_session_is_not_the_beginning_of_another(machine: Machine) -> None:
    assert whose(machine, "OAuth", "--session", "conv-1-and-more") == ("terminal", "conv-1-and-more")
    machine.environ["CLINE_ACTIVE"] = "1"
    assert whose(machine, "OAuth", "--session", "conv-1") == ("cline", "conv-1")


def test_a_name_that_is_none_is_refused(machine: Machine, pipe: Callable[[str], None]) -> None:
    pipe('{"goal": "OAuth", "session_id": "x-1", "tool": "../../etc"}')
    answer = machine.told("checkpoint", "--stdin")
    assert answer.code == 2
    assert "is no agent's name" in answer.err


@pytest.mark.usefixtures("project")
def test_where_nobody_says_it_is_one_of_the_terminal(machine: Machine) -> None:
    agent, made = whose(machine, "OAuth")
    assert agent == "terminal"
    assert made != whose(machine, "Invoices")[1]


def test_it_belongs_to_the_project_that_the_session_worked_in(
    machine: Machine, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.told("index")
    monkeypatch.chdir(machine.folder("elsewhere"))
    made = machine.told("checkpoint", "OAuth", "--session", session, "--json").json
    assert read(made["path"]).project == "github.com/acme/api"


def test_what_was_done_in_the_home_is_not_of_all_that_lies_below_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.claude(("Sort the photos by year", "I sorted them."), cwd=str(machine.home))
    assert machine.told("index").code == 0
    assert machine.told("checkpoint", "The home itself").code == 0
    assert "The home itself" in machine.told("checkpoints").out

    below = machine.folder("bills")
    monkeypatch.chdir(below)
    assert machine.told("brief").out == ""
    assert machine.told("checkpoint", "Pay the bills", "--json").json["path"].count("bills") == 2
    assert "Pay the bills" in machine.told("brief").out
