"""What the user decides about memories, what forgetting leaves, and what can be removed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from tests.cli.test_memory_remember import desk, remember, texts

if TYPE_CHECKING:
    from tests.cli.machine import Machine

__all__ = ["desk"]

UNDO = "`told undo` reverts it.\n"


def test_a_memory_is_locked_and_unlocked_by_words_or_by_id(desk: Machine) -> None:
    made = remember(desk, "Never use tabs")
    assert desk.told("lock", "tabs").out == f"Locked {made['id']}: Never use tabs\n{UNDO}"
    assert desk.told("lock", made["id"]).out == f"{made['id']} is already locked.\n"
    assert desk.told("unlock", made["id"][:4]).out == f"Unlocked {made['id']}: Never use tabs\n{UNDO}"
    assert texts(desk, "--locked") == []


def test_a_statement_that_is_locked_is_remembered(desk: Machine) -> None:
    answer = desk.told("lock", "Never", "push", "to", "main", "--json").json
    assert (answer["text"], answer["locked"]) == ("Never push to main", True)
    again = desk.told("lock", "never push to main", "--json").json
    assert (again["id"], again["again"]) == (answer["id"], True)


def test_a_correction_takes_the_place_of_the_old_one_even_if_that_is_locked(desk: Machine) -> None:
    old = remember(desk, "--lock", "Use four spaces")
    new = desk.told("correct", "four spaces", "Use two spaces", "--json").json
    assert (new["locked"], new["kind"], new["scope"]) == (True, old["kind"], "project")
    assert texts(desk) == ["Use two spaces"]
    why = desk.told("why", old["id"], "--json").json
    assert (why["status"], why["superseded_by"]) == ("superseded", new["id"])
    assert [row["id"] for row in why["superseded_by_all"]] == [new["id"]]
    assert [step["what"] for step in why["history"]] == ["remember", "supersede"]


def test_words_that_fit_several_memories_list_them(desk: Machine) -> None:
    first = remember(desk, "Never use tabs in Python files")
    second = remember(desk, "Open every report in new browser tabs")
    answer = desk.told("correct", "tabs", "Use spaces everywhere")
    assert (answer.code, answer.out) == (2, "")
    assert first["id"] in answer.err
    assert second["id"] in answer.err
    assert len(texts(desk)) == 2


def test_what_is_ended_cannot_be_changed(desk: Machine) -> None:
    old = remember(desk, "Use npm for packages")
    remember(desk, "We use pnpm now instead of npm")
    answer = desk.told("lock", old["id"])
    assert (answer.code, answer.err) == (
        2, f"told: {old['id']} is superseded. `told why {old['id']}` shows why.\n"
    )  # fmt: skip


def test_confidence_follows_what_the_user_says(desk: Machine) -> None:
    made = remember(desk, "Never use tabs")
    assert "Confidence 0.80, now 0.83." in desk.told("confirm", made["id"]).out
    steps = desk.told("why", made["id"], "--json").json["history"]
    assert [step["confidence"] for step in steps] == [0.8, 0.833]


def test_why_says_where_it_comes_from(desk: Machine) -> None:
    made = remember(desk, "Never use tabs")
    answer = desk.told("why", made["id"])
    assert answer.out.splitlines() == [
        f"{made['id']} rule, project, active, said by user, confidence 0.80",
        "Never use tabs",
        "evidence: 11-15 12:00 typed at the terminal: Never use tabs",
        "shown: never",
        "11-15 12:00 remember by user, confidence 0.80",
    ]


def test_a_command_is_taken_back_as_a_whole(desk: Machine) -> None:
    remember(desk, "Use npm for packages")
    remember(desk, "We use pnpm now instead of npm")
    assert desk.told("undo").code == 0
    assert texts(desk) == ["Use npm for packages"]
    desk.told("lock", "npm")
    desk.told("undo")
    assert texts(desk, "--locked") == []
    assert desk.told("undo").code == 0
    assert desk.told("memories").code == 1
    assert desk.told("undo").code == 1


def test_the_last_change_of_one_memory_is_taken_back(desk: Machine) -> None:
    tabs = remember(desk, "Never use tabs")
    desk.told("lock", tabs["id"])
    remember(desk, "Answer in English")
    assert desk.told("undo", "--of", tabs["id"]).out == f"Undone: locked {tabs['id']}: Never use tabs\n"
    assert sorted(texts(desk)) == ["Answer in English", "Never use tabs"]
    assert texts(desk, "--locked") == []


def left_in(machine: Machine, words: bytes) -> list[str]:
    files = [path for path in machine.told_home.rglob("*") if path.is_file()]
    return [path.name for path in files if words in path.read_bytes()]


def test_forgetting_is_first_only_said(desk: Machine) -> None:
    made = remember(desk, "The launch is called Bluebird")
    answer = desk.told("forget", made["id"])
    assert answer.code == 0
    assert "Would forget 1 memory" in answer.out
    assert "Bluebird" in answer.out
    assert texts(desk) == ["The launch is called Bluebird"]


def test_what_is_forgotten_is_in_no_file(desk: Machine) -> None:
    made = remember(desk, "The launch is called Bluebird")
    desk.told("confirm", made["id"])
    remember(desk, "the launch is called bluebird.")
    other = remember(desk, "Never use tabs")
    assert left_in(desk, b"Bluebird")
    answer = desk.told("forget", made["id"], "--force")
    assert answer.code == 0
    assert "agent's own file" in answer.out
    assert left_in(desk, b"luebird") == []
    assert texts(desk) == ["Never use tabs"]
    assert desk.told("undo").out == f"Undone: remembered {other['id']}: Never use tabs\n"
    assert desk.told("undo").code == 1
    assert desk.told("rebuild").code == 0
    assert left_in(desk, b"luebird") == []


def test_what_was_taken_back_can_still_be_forgotten(desk: Machine) -> None:
    made = remember(desk, "The launch is called Bluebird")
    desk.told("undo")
    assert left_in(desk, b"Bluebird")
    assert desk.told("forget", made["id"], "--force").code == 0
    assert left_in(desk, b"Bluebird") == []


def test_forgetting_by_time_and_source(desk: Machine) -> None:
    remember(desk, "Use npm for packages")
    remember(desk, "We use pnpm now instead of npm")
    assert desk.told("forget", "--since", "tomorrow", "--force").code in (1, 2)
    assert desk.told("forget", "--source", "codex", "--force").code == 1
    assert desk.told("forget", "--since", "today", "--json").json["count"] == 2
    gone = desk.told("forget", "--source", "terminal", "--force", "--json").json
    assert (gone["count"], gone["forgotten"]) == (2, True)
    assert left_in(desk, b"npm for packages") == []
    assert desk.told("memories").code == 1


def test_forgetting_since_a_day_leaves_what_was_said_the_evening_before(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        evening = int(ago(hours=13).timestamp()) * 10**9
        before.setattr(time, "time_ns", lambda: evening)
        remember(desk, "Use npm for packages")
    remember(desk, "The launch is called Bluebird")
    answer = desk.told("forget", "--since", "2026-11-15", "--force", "--json").json
    assert (answer["count"], answer["forgotten"]) == (1, True)
    assert texts(desk) == ["Use npm for packages"]


def test_the_same_words_elsewhere_are_named(desk: Machine) -> None:
    first = remember(desk, "Use npm for packages")
    remember(desk, "We use pnpm now instead of npm")
    third = remember(desk, "Use npm for packages")
    answer = desk.told("forget", third["id"], "--json").json
    assert answer["same_words"] == [first["id"]]


def test_stats_count_what_is_there(desk: Machine) -> None:
    remember(desk, "Use npm for packages")
    remember(desk, "We use pnpm now instead of npm")
    locked = remember(desk, "--lock", "--scope", "global", "Never use tabs")
    found = desk.told("stats", "--json").json
    assert found["by_status"] == {"active": 2, "superseded": 1}
    assert found["by_scope"] == {"project": 1, "global": 1}
    assert (found["locked"], found["last_locked"]["id"]) == (1, locked["id"])


def test_diff_says_what_happened_since(desk: Machine) -> None:
    old = remember(desk, "Use npm for packages")
    new = remember(desk, "We use pnpm now instead of npm")
    rows = desk.told("diff", "today", "--json").json["changes"]
    assert {row["id"]: row["what"] for row in rows} == {old["id"]: ["new", "ended"], new["id"]: ["new"]}


@pytest.mark.parametrize("name", ["memory.db", "sessions.db"])
def test_told_forgets_while_the_other_database_is_missing(desk: Machine, name: str) -> None:
    made = remember(desk, "The launch is called Bluebird")
    (desk.told_home / name).unlink()
    assert desk.told("forget", made["id"], "--force").code == 0
    assert left_in(desk, b"Bluebird") == []
