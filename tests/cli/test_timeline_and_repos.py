"""`told timeline` and `told repos`: what was asked when, and in which projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.machine import ago

if TYPE_CHECKING:
    import pytest

    from tests.cli.machine import Machine


def test_everything_asked_stands_in_one_line_of_time(shop: Machine) -> None:
    out = shop.told("timeline").out
    asked = ["Fine, and write", "How long should", "Set up Kafka", "Why is the login", "Explain the tax"]
    places = [out.index(text) for text in asked]
    assert places == sorted(places)
    assert "We decided" not in out


def test_sessions_read_in_another_order_still_stand_in_the_order_of_time(machine: Machine) -> None:
    machine.claude(("The newer question", "Yes."), at=ago(days=1))
    machine.told("index")
    machine.claude(("The older question", "Yes."), at=ago(days=9))
    out = machine.told("timeline").out
    assert out.index("newer question") < out.index("older question")


def test_an_agents_words_to_its_helper_are_not_what_the_user_asked(machine: Machine) -> None:
    machine.claude(
        ("Find the leak", "Found."), helper=("Search for the leak in pool.py", "It is in close().")
    )
    machine.told("index")
    answer = machine.told("timeline", "--json")
    assert [turn["asked"] for turn in answer.json["turns"]] == ["Find the leak"]
    assert answer.json["turns"][0]["trust"] == "user"


def test_a_turn_of_the_timeline_can_be_shown_by_its_id(shop: Machine) -> None:
    turn = shop.told("timeline", "--json", "-n", "1").json["turns"][0]
    assert turn["asked"] == "Fine, and write it down"
    assert "I noted it in docs/cache.md." in shop.told("show", turn["id"]).out


def test_the_timeline_of_one_project_and_one_time(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shop.told("timeline", "--project", "web-shop", "--json").json["count"] == 1
    assert shop.told("timeline", "--days", "2", "--json").json["count"] == 3
    monkeypatch.chdir(shop.home / "work" / "web-shop")
    assert shop.told("timeline").out.startswith("1 turn, web-shop\n")
    assert shop.told("timeline", "--days", "2").out.startswith(
        "3 turns, all projects (none in this project)\n"
    )


def test_projects_are_counted_whole_with_their_agents(shop: Machine) -> None:
    first, second = shop.told("repos", "--json").json["projects"]
    assert (first["project"], first["key"]) == ("acme/acme-api", "github.com/acme/acme-api")
    assert (first["sessions"], first["turns"]) == (3, 4)
    assert first["agents"] == ["claude-code", "copilot-cli"]
    assert (second["project"], second["sessions"], second["last"]) == ("web-shop", 1, "2026-10-26T12:00:00Z")


def test_a_subagents_sessions_are_counted_beside_those_that_list_shows(machine: Machine) -> None:
    cwd = machine.folder("work/shop")
    machine.claude(("Find the slow query", "It is on orders."), cwd=cwd, helper=("Look at SQL", "Found it."))
    machine.told("index")
    (project,) = machine.told("repos", "--json").json["projects"]
    assert (project["sessions"], project["helpers"], project["turns"]) == (1, 1, 1)
    assert machine.told("list", "--json").json["total"] == project["sessions"]
    assert " shop 1s 1t claude (+1 subagent session)" in machine.told("repos").out


def test_a_limited_list_says_how_many_there_are(shop: Machine) -> None:
    for command, total in (("timeline", 5), ("files", 4), ("repos", 2)):
        assert shop.told(command, "-n", "1").out.startswith(f"1 of {total} ")
        assert "(use --limit to see more)" in shop.told(command, "-n", "1").out
        assert shop.told(command, "-n", "1", "--json").json["total"] == total
        assert shop.told(command, "-n", "9", "--json").json["total"] == total
        assert not shop.told(command, "-n", "9").out.startswith(f"{total} of")


def test_two_clones_and_a_worktree_are_one_project(machine: Machine) -> None:
    one = machine.repo("a/api", "https://github.com/acme/api.git")
    two = machine.repo("b/api-copy", "git@github.com:Acme/api")
    machine.claude(("In the first clone", "Yes."), cwd=one)
    machine.claude(("In the second clone", "Yes."), cwd=two)
    machine.told("index")
    (project,) = machine.told("repos", "--json").json["projects"]
    assert project["sessions"] == 2


def test_a_count_of_projects_is_not_cut_off_by_a_limit_on_sessions(machine: Machine) -> None:
    cwd = machine.folder("work/shop")
    for number in range(60):
        machine.claude((f"Question {number}", "Answer."), cwd=cwd, at=ago(hours=number))
    machine.told("index")
    assert machine.told("repos", "-n", "1", "--json").json["projects"][0]["sessions"] == 60


def test_repos_of_one_agent_or_time(shop: Machine) -> None:
    (only,) = shop.told("repos", "--agent", "copilot", "--json").json["projects"]
    assert only["sessions"] == 1
    assert len(shop.told("repos", "--days", "5", "--json").json["projects"]) == 1
    assert shop.told("repos", "--agent", "codex").err == "told: No projects with these limits.\n"
