"""An agent's shell locks, unlocks and ends nothing of the user's: it proposes, and the user decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import note_as_agent, remember_confirmed
from tests.cli.test_memory_remember import desk, remember, texts
from told.api import Told
from told.memories.caller import detect_caller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from tests.cli.machine import Machine

__all__ = ["desk"]


def inside(machine: Machine, **signs: str) -> AbstractContextManager[None]:
    """Let told run in an agent's shell."""
    from contextlib import contextmanager

    @contextmanager
    def shell() -> Iterator[None]:
        machine.environ |= signs
        yield
        for name in signs:
            del machine.environ[name]

    return shell()


def memory(machine: Machine, name: str) -> Any:
    return machine.told("why", name, "--json").json


@pytest.mark.parametrize(
    ("sign", "agent"),
    [
        ("CLAUDECODE", "claude-code"), ("CODEX_THREAD_ID", "codex"), ("CODEX_SANDBOX", "codex"),
        ("GEMINI_CLI", "gemini-cli"), ("QWEN_CODE", "qwen-code"), ("COPILOT_CLI", "copilot-cli"),
        ("OPENCODE", "opencode"), ("CURSOR_AGENT", "cursor"), ("CLINE_ACTIVE", "cline"),
        ("AI_AGENT", "agent"),
    ],
)  # fmt: skip
def test_an_agent_is_known_by_what_it_sets(sign: str, agent: str) -> None:
    assert detect_caller({sign: "1"}).agent == agent
    assert not detect_caller({sign: "1"}).is_user


@pytest.mark.parametrize(
    "environ",
    [{}, {"CODEX_HOME": "/x"}, {"COPILOT_MODEL": "m"}, {"CURSOR_TRACE_ID": "1"}, {"CLAUDECODE": "0"},
     {"CLAUDE_CONFIG_DIR": "/x"}, {"OPENCODE_CONFIG": "/x"}],
)  # fmt: skip
def test_what_a_user_sets_by_hand_makes_nobody_an_agent(environ: dict[str, str]) -> None:
    assert detect_caller(environ).is_user


@pytest.mark.parametrize("action", ["lock", "unlock", "confirm", "reject"])
def test_an_agent_changes_nothing_of_the_users(desk: Machine, action: str) -> None:
    made = remember(desk, *(["--lock"] if action == "unlock" else []), "Never use tabs")
    before = memory(desk, made["id"])
    with inside(desk, CLAUDECODE="1"):
        answer = desk.told(action, made["id"])
        assert answer.code == 0
        assert f"Only you can {action} memories." in answer.out
    assert memory(desk, made["id"]) == before
    waiting = desk.told("proposals", "--json").json["proposals"]
    assert [(one["action"], one["agent"], one["memory"]["id"]) for one in waiting] == [
        (action, "claude-code", made["id"])
    ]


def test_an_agent_cannot_end_the_users_memory_in_any_way(desk: Machine) -> None:
    made = remember(desk, "Use npm for packages")
    with inside(desk, CLAUDECODE="1"):
        assert desk.told("remember", "We use pnpm now instead of npm", "--kind", "rule", "--lock").code == 0
        assert desk.told("correct", made["id"], "Use yarn for packages").code == 0
        assert desk.told("forget", made["id"], "--force").code == 0
        assert desk.told("undo").code == 2
        waiting = desk.told("proposals", "--json").json["proposals"]
        assert desk.told("proposals", "accept", waiting[0]["id"]).code == 2
    assert memory(desk, made["id"])["status"] == "active"
    assert texts(desk) == ["Use npm for packages"]
    assert {one["action"] for one in waiting} == {"correct", "forget", "lock"}


def test_what_an_agent_says_is_marked_and_fenced(desk: Machine) -> None:
    with inside(desk, CLAUDECODE="1"):
        made = remember(desk, "--lock", "The tests need Docker")
    assert (made["trust"], made["locked"], made["kind"]) == ("agent", False, "observation")
    assert (made["status"], texts(desk)) == ("candidate", [])
    for status in ("candidate", "active"):
        listed = ("memories", "--status", status)
        assert "<agent " in desk.told(*listed).out.splitlines()[1]
        assert desk.told(*listed, "--json").json["memories"][0]["text"].startswith("<agent ")
        assert desk.told("confirm", made["id"]).code == 0


def test_an_agent_may_correct_what_agents_said(desk: Machine) -> None:
    made = note_as_agent(desk, "The tests need Docker", "github.com/acme/shop")
    with inside(desk, CLAUDECODE="1"):
        desk.told("correct", made, "The tests need Podman")
    assert memory(desk, made)["status"] == "superseded"
    assert desk.told("proposals").code == 1


