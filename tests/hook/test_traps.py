"""What real agents do that nobody would expect: each of it was seen in a run of the real program."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from tests.hook.desk import (
    ASKED,
    PATIENCE,
    TAUGHT,
    Desk,
    Said,
    begun,
    installed,
    recorded,
    said_to_model,
    typed,
)
from tests.hook.forms import denies

_TOLD = "<told>\nHolds here:\n- Always deploy with make ship. (rule, 2026-11-01, you in Codex)\n</told>"
_MACHINES_WORD = (
    "<task-notification>\n<task-id>a1</task-id>\n<result>No, we never use npm, always use pnpm.</result>"
    "\n</task-notification>"
)
_HOOKS = ".cursor/hooks.json"


def test_empty_prompt_after_tools_in_qwen_gets_no_answer(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    first = desk.payload("qwen-code", "UserPromptSubmit", prompt=ASKED)
    assert "pnpm" in said_to_model(desk.ask("qwen-code", "prompt", first))
    second = desk.payload("qwen-code", "UserPromptSubmit-empty")
    assert second["prompt"] == ""
    assert desk.call("qwen-code", "prompt", second).is_silent
    assert len(desk.texts()) == 1


def test_hook_context_in_gemini_prompts_is_ignored(desk: Desk) -> None:
    real = json.loads(recorded("gemini-cli", "BeforeAgent"))["prompt"]
    assert real.startswith("<hook_context>")
    given = real.replace("What a hook handed over before.", _TOLD)
    assert desk.prompt(given, "gemini-cli") == ""
    assert desk.texts() == []
    desk.prompt(f"<hook_context>{_TOLD}</hook_context>\n\n{TAUGHT}", "gemini-cli")
    assert desk.texts() == ["We use pnpm here, never npm."]


def test_escaped_hook_context_in_gemini_prompts_is_ignored(desk: Desk) -> None:
    """It turns the brackets of told's tags into entities before it wraps them in its own."""
    escaped = _TOLD.replace("<", "&lt;").replace(">", "&gt;")
    desk.prompt(f"<hook_context>{escaped}</hook_context>\n\nRun the tests", "gemini-cli")
    assert desk.texts() == []


@pytest.mark.parametrize(
    "text",
    [
        _MACHINES_WORD,
        "<command-name>/model</command-name>\n<command-message>always use pnpm, never npm</command-message>",
        "<local-command-stdout>No, always use pnpm here, never npm.</local-command-stdout>",
        f"<system-reminder>{TAUGHT}</system-reminder>",
    ],
)
def test_prompt_written_by_claude_itself_is_ignored(desk: Desk, text: str) -> None:
    assert desk.told("remember", "Deploys of the npm result need the pnpm lock file.").code == 0
    before = desk.texts()
    assert desk.prompt(text) == ""
    assert desk.texts() == before


def test_only_one_hook_answers_when_cursor_runs_both(desk: Desk) -> None:
    """Where told is not in Cursor's own hooks, Claude Code's answers; where it is, only that one does."""
    desk.prompt(TAUGHT, session="elsewhere")
    payload = typed(desk, ASKED, session="in-cursor") | {"cursor_version": "3.1.0"}
    assert "pnpm" in said_to_model(desk.ask("claude-code", "prompt", payload))
    words = " ".join(installed("cursor", "prompt"))
    hooks = {"version": 1, "hooks": {"beforeSubmitPrompt": [{"command": words}]}}
    desk.write(_HOOKS, json.dumps(hooks))
    for again in (payload | {"session_id": "two"}, payload | {"session_id": "three", "prompt": TAUGHT}):
        assert desk.ask("claude-code", "prompt", again) == {}
    by_variable = typed(desk, ASKED, session="four")
    assert desk.ask("claude-code", "prompt", by_variable, CURSOR_VERSION="3.1.0") == {}
    assert "pnpm" in said_to_model(desk.ask("claude-code", "prompt", by_variable))
    own = typed(desk, ASKED, "cursor", "five")
    assert "pnpm" in said_to_model(desk.ask("cursor", "prompt", own, CURSOR_VERSION="3.1.0"))


