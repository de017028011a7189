"""`told brief` and `told explain`, as an agent without hooks uses them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

import pytest

from told.store.database import LEARN_LOCK, acquire_lock

if TYPE_CHECKING:
    from tests.cli.machine import Machine


@pytest.fixture
def project(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The shop's project, with a few things remembered."""
    for name in tuple(os.environ):
        if name.startswith(("CLAUDE", "CODEX", "COPILOT", "CURSOR", "GEMINI", "AI_AGENT")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(shop.home / "code" / "acme-api")
    for text in ("Use pnpm, never npm.", "Never deploy between 02:45 and 03:30 UTC."):
        assert shop.told("remember", text).code == 0
    assert shop.told("lock", "Commit messages follow Conventional Commits").code == 0
    return shop


def test_a_prompt_gets_only_what_it_needs(project: Machine) -> None:
    answer = project.told("brief", "--prompt", "install zod")
    assert answer.code == 0
    assert "Use pnpm, never npm. (rule, today, you)" in answer.out
    assert "deploy" not in answer.out


def test_a_prompt_that_needs_nothing_prints_nothing(project: Machine) -> None:
    answer = project.told("brief", "--prompt", "thanks, looks good")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "told: No memory fits this prompt. `told explain TEXT` shows why.\n"


def test_what_stands_for_a_secret_calls_for_nothing(project: Machine) -> None:
    project.told("remember", "Send the monthly figures to ops@acme-corp.io")
    assert "[secret:email:" in project.told("brief", "--prompt", "send the monthly figures").out
    for prompt in ("write the signup email template", "how do we rotate a secret?"):
        assert "figures" not in project.told("brief", "--prompt", prompt).out


def test_a_start_says_where_we_stopped_and_what_holds(project: Machine) -> None:
    out = project.told("brief", "--start").out
    assert "\nEarlier work:\n- Last session (today, claude, " in out
    assert out.index("Rules:") < out.index("Earlier work:")
    assert "How long should the cache TTL be?" in out
    assert "I noted it in docs/cache.md." in out
    assert "Commit messages follow Conventional Commits (rule, locked" in out
    assert len(out.encode()) / 3.5 <= 450


def test_a_start_elsewhere_knows_nothing_of_this_project(
    project: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder("elsewhere"))
    answer = project.told("brief")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("told: No memories in this project yet.")


def test_an_empty_store_says_so(machine: Machine) -> None:
    for words in (("brief",), ("brief", "--prompt", "install zod")):
        answer = machine.told(*words)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("told: No memories yet. `told remember TEXT` adds one")
        assert answer.err.count("\n") == 1
    assert machine.told("brief", "--json").json == {"tokens": 0, "lines": []}


def test_history_that_is_still_learned_is_not_called_empty(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = machine.folder("work/shop")
    monkeypatch.chdir(folder)
    machine.claude(("No, we use pnpm here, never npm.", "Understood."), cwd=folder)
    machine.told_home.mkdir()
    lock = acquire_lock(str(machine.told_home), LEARN_LOCK)  # as if another told learned
    assert lock
    for words in (("brief",), ("brief", "--prompt", "install zod"), ("memories",)):
        answer = machine.told(*words)
        assert (answer.code, answer.out) == (1, "") or "Last session" in answer.out
        assert "Last session" in answer.out or "still being learned (1 session to go)" in answer.err
    assert machine.told("brief", "--prompt", "install zod", "--json").json["unlearned_sessions"]
    assert machine.told("memories", "--json").json["unlearned_sessions"]
    assert machine.told("remember", "Tests use port 5544.").code == 0
    assert "still being learned" in machine.told("memories").out
    os.close(lock)
    assert "pnpm" in machine.told("brief", "--prompt", "install zod").out
    assert "still being learned" not in machine.told("memories").out


def test_a_start_is_not_repeated_in_a_session(project: Machine) -> None:
    words = ("brief", "--start", "--session", "s1")
    assert "Conventional Commits" in project.told(*words).out
    assert project.told(*words).code == 1
    project.told("remember", "Never use yarn.")
    again = project.told(*words).out
    assert "yarn" in again
    assert "Conventional Commits" not in again
    assert "Conventional Commits" in project.told(*words, "--again").out


def test_the_running_session_is_not_the_last_one(project: Machine) -> None:
    running = str(uuid5(NAMESPACE_URL, "session 1"))  # the first one of the shop
    assert "How long should the cache TTL be?" in project.told("brief", "--start").out
    project.environ |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": running}
    out = project.told("brief", "--start").out
    assert "\nEarlier work:\n- Last session (yesterday, copilot, " in out
    assert "cache" not in out


def test_a_session_is_told_once(project: Machine) -> None:
    words = ("brief", "--prompt", "install zod", "--session", "s1")
    assert project.told(*words).code == 0
    assert project.told(*words).code == 1
    assert project.told(*words[:-1], "s2").code == 0
    shown = project.told("memories", "pnpm", "--json").json["memories"][0]["times_shown"]
    assert shown == 2


def test_without_a_session_nothing_is_noted(project: Machine) -> None:
    project.told("brief", "--prompt", "install zod")
    assert project.told("memories", "pnpm", "--json").json["memories"][0]["times_shown"] == 0


def test_json_has_the_lines_and_what_they_cost(project: Machine) -> None:
    made = project.told("brief", "--prompt", "install zod", "--json").json
    assert [line["zone"] for line in made["lines"]] == ["standing"]
    assert 0 < made["tokens"] < 60


def test_a_budget_is_kept(project: Machine) -> None:
    assert project.told("brief", "--start", "--budget", "40", "--json").json["tokens"] <= 40


def test_start_and_prompt_exclude_each_other(project: Machine) -> None:
    answer = project.told("brief", "--start", "--prompt", "x")
    assert answer.code == 2
    assert "not both" in answer.err


def test_explain_says_why_each_memory_is_in_or_out(project: Machine) -> None:
    answer = project.told("explain", "install", "zod")
    assert answer.code == 0
    first, row, why, *_ = answer.out.splitlines()
    assert "install" in first
    assert row.startswith("in ")
    assert "Use pnpm, never npm." in row
    assert "meaning 0." in why
    made = project.told("explain", "install zod", "--json").json
    assert made["memories"][0]["in"] is True


def test_explain_says_that_a_prompt_needs_nothing(project: Machine) -> None:
    answer = project.told("explain", "thanks")
    assert answer.code == 1
    assert answer.out.startswith("Nothing to look up: talk.")
