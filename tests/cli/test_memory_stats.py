"""`told stats`: what is locked and learned, what it costs, and how often one still had to repeat oneself."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.cli.machine import NOW, ago
from tests.cli.test_learning import desk, memories, say

if TYPE_CHECKING:
    from datetime import datetime

    import pytest

    from tests.cli.machine import Machine

__all__ = ["desk"]

RULE = "Never push straight to main, always open a pull request."
OTHER = "Never use tabs for indentation."


def stats(desk: Machine) -> Any:
    assert desk.told("index").code == 0
    answer = desk.told("stats", "--json")
    assert answer.code == 0
    return answer.json


def clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    monkeypatch.setattr("time.time_ns", lambda: int(at.timestamp()) * 10**9)


def test_of_nothing_everything_is_zero(desk: Machine) -> None:
    found = stats(desk)
    numbers = {name: value for name, value in found.items() if isinstance(value, int)}
    assert set(numbers.values()) == {0}
    assert found["last_locked"] is None
    assert found["first_brief"] is None


def test_what_is_locked_and_what_was_learned_are_counted_by_kind(desk: Machine) -> None:
    say(desk, RULE, at=ago(days=5))
    say(desk, "From now on always use pnpm, never npm.", at=ago(days=4))
    desk.told("remember", "The gateway listens on port 8443", "--kind", "fact")
    desk.told("lock", "Never print the deploy token", "--kind", "rule")
    gone = desk.told("remember", "--json", "The launch is called Bluebird", "--kind", "fact").json["id"]
    desk.told("forget", gone, "--force")
    found = stats(desk)
    assert (found["locked"], found["learned"], found["sessions"]) == (1, 2, 2)
    assert found["by_kind"] == {"rule": 3, "fact": 1}
    assert found["by_status"] == {"active": 4, "forgotten": 1}
    assert found["by_trust"] == {"user": 4}
    said = desk.told("stats").out
    assert "1 locked, 2 learned from sessions." in said
    assert "Bluebird" not in said


def test_the_last_locked_one_is_the_last_that_still_is(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = desk.told("lock", "--json", "Never print the deploy token").json["id"]
    clock(monkeypatch, NOW + timedelta(minutes=1))
    second = desk.told("lock", "--json", OTHER).json["id"]
    assert stats(desk)["last_locked"]["id"] == second
    assert f"last locked: 11-15 12:01 {second}" in desk.told("stats").out
    desk.told("unlock", second)
    assert stats(desk)["last_locked"]["id"] == first
    desk.told("unlock", first)
    assert stats(desk)["last_locked"] is None


def test_corrections_that_agents_were_shown_today_are_counted(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days, text in ((2, "The tests live in tests/unit"), (0, "The deploy script is scripts/ship.sh")):
        clock(monkeypatch, ago(days=days))
        desk.told("remember", text, "--kind", "correction")
    clock(monkeypatch, NOW)
    found = stats(desk)
    assert (found["corrections_today"], found["corrections_shown_today"]) == (1, 0)
    desk.told("brief", "--session", "one")
    desk.told("brief", "--session", "two")
    found = stats(desk)
    assert (found["corrections_today"], found["corrections_shown_today"]) == (1, 2)
    assert "corrections today: 1, shown to agents: 2" in desk.told("stats").out
    clock(monkeypatch, NOW + timedelta(days=1))
    found = stats(desk)
    assert (found["corrections_today"], found["corrections_shown_today"]) == (0, 0)


def test_tokens_that_were_handed_over_are_added_up(desk: Machine) -> None:
    say(desk, RULE, at=ago(days=5))
    assert desk.told("index").code == 0
    handed = []
    for session in ("one", "two"):
        brief = desk.told("brief", "--prompt", "push my change to main", "--session", session, "--json")
        handed.append(brief.json["tokens"])
    desk.told("brief", "--prompt", "push my change to main")  # for a person: nobody was handed it
    found = stats(desk)
    assert sum(handed) > 0
    assert (found["briefs"], found["tokens_injected"]) == (2, sum(handed))
    assert found["first_brief"] == "2026-11-15T12:00:00Z"
    assert f"2 briefs, {sum(handed)} tokens" in desk.told("stats").out


def test_how_often_one_repeated_oneself_before_and_after(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(desk, RULE, OTHER, at=ago(days=9))
    for days in (7, 6, 5):
        say(desk, RULE, at=ago(days=days))
    found = stats(desk)
    assert (found["repeats_before"], found["repeats_after"], found["repeated"]) == (3, 0, 3)
    assert "Repeated corrections: 3 in this project, 3 in all\n" in desk.told("stats").out
    assert desk.told("brief", "--session", "one").code == 0
    clock(monkeypatch, NOW + timedelta(days=3))
    say(desk, "fix the footer", at=NOW + timedelta(days=1))
    say(desk, "fix the header", RULE, at=NOW + timedelta(days=2))
    found = stats(desk)
    assert (found["repeats_before"], found["repeats_after"], found["repeated"]) == (3, 1, 4)
    assert (found["sessions"], found["sessions_since_first_brief"]) == (6, 2)
    said = "Repeated corrections: 4 in this project, 4 in all\n  3 in 4 sessions before told, 1 in 2 since\n"
    assert said in desk.told("stats").out
    desk.told("rebuild")
    assert stats(desk) == found


COMPLAINTS = (
    "how often do i have to say this", "Again: tabs are wrong here.", "I told you: tests are in tests/unit!",
    "for the third time, the port is 8443", "why npm? I've already told you we moved to pnpm",
    "Wie oft muss ich das noch sagen", "Nochmal: keine Tabs", "je te l'ai déjà dit, pas de tabulations",
    "¿Cuántas veces tengo que decirlo?", "quantas vezes tenho que repetir isso", "сколько раз мне повторять",
    "这个跟你说过了，不要用 tab",
)  # fmt: skip
HARMLESS = (
    "try again", "run it again, please", "how often does the job run", "how many times is the loop entered?",
    "again and again the test fails", 'rename the label "I told you" to "Note"', "wie oft läuft der Job?",
    "```\nI told you so\n```\nwhat does this test print?",
)  # fmt: skip


def test_complaints_about_repeating_oneself_are_counted_as_they_are_said(desk: Machine) -> None:
    for number, text in enumerate(COMPLAINTS):
        say(desk, "fix the footer", text, at=ago(days=20, hours=number))
        assert stats(desk)["repeated"] == number + 1, text
    say(desk, *HARMLESS, at=ago(days=10))
    assert stats(desk)["repeated"] == len(COMPLAINTS)


def test_repeats_are_counted_for_this_project_and_for_all(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days in (9, 8, 7):
        say(desk, RULE, at=ago(days=days))
    say(desk, f"How often do I have to say this: {RULE}", at=ago(days=6))  # both, but said once
    other = desk.repo("work/other", "git@github.com:acme/other.git")
    for days in (5, 4):
        desk.claude((OTHER, "Done."), cwd=other, at=ago(days=days))
    desk.claude(("I already told you, no tabs", "Sorry."), cwd=other, at=ago(days=3))
    found = stats(desk)
    assert (found["repeated_here"], found["repeated"]) == (3, 5)
    assert "Repeated corrections: 3 in this project, 5 in all\n" in desk.told("stats").out
    monkeypatch.chdir(other)
    assert stats(desk)["repeated_here"] == 2


def test_twice_in_one_session_is_once(desk: Machine) -> None:
    say(desk, RULE, "go on", RULE, at=ago(days=5))
    assert stats(desk)["repeated"] == 0
    assert memories(desk)[0]["repeated"] == 0


def test_what_was_remembered_by_hand_and_had_to_be_said_again_is_a_repetition(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.told("remember", RULE)
    clock(monkeypatch, NOW + timedelta(days=2))
    say(desk, RULE, at=NOW + timedelta(days=1))
    assert stats(desk)["repeated"] == 1
    assert memories(desk)[0]["repeated"] == 1
