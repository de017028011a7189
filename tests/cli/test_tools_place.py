"""The tools are about the project that the agent works in, wherever its server was started."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.asking import Asking
from tests.cli.conftest import build_shop
from tests.cli.machine import remember
from told.cli.mcp import Tools, run_for_agent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.machine import Machine
    from tests.cli.template import Build

    Patch = pytest.MonkeyPatch


def build_two(shop: Machine) -> None:
    build_shop(shop)
    for folder, text in (
        ("code/acme-api", "Use Redis for the API"),
        ("work/web-shop", "Use Sass for styles"),
    ):
        with contextlib.chdir(shop.home / folder):
            remember(shop, text)


@pytest.fixture
def two(prepared: Callable[[Build], Machine]) -> Machine:
    """A machine with a memory in each of two projects; the current folder belongs to neither."""
    return prepared(build_two)


def known(agent: Asking, **more: str) -> list[str]:
    found = agent.say("search", query="Redis API, Sass styles", in_="memories", **more)
    return [name for name in ("Redis", "Sass") if f"Use {name} for" in found]


def candidate(machine: Machine, text: str) -> dict[str, str | None]:
    """Return the candidate with this text: that is what an agent saves without proof."""
    words = ("memories", "--status", "candidate", "--json", "--all-projects")
    rows: list[dict[str, str | None]] = machine.told(*words).json["memories"]
    return next(row for row in rows if text in str(row["text"]))


def where(machine: Machine, text: str) -> str | None:
    return candidate(machine, text)["project"]


def test_the_folder_that_the_agent_says_it_works_in(two: Machine) -> None:
    api = Asking(two, "codex", str(two.home / "code/acme-api"))
    assert "3 of 3 sessions, acme/acme-api" in api.say("sessions")
    assert known(api) == ["Redis"]
    shop = Asking(two, "codex", str(two.home / "work/web-shop"))
    assert "1 of 1 session, web-shop" in shop.say("sessions")


def test_a_folder_below_the_project(two: Machine) -> None:
    below = two.folder("code/acme-api/src/deep")
    assert "acme/acme-api" in Asking(two, "codex", below).say("sessions")


def test_of_several_folders_the_first_that_is_a_project(two: Machine) -> None:
    plain, api, shop = two.folder("notes"), str(two.home / "code/acme-api"), str(two.home / "work/web-shop")
    assert "acme/acme-api" in Asking(two, "codex", plain, api, shop).say("sessions")
    assert "web-shop" in Asking(two, "codex", plain, shop, api).say("sessions")
    assert "acme/acme-api" in Asking(two, "codex", "/no/such/folder", "relative", api).say("sessions")
    agent = Asking(two, "codex", plain, two.folder("other"))
    agent.say("remember", text="Keep notes short and dated.")
    assert f"path:{plain}" in str(where(two, "Keep notes"))


@pytest.mark.parametrize("variable", ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"])
def test_what_the_agents_variables_say(two: Machine, variable: str) -> None:
    two.environ[variable] = str(two.home / "code/acme-api")
    assert "acme/acme-api" in Asking(two).say("sessions")
    assert "web-shop" in Asking(two, "codex", str(two.home / "work/web-shop")).say("sessions")


def test_the_folder_it_was_started_in(two: Machine, monkeypatch: Patch) -> None:
    monkeypatch.chdir(two.home / "code/acme-api")
    assert "acme/acme-api" in Asking(two).say("sessions")


def test_an_agent_is_asked_for_its_folders_where_nothing_else_names_a_project(
    two: Machine, monkeypatch: Patch
) -> None:
    assert not Tools(two.environ).knows_place()
    monkeypatch.chdir(two.folder("notes"))
    assert not Tools(two.environ).knows_place()
    monkeypatch.chdir(two.folder("code/acme-api/src/deep"))
    assert Tools(two.environ).knows_place()
    monkeypatch.chdir("/")
    assert not Tools(two.environ).knows_place()
    two.environ["CLAUDE_PROJECT_DIR"] = "/no/such/folder"
    assert not Tools(two.environ).knows_place()
    two.environ["CLAUDE_PROJECT_DIR"] = two.folder("notes")
    assert Tools(two.environ).knows_place()


def test_a_folder_may_be_named_by_its_address(two: Machine) -> None:
    uri = (two.home / "code/acme-api").as_uri()
    assert "acme/acme-api" in Asking(two).say("sessions", project=uri)
    assert known(Asking(two), project=uri) == ["Redis"]


@pytest.mark.parametrize("folder", ["~", "/", "gone"])
def test_started_where_nobody_works(two: Machine, monkeypatch: Patch, folder: str) -> None:
    if folder == "gone":
        gone = two.folder("gone")
        monkeypatch.chdir(gone)
        os.rmdir(gone)
    else:
        monkeypatch.chdir(os.path.expanduser(folder))
    agent = Asking(two)
    assert "4 of 4 sessions, all projects" in agent.say("sessions")
    assert known(agent) == ["Redis", "Sass"]
    for tool, given in (
        ("remember", {"text": "The tests need Docker."}),
        ("checkpoint", {"goal": "Ship it"}),
    ):
        assert "Give `project`" in agent.wrong(tool, **given)
    assert "`scope` global" in agent.wrong("remember", text="The tests need Docker.")
    agent.say("remember", text="Always write tests first.", scope="global")
    assert where(two, "Always write") is None


@pytest.mark.parametrize("name", ["acme-api", "acme/acme-api", "~/code/acme-api", "{home}/code/acme-api/src"])
def test_the_project_that_is_named(two: Machine, name: str) -> None:
    two.folder("code/acme-api/src")
    agent = Asking(two, "codex", str(two.home / "work/web-shop"))
    project = name.format(home=two.home)
    assert "3 of 3 sessions, acme/acme-api" in agent.say("sessions", project=project)
    assert known(agent, project=project) == ["Redis"]
    assert "race in *TokenStore*" in agent.say("search", query="TokenStore", project=project)
    agent.say("remember", text="The tests need Docker.", project=project)
    assert where(two, "Docker") == "github.com/acme/acme-api"
    note = agent.say("checkpoint", goal="Ship the API", project=project).split()[0]
    assert "project: github.com/acme/acme-api" in agent.say("get", id=note)
    assert "Redis" in agent.say("wonder", topic="Redis", project=project)


def test_a_folder_named_from_the_one_that_the_agent_works_in(two: Machine) -> None:
    agent = Asking(two, "codex", two.folder("code"))
    assert "acme/acme-api" in agent.say("sessions", project="./acme-api")
    agent.say("remember", text="The tests need Docker.", project="acme-api/")
    assert where(two, "Docker") == "github.com/acme/acme-api"


def test_a_folder_that_told_sees_for_the_first_time(two: Machine) -> None:
    new = two.repo("code/new", "git@github.com:acme/new.git")
    agent = Asking(two)
    agent.say("remember", text="The tests need Docker.", project=new)
    assert where(two, "Docker") == "github.com/acme/new"
    assert "Docker" in agent.say("search", query="Docker", in_="memories", project=new)


def test_a_project_whose_folder_is_gone(two: Machine) -> None:
    folder = two.home / "work" / "web-shop"
    folder.rmdir()
    agent = Asking(two)
    for project in ("web-shop", str(folder)):
        assert "tax rounding" in agent.say("sessions", project=project)
    agent.say("remember", text="The tests need Docker.", project="web-shop")
    project = re.sub(r"</?agent [a-z2-7]{5}>", "", str(where(two, "Docker")))  # some paths are fenced
    assert project == f"path:{folder}"


def test_what_is_written_belongs_to_one_project(two: Machine) -> None:
    agent = Asking(two, "codex", str(two.home / "code/acme-api"))
    assert "`scope` global" in agent.wrong("remember", text="The tests need Docker.", project="*")
    agent.say("remember", text="The tests need Docker.", project="*", scope="global")
    assert where(two, "Docker") is None
    assert "Give `project`" in agent.wrong("checkpoint", goal="Ship it", project="*")


def test_only_the_named_project_is_asked(two: Machine) -> None:
    agent = Asking(two, "codex", str(two.home / "code/acme-api"))
    assert "Nothing found" in agent.say("search", query="TokenStore", project="web-shop")
    assert "race" in agent.say("search", query="TokenStore", project="*")


@pytest.mark.parametrize(
    "name", ["no-such", "/no/such", "~nobody/x", "../../../../..", "\0", "a\0b/c", "💥" * 99]
)
def test_a_project_that_is_nowhere_breaks_nothing(two: Machine, name: str) -> None:
    agent = Asking(two)
    agent.call("sessions", project=name)
    agent.call("remember", text="The tests need Docker.", project=name)
    assert "4 of 4" in agent.say("sessions")


def test_several_projects_of_one_name_are_listed(two: Machine, monkeypatch: Patch) -> None:
    for owner in ("ann", "bob"):
        two.claude(
            ("What is this?", "A tool."), cwd=two.repo(f"{owner}/tool", f"git@github.com:{owner}/tool.git")
        )
    answer = Asking(two).wrong("sessions", project="tool")
    assert "github.com/ann/tool, github.com/bob/tool" in answer


def test_a_command_run_for_another_folder(two: Machine) -> None:
    done = run_for_agent(["list"], two.environ, folder=str(two.home / "work/web-shop"))
    assert (done.code, done.text.splitlines()[0]) == (0, "1 of 1 session, web-shop")
    assert run_for_agent(["list"], two.environ, folder="").text.startswith("4 of 4 sessions, all projects")
    assert run_for_agent(["list", "--nonsense"], two.environ).code == 2
    assert run_for_agent(["mcp"], two.environ).code == 2
    assert run_for_agent(["nonsense"], two.environ).code == 2