def test_project_hook_of_cursor_answers_instead_of_claude_code(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    desk.write(f"code/acme-api/{_HOOKS}", '{"hooks": {"stop": [{"command": "x -c told.hook"}]}}')
    payload = typed(desk, ASKED, session="in-cursor") | {"cursor_version": "3.1.0"}
    assert desk.ask("claude-code", "prompt", payload) == {}


def test_claude_code_hook_answers_if_cursor_has_no_hook_of_told(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    desk.write(_HOOKS, '{"hooks": {"stop": [{"command": "say done"}]}}')
    payload = typed(desk, ASKED, session="in-cursor") | {"cursor_version": "3.1.0"}
    assert "pnpm" in said_to_model(desk.ask("claude-code", "prompt", payload))


def test_resumed_gemini_session_gets_its_brief_again(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in said_to_model(desk.ask("gemini-cli", "start", begun(desk, "gemini-cli")))
    assert desk.prompt(ASKED, "gemini-cli") == ""
    resumed = desk.payload("gemini-cli", "SessionStart-resume", session_id="s-1")
    assert "pnpm" in said_to_model(desk.ask("gemini-cli", "start", resumed))


def test_resumed_claude_session_is_not_shown_memories_again(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in desk.prompt(ASKED)
    desk.ask("claude-code", "start", begun(desk, source="resume"))
    assert desk.prompt(ASKED) == ""


@pytest.mark.parametrize("agent", ["copilot-cli", "cursor"])
def test_answers_never_block_strict_agents(desk: Desk, agent: str) -> None:
    """Copilot CLI denies a tool on any failure, Cursor blocks a prompt on an answer that it cannot read."""
    desk.prompt(TAUGHT, session="elsewhere")
    for event in ("start", "prompt", "compact", "compacted", "stop", "end", "helper", "tool"):
        payload = typed(desk, ASKED, agent, event) | {"toolName": "bash", "toolArgs": '{"command": "npm i"}'}
        said = desk.call(agent, event, payload | {"tool_name": "Shell", "tool_input": {"command": "npm i"}})
        assert (said.code, said.err) == (0, "")
        assert not denies(said.json if said.out else {})


def _nested(depth: int) -> bytes:
    return b'{"prompt": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" \n", b"{", b'{"prompt": "unended', b"[]", b'["prompt"]', b"null", b'"prompt"', b"12", b"{}",
        b"\xff\xfe\x00{}", b'{"prompt": "\xff\xfe caf\xe9"}', b'{"prompt": NaN}', b'{"prompt": 1}',
        b'{"prompt": "a"}{"prompt": "b"}', b"\x00" * 1000, _nested(10_000), _nested(1_000_000),
        b'{"n": ' + b"9" * 100_000 + b"}",
    ],
    ids=lambda raw: f"{raw[:12]!r} {len(raw)}",
)  # fmt: skip
def test_malformed_call_gets_no_answer(desk: Desk, raw: bytes) -> None:
    assert desk.call("claude-code", "prompt", raw).is_silent


def test_call_of_five_megabytes_gets_no_answer(desk: Desk) -> None:
    payload = typed(desk, TAUGHT + " x" * 2_600_000)
    assert desk.call("claude-code", "prompt", payload).is_silent


def test_long_prompt_is_answered(desk: Desk) -> None:
    """A megabyte of a log below the question; the question counts."""
    desk.prompt(TAUGHT, session="elsewhere")
    payload = typed(desk, f"{ASKED}\n" + "2026-11-16 12:00:00 INFO worker started\n" * 25_000)
    said = desk.call("claude-code", "prompt", payload)
    assert (said.code, said.err) == (0, "")
    assert "pnpm" in said.out


@pytest.mark.soak
def test_client_ends_if_input_never_ends(desk: Desk) -> None:
    """The client ends itself after a minute."""
    process = subprocess.Popen(
        installed("claude-code", "prompt"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=desk.environ,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b'{"prompt": "half a')
    process.stdin.flush()
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert process.returncode == 0
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read() + process.stderr.read() == b""
    process.stdin.close()
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize(
    "words",
    [(), ("claude-code",), ("nobody", "nothing"), ("claude-code", "Nonsense"), ("", ""), ("--help", "-x")],
)
def test_unknown_event_gets_no_answer(desk: Desk, words: tuple[str, ...]) -> None:
    program = installed("", "")[:4]
    assert desk.start((*program, *words), json.dumps(typed(desk, ASKED)).encode()).is_silent


def test_unknown_agent_is_answered_like_claude_code(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    said: Said = desk.call("newcomer", "UserPromptSubmit", typed(desk, ASKED))
    assert said.json["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "pnpm" in said.out
