"""What was learned since a session began reaches it with its next prompt, once."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import TAUGHT, begun, said_to_model
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.store.memories.records import READER

if TYPE_CHECKING:
    from tests.hook.desk import Desk

HEADING = "Learned since this session began:"
ASK = "fix the typo in the readme"


def _remember(desk: Desk, kind: str, text: str, *more: str) -> None:
    assert desk.told("remember", "--kind", kind, text, *more).code == 0


@pytest.fixture
def running(desk: Desk) -> Desk:
    """A machine with a session that has begun."""
    desk.ask("claude-code", "start", begun(desk, session="running"))
    return desk


def test_a_rule_of_another_session_comes_with_the_next_prompt_once(running: Desk) -> None:
    running.prompt(TAUGHT, "codex", session="other")

    said = running.prompt(ASK, session="running")
    assert HEADING in said
    assert "pnpm" in said
    assert running.prompt(ASK, session="running") == ""


def test_it_comes_with_a_prompt_that_needs_nothing(running: Desk) -> None:
    running.prompt(TAUGHT, "codex", session="other")

    assert "pnpm" in running.prompt("go on", session="running")


def test_what_the_session_itself_taught_is_not_repeated(running: Desk) -> None:
    running.prompt(TAUGHT, session="running")

    assert running.prompt(ASK, session="running") == ""


def test_older_rules_are_left_to_the_start_brief(desk: Desk) -> None:
    desk.prompt(TAUGHT, "codex", session="other")
    started = said_to_model(desk.ask("claude-code", "start", begun(desk, session="running")))

    assert "pnpm" in started
    assert desk.prompt(ASK, session="running") == ""


def test_at_most_three_lines_come_with_a_prompt(running: Desk) -> None:
    for name in ("alpha", "bravo", "charlie", "delta", "echo"):
        _remember(running, "rule", f"Never restart the {name} server by hand", "--scope", "global")

    counts = [running.prompt(ASK, session="running").count("Never restart") for _ in range(3)]

    assert counts == [3, 2, 0]


def test_rules_of_other_projects_and_facts_do_not_come(
    running: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _remember(running, "fact", "The alpha server is in Lyon", "--scope", "global")
    monkeypatch.chdir(running.repo("code/other", "git@github.com:acme/other.git"))
    _remember(running, "rule", "Never restart the alpha server")

    assert running.prompt(ASK, session="running") == ""


def test_what_an_agent_says_does_not_come(running: Desk) -> None:
    running.environ["CLAUDECODE"] = "1"
    _remember(running, "rule", "Never restart the alpha server", "--scope", "global")

    assert running.prompt(ASK, session="running") == ""


def test_a_locked_rule_comes(running: Desk) -> None:
    running.prompt("/mem:lock Never push to main.", session="other")

    assert "Never push to main" in running.prompt(ASK, session="running")


def test_subagents_do_not_get_it(running: Desk) -> None:
    running.prompt(TAUGHT, "codex", session="other")
    payload = {
        "hook_event_name": "UserPromptSubmit", "session_id": "running", "cwd": running.project,
        "prompt": ASK, "agent_id": "a1",
    }  # fmt: skip

    assert HEADING not in str(running.ask("claude-code", "prompt", payload))


def test_what_a_reader_learned_from_the_session_itself_comes(running: Desk) -> None:
    home = str(running.told_home)
    running.prompt("fix the typo", session="running")
    now = time.time_ns() // 1_000_000
    with closing(open_memories(home)) as memories:
        writer = JournalWriter(FileJournal(home), memories, now, Caller(READER))
        text = "Release notes are written in French."
        new = NewMemory(text, "global", "rule", quote=text, agent="claude-code", session="running", at=now)
        remember(writer, new)

    assert "in French" in running.prompt(ASK, session="running")