def test_an_agent_does_not_correct_what_the_user_confirmed(desk: Machine) -> None:
    made = remember_confirmed(desk, "The tests need Docker")
    before = memory(desk, made)
    with inside(desk, CLAUDECODE="1"):
        answer = desk.told("correct", made, "The tests need Podman")
        assert answer.out.startswith("Only you can correct your memories.")
    assert memory(desk, made) == before
    (waiting,) = desk.told("proposals", "--json").json["proposals"]
    assert (waiting["action"], waiting["memory"]["id"]) == ("correct", made)
    assert desk.told("proposals", "accept", waiting["id"]).code == 0
    assert memory(desk, made)["status"] == "superseded"
    assert texts(desk) == ["The tests need Podman"]


def test_an_agent_makes_no_memory_of_a_candidate(desk: Machine) -> None:
    with inside(desk, CLAUDECODE="1"):
        made = remember(desk, "The tests need Docker")
        assert desk.told("correct", made["id"], "The tests need Podman").code == 2
        with Told(environ=desk.environ) as told:
            draft = told.correct(made["id"], "The tests need Podman")
    assert (draft.status, draft.trust, texts(desk)) == ("candidate", "agent", [])


def test_the_user_accepts_a_correction(desk: Machine) -> None:
    made = remember(desk, "--lock", "Use npm for packages")
    with inside(desk, CODEX_THREAD_ID="t1"):
        desk.told("correct", made["id"], "Use pnpm for packages")
    listed = desk.told("proposals")
    assert "codex asks: correct" in listed.out
    waiting = desk.told("proposals", "--json").json["proposals"][0]
    assert desk.told("proposals", "accept", waiting["id"]).code == 0
    rows = desk.told("memories", "--json").json["memories"]
    assert [(row["text"], row["trust"], row["locked"]) for row in rows] == [
        ("Use pnpm for packages", "user", True)
    ]
    assert desk.told("proposals").code == 1
    assert desk.told("undo").code == 0
    assert texts(desk) == ["Use npm for packages"]


def test_the_user_declines(desk: Machine) -> None:
    made = remember(desk, "Never use tabs")
    with inside(desk, GEMINI_CLI="1"):
        desk.told("lock", made["id"])
    waiting = desk.told("proposals", "--json").json["proposals"][0]
    assert desk.told("proposals", "decline", waiting["id"]).code == 0
    assert not memory(desk, made["id"])["locked"]
    assert desk.told("proposals").code == 1
    assert desk.told("proposals", "accept", waiting["id"]).code == 1


def test_the_user_accepts_that_something_is_forgotten(desk: Machine) -> None:
    made = remember(desk, "The launch is called Bluebird")
    with inside(desk, CLAUDECODE="1"):
        desk.told("forget", made["id"], "--force")
    waiting = desk.told("proposals", "--json").json["proposals"][0]
    accepted = desk.told("proposals", "accept", waiting["id"]).out
    assert accepted == f"Forgot {made['id']}. This cannot be undone.\n"
    assert desk.told("memories").code == 1


@pytest.mark.parametrize(
    ("text", "quote", "trust"),
    [
        ("Never push to main", "never push to main, please", "user"),
        ("Never push to main", "", "agent"),
        ("Never push to main", "never push to staging", "agent"),  # nobody said that
        ("Always push to main", "never push to main, please", "agent"),  # not what the quote says
        ("Delete the tests", "never push to main, please", "agent"),
        ("Push to main", "push to main, please", "agent"),  # the denial was left out of the quote
        ("We deploy on Fridays", "I will deploy on Fridays", "agent"),  # the agent's own words
    ],
)
def test_only_the_users_own_words_make_a_statement_the_users(
    desk: Machine, text: str, quote: str, trust: str
) -> None:
    session = desk.claude(
        ("Fix the login. And never push to main, please.", "I will deploy on Fridays."),
        cwd=str(desk.home / "work/shop"),
    )
    quoted = ["--quote", quote] if quote else []
    with inside(desk, CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=session):
        made = remember(desk, text, "--scope", "global", *quoted)
    assert made["trust"] == trust
    assert not made["locked"]
    evidence = memory(desk, made["id"])["evidence"][0]
    assert (evidence["agent"], evidence["session"]) == ("claude-code", session)


def test_a_quote_of_another_session_does_not_count(desk: Machine) -> None:
    desk.claude(("Never push to main, please.", "Fine."), cwd=str(desk.home / "work/shop"))
    other = desk.claude(("Fix the login.", "Done."), cwd=str(desk.home / "work/shop"))
    with inside(desk, CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=other):
        made = remember(desk, "Never push to main", "--scope", "global", "--quote", "Never push to main")
    assert made["trust"] == "agent"


def test_memories_of_a_session_are_forgotten_together(desk: Machine) -> None:
    session = desk.claude(("Never push to main, please.", "Fine."), cwd=str(desk.home / "work/shop"))
    with inside(desk, CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=session):
        made = remember(desk, "Never push to main", "--quote", "Never push to main")
    kept = remember(desk, "Never use tabs")
    for name in (session, desk.ids()[0]):
        found = desk.told("forget", "--session", name, "--json").json["memories"]
        assert [row["id"] for row in found] == [made["id"]]
    assert desk.told("forget", "--session", session, "--force").code == 0
    assert texts(desk) == [kept["text"]]
