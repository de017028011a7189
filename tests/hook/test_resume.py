"""What a resumed session and a subagent are handed."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.hook.desk import ASKED, TAUGHT, Desk, begun, said_to_model, typed
from tests.hook.talk import Talk, edit
from told.text import count_tokens

_LATER = "From now on never use yarn either."


def _resume(desk: Desk, agent: str, session: str = "s-1") -> str:
    name = {"copilot-cli": "sessionStart-resume"}.get(agent, "SessionStart-resume")
    own = "sessionId" if agent == "copilot-cli" else "session_id"
    return said_to_model(desk.ask(agent, "start", desk.payload(agent, name) | {own: session}))


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_resumed_session_gets_only_what_is_new(desk: Desk, agent: str) -> None:
    rules = [f"Rule number {number} of the team is kept in every module." for number in range(30)]
    desk.told("remember", "--items", json.dumps(rules))  # more than the start has room for
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in said_to_model(desk.ask(agent, "start", begun(desk, agent)))
    assert _resume(desk, agent) == ""
    desk.prompt(_LATER, session="elsewhere")
    said = _resume(desk, agent)
    assert "yarn" in said
    assert "pnpm" not in said
    assert "`remember`" not in said  # the standing request was made at the start
    assert _resume(desk, agent) == ""
    desk.ask(agent, "compact", begun(desk, agent))
    again = said_to_model(desk.ask(agent, "start", begun(desk, agent, source="compact")))
    assert "yarn" in again
    assert "pnpm" in again


@pytest.mark.parametrize("agent", ["copilot-cli", "qwen-code", "gemini-cli"])
def test_a_start_that_replaces_the_earlier_one_has_everything(desk: Desk, agent: str) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    first = said_to_model(desk.ask(agent, "start", begun(desk, agent)))
    assert "pnpm" in first
    assert _resume(desk, agent) == first


@pytest.mark.parametrize("source", ["", "startup", "resume"])
def test_a_session_is_not_its_own_last_session(desk: Desk, source: str) -> None:
    desk.claude(("Rename the invoices", "Renamed."), at=datetime.now(UTC), cwd=desk.project, session="before")
    assert desk.told("index").code == 0
    talk = Talk(desk, "s-1").turn("Move the cache to Redis", "Moved.", edit(f"{desk.project}/src/cache.py"))
    talk.later().turn("Update the docs", "The docs are not updated yet. Shall I go on?").stop()
    talk.end()
    said = talk.start(source)
    assert "Move the cache" not in said
    assert "The docs are not updated" not in said
    assert ("Rename the invoices" in said) == (source != "resume")
    assert "The docs are not updated" in Talk(desk, "s-2").start()


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude-code", "SubagentStart"),
        ("codex", "SubagentStart"),
        ("qwen-code", "SubagentStart"),
        ("copilot-cli", "subagentStart"),
    ],
)
def test_a_subagent_gets_the_rules_in_half_the_tokens(desk: Desk, agent: str, name: str) -> None:
    Talk(desk, "s-0").turn("Move the cache to Redis", "Moved.").end()
    rules = [f"Rule number {number} of the team is kept." for number in range(30)]
    assert desk.told("remember", "--items", json.dumps(rules)).code == 0
    assert len(desk.texts()) == 30
    desk.prompt(TAUGHT, session="elsewhere")
    said = said_to_model(desk.ask(agent, "helper", desk.payload(agent, name)))
    assert "pnpm" in said
    assert "Redis" not in said
    assert count_tokens(said) < 430


def test_a_subagents_prompt_is_not_the_users_word(desk: Desk) -> None:
    by_agent = {"agent_id": "a106be584b7bcfbc0"}
    desk.ask("claude-code", "prompt", typed(desk, TAUGHT) | by_agent)
    desk.ask("claude-code", "prompt", typed(desk, "/mem:lock Never use npm in here") | by_agent)
    assert desk.texts() == []
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in said_to_model(desk.ask("claude-code", "prompt", typed(desk, ASKED) | by_agent))
