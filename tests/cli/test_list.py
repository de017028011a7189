"""`told list`: which sessions there are, in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.machine import ago

if TYPE_CHECKING:
    import pytest

    from tests.cli.machine import Machine


def test_sessions_of_all_agents_and_projects_stand_in_one_list_the_latest_first(shop: Machine) -> None:
    answer = shop.told("list")
    assert answer.code == 0
    assert answer.err == ""
    head, fence, *rows, end = answer.out.splitlines()
    assert head == "4 of 4 sessions, all projects"
    assert (fence[:7], end[:8]) == ("<agent ", "</agent ")
    assert [row[:11] for row in rows] == ["11-15 10:00", "11-14 12:00", "11-12 12:00", "10-26 12:00"]
    assert rows[0].endswith(" claude acme/acme-api@feature/cache 2t How long should the cache TTL be?")


def test_in_a_project_only_its_sessions_are_listed(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.home / "code" / "acme-api")
    answer = shop.told("list")
    assert answer.out.startswith("3 of 3 sessions, acme/acme-api\n")
    assert "rounding" not in answer.out
    assert "rounding" in shop.told("list", "--all-projects").out


def test_below_a_projects_folder_it_is_the_same_project(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.folder("code/acme-api/src/deep"))
    assert shop.told("list").out.startswith("3 of 3 sessions, acme/acme-api\n")


def test_a_project_without_sessions_in_the_time_shows_the_others_and_says_so(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.home / "work" / "web-shop")
    answer = shop.told("list", "--days", "5")
    assert answer.out.startswith("3 of 3 sessions, all projects (none in this project)\n")
    assert shop.told("list", "--days", "5", "--json").json["widened"] is True


def test_a_project_that_was_named_is_not_widened(shop: Machine) -> None:
    answer = shop.told("list", "--project", "web-shop", "--days", "5")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "told: No sessions in web-shop with these limits. Try --all-projects.\n"


def test_the_limit_is_kept_and_the_total_still_told(shop: Machine) -> None:
    answer = shop.told("list", "-n", "1")
    assert answer.out.startswith("1 of 4 sessions, all projects\n")
    assert len(answer.out.splitlines()) == 4


def test_one_agent_can_be_asked_for_by_name_or_label(shop: Machine) -> None:
    assert "1 of 1 session," in shop.told("list", "--agent", "copilot-cli").out
    assert shop.told("list", "--agent", "copilot").out == shop.told("list", "--agent", "copilot-cli").out


def test_a_time_can_be_asked_for_in_days_or_in_words(shop: Machine) -> None:
    assert len(shop.ids("--days", "1")) == 2
    assert len(shop.ids("--since", "yesterday")) == 2
    assert len(shop.ids("--since", "2026-11-12")) == 3
    assert len(shop.ids("--since", "2026-11-13")) == 2
    assert len(shop.ids("--since", "3 days ago")) == len(shop.ids("--days", "3")) == 3
    assert len(shop.ids("--since", "2 days ago")) == len(shop.ids("--days", "2")) == 2
    assert len(shop.ids("--since", "last month")) == 4


def test_json_says_what_it_covers_and_who_wrote_each_summary(shop: Machine) -> None:
    found = shop.told("list", "--json", "--project", "acme-api").json
    assert (found["project"], found["count"], found["total"]) == ("acme/acme-api", 3, 3)
    first = found["sessions"][0]
    assert first["agent"] == "claude-code"
    assert (first["summary"], first["trust"]) == ("How long should the cache TTL be?", "user")
    assert (first["project"], first["branch"], first["turns"]) == ("acme/acme-api", "feature/cache", 2)
    assert first["ended"] == "2026-11-15T10:00:00Z"
    assert first["cwd"] == f"{shop.home}/code/acme-api"


def test_a_session_is_called_as_the_user_named_it_else_as_its_agent_did_else_by_its_first_prompt(
    machine: Machine,
) -> None:
    cwd = machine.folder("work/shop")
    machine.copilot(("Make the cart round once", "Done."), cwd=cwd, summary="Cart rounding", at=ago(hours=1))
    own = machine.copilot_events(("Look at the lag of the orders topic", "Fine."), at=ago(hours=2))
    named = "name: Kafka lag\nuser_named: true\n"
    machine.write(f".copilot/session-state/{own}/workspace.yaml", named)
    cut = machine.copilot_events(("Write down why the login test is flaky", "Done."), at=ago(hours=3))
    machine.write(f".copilot/session-state/{cut}/workspace.yaml", "name: Write down why the login…\n")
    machine.claude(("Go on with the parser", "Done."), title="Parser errors", at=ago(hours=4))
    rows = machine.told("list", "--json").json["sessions"]
    assert [row["trust"] for row in rows] == ["agent", "user", "user", "agent"]
    assert ">Cart rounding</agent " in rows[0]["summary"]
    assert [row["summary"] for row in rows[1:3]] == ["Kafka lag", "Write down why the login test is flaky"]
    assert ">Parser errors</agent " in rows[3]["summary"]
    out = machine.told("list").out
    assert "1t Cart rounding" in out
    assert "1t Parser errors" in out


def test_the_same_question_gets_the_same_bytes(shop: Machine) -> None:
    assert shop.told("list").out == shop.told("list").out
    assert shop.told("list", "--json").out == shop.told("list", "--json").out


def test_helpers_of_an_agent_do_not_stand_between_the_users_sessions(machine: Machine) -> None:
    machine.claude(("Find the slow query", "It is the one on orders."), helper=("Look at SQL", "Found it."))
    machine.told("index")
    answer = machine.told("list", "--json")
    assert answer.json["total"] == 1
    assert "kind" not in answer.json["sessions"][0]


def test_a_session_that_goes_on_is_seen_at_the_next_question(machine: Machine) -> None:
    session = machine.claude(("Start the migration", "Started."), at=ago(hours=3))
    assert machine.told("list").out.count("1t Start the migration") == 1
    machine.claude(
        ("Start the migration", "Started."), ("Go on", "Finished."), at=ago(hours=2), session=session
    )
    assert "2t Start the migration" in machine.told("list").out


def test_a_session_of_a_deleted_file_stays(machine: Machine) -> None:
    machine.claude(("Remember the alpine base image", "Noted."))
    machine.told("index")
    for file in machine.home.rglob("*.jsonl"):
        file.unlink()
    assert "Remember the alpine base image" in machine.told("list").out
