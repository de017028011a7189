"""`told review`: what waits for the user, in which order, and what each decision does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from tests.cli.reviewing import (
    CHANCE,
    ENGLISH,
    FACT,
    GLOBAL_RULE,
    HABIT,
    LOCKED,
    RULE,
    SPACES,
    VAGUE,
    fill_desk,
    say,
)

if TYPE_CHECKING:
    from tests.cli.machine import Answer, Machine

AGENT = {"CLAUDECODE": "1"}


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return fill_desk(machine, monkeypatch)


def waiting(desk: Machine, *words: str) -> dict[str, dict[str, Any]]:
    """Return what waits, by the text of its memory, best first."""
    found = desk.told("review", "--json", *words).json
    return {one["memory"]["text"]: one for one in found["items"]}


def memory(desk: Machine, name: str) -> dict[str, Any]:
    found: dict[str, Any] = desk.told("why", name, "--json").json
    return found


def decided(answer: Answer) -> str:
    assert (answer.code, answer.err) == (0, "")
    return answer.out


def test_the_best_come_first_each_with_its_quote_in_context(desk: Machine) -> None:
    found = waiting(desk)
    assert [(one["state"], text) for text, one in found.items()] == [
        ("conflict", SPACES), ("proposal", FACT), ("learned", RULE), ("candidate", HABIT),
        ("candidate", CHANCE), ("candidate", VAGUE),
    ]  # fmt: skip
    quote = found[RULE]["quote"]
    assert (quote["words"], quote["agent"], quote["turn"]) == (RULE, "claude-code", 1)
    assert quote["message"] == f"Looks good. {RULE} Now fix the login form."
    assert desk.told("show", f"{quote['session']}.1").code == 0
    assert found[HABIT]["quote"]["sessions"] == 1
    assert (found[SPACES]["other"]["text"], found[SPACES]["other"]["locked"]) == (LOCKED, True)
    assert found[FACT]["proposal"]["action"] == "lock"
    assert list(waiting(desk, "--kind", "rule")) == [SPACES, RULE, HABIT]
    limited = desk.told("review", "--json", "--limit", "2").json
    assert (limited["count"], limited["waiting"]) == (2, 6)


def test_a_pipe_gets_a_list_and_how_to_decide(desk: Machine) -> None:
    lines = desk.told("review", "-n", "3").out.splitlines()
    counts = "1 memory, 1 conflict, 1 proposal, 3 candidates"
    assert lines[0] == f"To review, best first: {counts}; 3 shown (use --limit to see more)."
    assert lines[3].startswith("  would replace: 11-15 12:00 m")
    assert lines[3].endswith(f" rule project locked: {LOCKED}")
    assert f"Looks good. {RULE} Now fix" in lines[-2]
    assert lines[-1].startswith("Decide: `told review keep ID…`")
    for words in (("proposals",), ("memories", "--status", "candidate")):
        assert "`told review`" in desk.told(*words).out.splitlines()[-1]


def test_what_the_user_decided_or_typed_does_not_wait(desk: Machine) -> None:
    desk.told("remember", "Reports go to the archive bucket every night")
    found = waiting(desk)
    assert desk.told("confirm", found[RULE]["id"]).code == 0
    assert desk.told("lock", found[FACT]["memory"]["id"]).code == 0
    assert list(waiting(desk)) == [SPACES, HABIT, CHANCE, VAGUE]
    assert desk.told("rebuild").code == 0
    assert list(waiting(desk)) == [SPACES, HABIT, CHANCE, VAGUE]


def test_a_memory_is_kept_edited_locked_moved_or_dismissed_and_each_is_undone(desk: Machine) -> None:
    before = waiting(desk)
    rule, habit = before[RULE]["id"], before[HABIT]["id"]
    for words, status, scope in (
        (("keep", habit), "active", "project"),
        (("lock", habit), "active", "project"),
        (("dismiss", habit), "dismissed", "project"),
        (("scope", habit, "global"), "active", "global"),
        (("edit", habit, "Keep", "commits", "small"), "superseded", "project"),
        (("dismiss", rule), "dismissed", "project"),
        (("scope", rule, "global"), "active", "global"),
    ):
        done = desk.told("review", *words, "--json").json
        now = memory(desk, words[1])
        assert (now["status"], now["scope"], now["locked"]) == (status, scope, words[0] == "lock")
        assert words[1] not in {one["id"] for one in waiting(desk).values()}
        if words[0] == "edit":
            made = done["memories"][0]
            assert (made["text"], made["id"]) == ("Keep commits small", now["superseded_by"])
        assert desk.told("review", "undo").code == 0
        assert waiting(desk) == before, words
    said = decided(desk.told("review", "keep", habit, before[CHANCE]["id"]))
    assert said.splitlines()[-1] == "`told undo` reverts it."
    assert desk.told("undo").code == 0  # one undo for both
    assert waiting(desk) == before


def test_a_conflict_ends_with_the_new_one_the_old_one_or_both(desk: Machine) -> None:
    before = waiting(desk)
    item, old = before[SPACES]["id"], before[SPACES]["other"]["id"]
    new = before[SPACES]["memory"]["id"]
    desk.told("scopes", "create", "style")
    for words, active in (
        (("keep", item), {SPACES}),
        (("dismiss", item), {LOCKED}),
        (("dismiss", new), {LOCKED}),
        (("both", item), {LOCKED, SPACES}),
        (("lock", item), {SPACES}),
        (("edit", item, "Use two spaces for indentation"), {"Use two spaces for indentation"}),
        (("scope", item, "style"), {LOCKED, SPACES}),
    ):
        decided(desk.told("review", *words))
        rows = desk.told("memories", "-n", "50", "--json").json["memories"]
        assert {one["text"] for one in rows} - {FACT, RULE, GLOBAL_RULE} == active, words
        assert SPACES not in waiting(desk)
        if active != {LOCKED}:
            assert memory(desk, old)["status"] == ("active" if LOCKED in active else "superseded")
        decided(desk.told("review", "undo"))
        assert waiting(desk) == before, words


def test_an_agents_request_is_accepted_or_declined(desk: Machine) -> None:
    before = waiting(desk)
    item, fact = before[FACT]["id"], before[FACT]["memory"]["id"]
    assert "accepts it" in desk.told("review", "edit", item, "Something else entirely").err
    for action, locked in (("keep", True), ("dismiss", False)):
        decided(desk.told("review", action, item))
        assert memory(desk, fact)["locked"] is locked
        assert item not in {one["id"] for one in waiting(desk).values()}  # declined: the fact itself waits
        decided(desk.told("review", "undo"))
        assert waiting(desk) == before
    desk.told("forget", fact, "--force", **AGENT)
    asked = next(one["id"] for one in desk.told("proposals", "--json").json["proposals"]
                 if one["action"] == "forget")  # fmt: skip
    assert "for good" in desk.told("review", "keep", asked).err
    assert memory(desk, fact)["text"] == FACT


def test_a_rule_of_the_project_against_a_global_one_shows_both(desk: Machine) -> None:
    desk.told("remember", "--scope", "global", GLOBAL_RULE)
    say(desk, ENGLISH, at=ago(minutes=-2))
    found = waiting(desk)[ENGLISH]
    assert (found["state"], found["other"]["text"], found["proposal"]) == ("conflict", GLOBAL_RULE, None)
    decided(desk.told("review", "keep", found["id"]))
    assert memory(desk, found["other"]["id"])["status"] == "active"
    assert ENGLISH not in waiting(desk)


def test_an_agent_may_list_but_not_decide(desk: Machine) -> None:
    before = waiting(desk)
    assert desk.told("review", "--json", **AGENT).json["waiting"] == len(before)
    rule, conflict = before[RULE]["id"], before[SPACES]["id"]
    for words in (
        ("keep", conflict), ("dismiss", conflict), ("both", conflict), ("edit", rule, "Push as you like"),
        ("scope", rule, "global"), ("undo",),
    ):  # fmt: skip
        answer = desk.told("review", *words, **AGENT)
        assert answer.code == 2, words
        assert answer.err.startswith("told: Only you can "), words
    assert waiting(desk) == before
    for action in ("keep", "dismiss", "lock"):
        assert "Saved as proposal" in decided(desk.told("review", action, rule, **AGENT))
    assert {one["proposal"]["action"] for one in desk.told("review", "--json").json["items"]
            if one["memory"]["id"] == rule} == {"confirm", "reject", "lock"}  # fmt: skip
    assert not memory(desk, rule)["locked"]


def test_bad_use_says_what_to_do(desk: Machine, machine: Machine) -> None:
    for words, code, said in (
        (("accept", "mabc"), 2, "Use `told review`"),
        (("keep",), 2, "Use `told review`"),
        (("edit", "mabc"), 2, "Use `told review`"),
        (("keep", "mzzzzzzz"), 1, "No memory matches 'mzzzzzzz'."),
        (("keep", "pzzzzzzz"), 1, "No proposal 'pzzzzzzz' is open."),
        (("scope", waiting(desk)[RULE]["id"], "nowhere"), 1, "There is no shared scope 'nowhere'."),
        (("both", waiting(desk)[RULE]["id"]), 2, "contradicts no other memory"),
        (("--kind", "hunch"), 2, "There is no kind 'hunch'."),
    ):
        answer = machine.told("review", *words)
        assert (answer.code, answer.out) == (code, ""), words
        assert said in answer.err


def test_another_folder_shows_what_waits_elsewhere(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = waiting(desk)
    monkeypatch.chdir(desk.folder("work/other"))
    assert waiting(desk) == everything
    for one in everything.values():
        assert desk.told("review", "keep", one["id"]).code == 0
    answer = desk.told("review")
    assert (answer.code, answer.err) == (1, "told: Nothing waits for review.\n")
    assert desk.told("review", "--json").json == {"count": 0, "waiting": 0, "items": []}
