"""What a user says in a session is a memory afterwards: by itself, once, and for good."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from tests.soak import points
from told.store.database import LEARN_LOCK, acquire_lock

if TYPE_CHECKING:
    from datetime import datetime

    from tests.cli.machine import Machine

RULE = "Never push straight to main, always open a pull request."
NPM = "Always use npm to install packages in this repo."
PNPM = "From now on always use pnpm to install packages in this repo, never npm."


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose current folder is a repository."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    return machine


def say(desk: Machine, *prompts: str, at: datetime | None = None, session: str = "") -> str:
    turns = [(prompt, "Done.") for prompt in prompts]
    return desk.claude(*turns, at=at or ago(days=2), cwd=str(desk.home / "work/shop"), session=session)


def memories(desk: Machine, *words: str) -> list[dict[str, Any]]:
    answer = desk.told("memories", "--json", *words)
    return list(answer.json["memories"])


def texts(desk: Machine, *words: str) -> list[str]:
    return [row["text"] for row in memories(desk, *words)]


def test_what_was_said_in_a_session_is_known_without_being_asked_for(desk: Machine) -> None:
    session = say(desk, "add a dark mode toggle to the settings page", RULE)
    (found,) = memories(desk)
    assert found["text"] == RULE
    assert (found["kind"], found["trust"], found["project"]) == ("rule", "user", "github.com/acme/shop")
    assert found["created"] == "2026-11-13T11:59:30Z"
    (place,) = desk.told("why", found["id"], "--json").json["evidence"]
    assert (place["agent"], place["session"], place["turn"]) == ("claude-code", session, 1)
    assert place["quote"] in RULE


def test_why_shows_what_a_statement_leans_on(desk: Machine) -> None:
    desk.claude(
        ("which port does the preview use?", "It starts on 8123 by default. Shall I keep port 8123?"),
        ("remember: never change it without asking me", "Saved."),
        at=ago(days=2), cwd=str(desk.home / "work/shop"),
    )  # fmt: skip
    (found,) = memories(desk, "--status", "candidate")
    assert "8123" not in found["text"]
    assert "Shall I keep port 8123?" in desk.told("why", found["id"], "--json").json["said_after"]
    assert "Said after: <" in desk.told("why", found["id"]).out


def test_while_another_told_learns_an_empty_list_is_not_the_last_word(desk: Machine) -> None:
    say(desk, RULE)
    desk.told_home.mkdir()
    learning = acquire_lock(str(desk.told_home), LEARN_LOCK)
    assert learning
    says = "Your history is still being learned (1 session to go). `told index` finishes it."
    answer = desk.told("memories")
    assert (answer.code, answer.err) == (1, f"told: {says}\n")
    assert desk.told("memories", "--json").json["unlearned_sessions"]
    desk.told("remember", "Never use tabs")
    assert desk.told("memories").out.endswith(f"{says}\n")
    os.close(learning)
    out = desk.told("memories").out
    assert out.startswith("2 memories\n")
    assert says not in out


def test_the_index_says_how_much_it_learned(desk: Machine) -> None:
    say(desk, RULE)
    assert desk.told("index").out.splitlines()[1].startswith("Learned 1 statement of yours")
    assert desk.told("index").out.splitlines() == ["Imported 0 changed files. 1 session in total."]


def test_it_is_learned_once_however_often_the_session_is_read(desk: Machine) -> None:
    session = say(desk, RULE)
    before = memories(desk)
    say(desk, RULE, "and now fix the footer, please", session=session)
    desk.told("index")
    desk.told("rebuild")
    (desk.told_home / "sessions.db").unlink()
    (desk.told_home / "memory.db").unlink()
    assert memories(desk) == before


def test_what_was_forgotten_does_not_come_back(desk: Machine) -> None:
    session = say(desk, RULE)
    (found,) = memories(desk)
    assert desk.told("forget", found["id"], "--force").code == 0
    say(desk, RULE, "go on", session=session)
    desk.told("rebuild")
    assert memories(desk) == []


def test_what_was_undone_does_not_come_back(desk: Machine) -> None:
    say(desk, RULE)
    (found,) = memories(desk)
    assert desk.told("undo", "--of", found["id"]).code == 0
    desk.told("rebuild")
    assert memories(desk) == []


def test_the_last_command_is_undone_and_not_what_was_learned_since(desk: Machine) -> None:
    desk.told("remember", "The staging host is stage-3.acme.example")
    say(desk, RULE)
    assert desk.told("undo").code == 0
    assert texts(desk) == [RULE]


def test_what_is_said_again_in_another_session_is_counted_and_not_doubled(desk: Machine) -> None:
    say(desk, RULE, at=ago(days=5))
    say(desk, "never push straight to main, always open a pull request", at=ago(days=2))
    (found,) = memories(desk)
    assert found["repeated"] == 1
    assert len(desk.told("why", found["id"], "--json").json["evidence"]) == 2


def test_having_to_say_it_again_counts_against_it_only_if_it_was_shown(desk: Machine) -> None:
    say(desk, RULE, at=ago(days=5))
    (before,) = memories(desk)
    say(desk, RULE, at=ago(days=4))
    (unshown,) = memories(desk)
    assert unshown["confidence"] == before["confidence"]
    say(desk, "hello there", at=ago(minutes=1), session="0f0f0f0f-0000-4000-8000-000000000001")
    assert desk.told("brief", "--session", "0f0f0f0f-0000-4000-8000-000000000001").code == 0
    say(desk, "hello there", RULE, at=ago(minutes=-5), session="0f0f0f0f-0000-4000-8000-000000000001")
    (shown,) = memories(desk)
    assert shown["confidence"] < before["confidence"]


def test_a_later_statement_replaces_an_earlier_one(desk: Machine) -> None:
    say(desk, NPM, at=ago(days=9))
    say(desk, PNPM, at=ago(days=5))
    assert len(texts(desk)) == 1
    assert "pnpm" in texts(desk)[0]
    assert texts(desk, "--status", "superseded") == [NPM]


def test_an_older_session_that_is_read_later_ends_nothing(desk: Machine) -> None:
    say(desk, PNPM, at=ago(days=5))
    before = texts(desk)
    say(desk, NPM, at=ago(days=9))
    assert before[0] in texts(desk)


def test_a_locked_rule_stays_and_the_conflict_is_shown(desk: Machine) -> None:
    assert desk.told("lock", "Use tabs for indentation, never spaces.").code == 0
    say(desk, "Use spaces for indentation, never tabs.", at=ago(minutes=-1))
    assert texts(desk) == ["Use tabs for indentation, never spaces."]
    (waiting,) = memories(desk, "--status", "quarantined")
    assert waiting["text"] == "Use spaces for indentation, never tabs."
    shown = desk.told("proposals")
    assert shown.code == 0
    assert waiting["id"] in shown.out


def test_the_task_of_a_helper_teaches_nothing(desk: Machine) -> None:
    desk.claude(
        ("review the change", "I had it reviewed."), at=ago(days=2), cwd=str(desk.home / "work/shop"),
        helper=("Never push straight to main, always open a pull request.", "Nothing found."),
    )  # fmt: skip
    assert memories(desk) == []


def test_a_brief_that_comes_back_in_a_prompt_teaches_nothing(desk: Machine) -> None:
    say(desk, RULE, at=ago(days=5))
    brief = desk.told("brief").out
    say(desk, f"{brief}\nWhat does this mean?", at=ago(days=1))
    assert texts(desk) == [RULE]


def test_what_leans_on_the_agents_words_waits_as_a_candidate_until_it_is_said_again(desk: Machine) -> None:
    say(desk, "Why is the login slow?", "Never touch it by hand.", at=ago(days=9))
    assert memories(desk) == []
    assert [row["kind"] for row in memories(desk, "--status", "candidate")] == ["rule"]
    say(desk, "And the search?", "Never touch it by hand.", at=ago(days=8))
    (found,) = memories(desk)
    assert (found["kind"], found["status"]) == ("rule", "active")
    assert memories(desk, "--status", "candidate") == []
    desk.told("rebuild")
    assert memories(desk) == [found]


def test_a_session_leaves_one_candidate_at_most(desk: Machine) -> None:
    say(desk, "Never touch it by hand.", "Always restart it.", RULE)
    assert texts(desk) == [RULE]
    assert texts(desk, "--status", "candidate") == ["Never touch it by hand."]


def test_prompts_that_a_program_repeats_teach_nothing(desk: Machine) -> None:
    for number in range(3):
        prompt = (
            f"Reply with the exact marker OK-{number}, never add markdown. Always answer in one line of text."
        )
        say(desk, prompt, at=ago(days=number + 1))
    assert memories(desk) == []
    assert memories(desk, "--status", "candidate") == []


def test_a_headless_session_teaches_nothing_and_is_found(desk: Machine) -> None:
    session = say(desk, f"{RULE} Then look at the walrus module.")
    (path,) = desk.home.glob(f".claude/projects/*/{session}.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    changed = [json.dumps(json.loads(line) | {"entrypoint": "sdk-cli"}) for line in lines]
    path.write_text("\n".join(changed) + "\n", encoding="utf-8")
    assert memories(desk) == []
    assert "walrus" in desk.told("search", "walrus").out


def test_a_session_of_the_desktop_app_teaches(desk: Machine) -> None:
    session = say(desk, RULE)
    (path,) = desk.home.glob(f".claude/projects/*/{session}.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    typed = {"entrypoint": "claude-desktop", "promptSource": "sdk"}
    changed = [json.dumps(json.loads(line) | typed) for line in lines]
    path.write_text("\n".join(changed) + "\n", encoding="utf-8")
    assert texts(desk) == [RULE]


def test_memories_follow_their_project_when_it_gets_a_remote(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = machine.repo("work/shop")
    monkeypatch.chdir(place)
    say(machine, RULE, at=ago(days=5))
    assert texts(machine) == [RULE]
    machine.told("lock", memories(machine)[0]["id"])
    subprocess.run(["git", "-C", place, "remote", "add", "origin", "git@github.com:acme/new.git"], check=True)
    say(machine, "and now the footer", at=ago(days=1))
    (found,) = memories(machine)
    assert (found["text"], found["project"], found["locked"]) == (RULE, "github.com/acme/new", True)


def test_two_at_once_learn_it_once(desk: Machine) -> None:
    say(desk, RULE)
    children = [
        subprocess.Popen(
            ["told", "memories", "--json"], executable=_told(), env=desk.environ,
            cwd=desk.home / "work/shop", stdout=subprocess.DEVNULL,
        )
        for _ in range(points(everyday=2, soak=4))
    ]  # fmt: skip
    assert {child.wait(timeout=120) for child in children} <= {0, 1}
    assert texts(desk) == [RULE]


def _told() -> str:
    import shutil
    import sys
    from pathlib import Path

    return shutil.which("told") or str(Path(sys.executable).parent / "told")
