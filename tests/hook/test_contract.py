"""Every agent gets answers in its own form, and knows what was said in another."""

from __future__ import annotations

import json
import sys

import pytest

from tests.hook.desk import AGENTS, ASKED, PAYLOADS, TAUGHT, Desk, begun, typed
from tests.hook.forms import context_of
from tests.soak import SOAK
from told.agents.dialects import EVENTS

# What `told install` writes behind the name of the agent; moments that told has no part in are sent as well,
# under the agent's own name for them.
_WORDS = {
    "SessionStart": "start", "sessionStart": "start", "TaskStart": "start", "system.transform": "start",
    "event.session.created": "start", "UserPromptSubmit": "prompt", "userPromptSubmitted": "prompt",
    "BeforeAgent": "prompt", "chat.message": "prompt", "PreCompact": "compact", "PostCompact": "compacted",
    "Stop": "stop", "agentStop": "stop", "AfterAgent": "stop", "TaskComplete": "stop", "SubagentStop": "stop",
    "subagentStop": "stop", "event.session.idle": "stop", "SessionEnd": "end", "sessionEnd": "end",
    "dispose": "end", "SubagentStart": "helper", "subagentStart": "helper", "PreToolUse": "tool",
    "preToolUse": "tool", "BeforeTool": "tool", "tool.execute.before": "tool",
}  # fmt: skip
_ANSWERED = ("start", "prompt", "helper")
_RECORDED = sorted((path.parent.name, path.stem) for path in PAYLOADS.glob("*/*.json"))


def _own_name(stem: str) -> str:
    return stem.partition("-")[0]


@pytest.mark.parametrize("agent", sorted({agent for agent, _ in _RECORDED}))
def test_recorded_payloads_are_answered_in_the_agents_form(desk: Desk, agent: str) -> None:
    """Recorded payloads, under told's word for the moment, on a machine that has something to say."""
    desk.prompt(TAUGHT, session="elsewhere")
    answered = set()
    seen = set()
    for name in [stem for of, stem in _RECORDED if of == agent]:
        word = _WORDS.get(_own_name(name), _own_name(name))
        if word in seen and not SOAK:
            continue
        seen.add(word)
        given = desk.payload(agent, name)
        said = desk.call(agent, word, given)
        text = context_of(said, agent, given.get("hook_event_name", ""), prompt=word == "prompt")
        if word not in _ANSWERED:
            assert said.is_silent, name
        if text:
            answered.add(word)
            assert "pnpm" in text
    # Cline gives the model nothing that told could say; its session is not known by a folder in opencode.
    assert "start" in answered or agent == "opencode"


@pytest.mark.parametrize("agent", AGENTS)
def test_event_may_have_the_agents_own_name(desk: Desk, agent: str) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    payload = typed(desk, ASKED, agent, "one")
    name = payload.get("hook_event_name", "userPromptSubmitted")
    own = desk.ask(agent, name, payload)
    assert own
    assert own == desk.ask(agent, "prompt", typed(desk, ASKED, agent, "two"))


@pytest.mark.parametrize("teacher", AGENTS)
def test_memory_from_one_agent_reaches_all_others(desk: Desk, teacher: str) -> None:
    assert desk.call(teacher, "prompt", typed(desk, TAUGHT, teacher, "teaching")).code == 0
    assert desk.texts() == ["We use pnpm here, never npm."]
    for agent in AGENTS:
        if agent == teacher:
            continue
        at_prompt = desk.ask(agent, "prompt", typed(desk, ASKED, agent, f"{agent}-1"))
        at_start = desk.ask(agent, "start", begun(desk, agent, f"{agent}-2"))
        assert "pnpm" in json.dumps(at_prompt), agent
        assert "pnpm" in json.dumps(at_start), agent


def test_second_session_gets_briefs_at_start_and_prompt(desk: Desk) -> None:
    """As installed, with a process for each call, from Codex to Claude Code, Gemini CLI and Copilot CLI."""
    assert "told saved" in desk.call("codex", "prompt", typed(desk, TAUGHT, "codex", "one")).out
    for agent, start, prompt in (
        ("claude-code", "SessionStart", "UserPromptSubmit"), ("gemini-cli", "SessionStart", "BeforeAgent"),
        ("copilot-cli", "", ""), ("cursor", "", ""),
    ):  # fmt: skip
        said = desk.call(agent, "prompt", typed(desk, ASKED, agent, f"{agent}-prompt"))
        assert "pnpm" in context_of(said, agent, prompt, prompt=True)
        assert "you in codex" in said.out
        said = desk.call(agent, "start", begun(desk, agent, f"{agent}-start"))
        assert "pnpm" in context_of(said, agent, start)


def test_long_briefs_stay_within_agent_limits(desk: Desk) -> None:
    """Codex counts bytes, and cuts what is longer in its middle; Claude Code counts characters."""
    texts = [
        f"ルール{number}: データベースの移行は必ず" + "本番環境の前にレビューする" * 20
        for number in range(30)
    ]
    assert desk.told("remember", "--lock", "--scope", "global", "--items", json.dumps(texts)).code == 0
    for agent in ("claude-code", "codex"):
        said = desk.call(agent, "start", begun(desk, agent, "long"))
        assert "データベース" in context_of(said, agent, "SessionStart")
        said = desk.call(agent, "prompt", typed(desk, "データベースの移行を本番環境で実行", agent, "other"))
        context_of(said, agent, "UserPromptSubmit", prompt=True)


@pytest.mark.parametrize("agent", ["windsurf", "aider", "generic"])
def test_agent_without_context_only_teaches(desk: Desk, agent: str) -> None:
    payload = {"session_id": "w", "cwd": desk.project, "prompt": TAUGHT, "hook_event_name": "pre_user_prompt"}
    assert desk.ask(agent, "prompt", payload) == {}
    assert len(desk.texts()) == 1
    assert desk.ask(agent, "prompt", payload | {"session_id": "x", "prompt": ASKED}) == {}


def test_every_event_is_silent_without_memories(desk: Desk) -> None:
    for event in EVENTS:
        assert desk.call("claude-code", event, begun(desk)).is_silent


def test_told_hook_command_gives_the_same_answer(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    program = (sys.executable, "-m", "told", "hook")
    wrong = ((), ("claude-code",), ("claude-code", "nothing"), ("x", "prompt", "more"))
    said = desk.start((*program, "claude-code", "prompt"), typed(desk, ASKED))
    assert not said.out or "pnpm" in context_of(said, "claude-code", "UserPromptSubmit", prompt=True)
    for words in wrong if SOAK else wrong[2:]:
        assert desk.start((*program, *words), b"{").is_silent
