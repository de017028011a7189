"""Which tool calls failed is known of every agent whose records say so; their output is not kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from told.agents import all_agents
from told.agents.base import find_roots, find_sources
from told.agents.reading import FAILED, REFUSED, describe_call
from told.model import AGENT, Cursor, Mark, Message, Source

if TYPE_CHECKING:
    from typing import Any

DATA = Path(__file__).parent.parent / "data" / "agents"
AGENTS = all_agents()
MISSING = "python3 -m pytest_does_not_exist tests/; exit 3"


def steps(agent: str, source: Source) -> list[str]:
    return [
        event.text
        for event in AGENTS[agent].read(source, Cursor())
        if isinstance(event, Message) and event.who == AGENT and event.form == "step"
    ]


@pytest.mark.parametrize(
    "home",
    [
        "claude-code/old-2.1.76",
        "claude-code/print-mode-with-hooks",
        "cline/cli",
        "codex/exec-classic-tools",
        "codex/exec-codemode",
        "copilot-cli/run",
        "gemini-cli/0.61.0",
        "opencode/database",
        "qwen-code/0.24.4",
    ],
)
def test_marks_only_the_failed_command(home: str) -> None:
    agent = home.partition("/")[0]
    found = find_sources(AGENTS[agent], find_roots(AGENTS[agent], {"HOME": str(DATA / home)}), [])
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    told = [line for source in sources for line in [*steps(agent, source), ""]]
    at = [index for index, line in enumerate(told) if line.endswith(f"] {MISSING}")]
    assert at
    assert all(told[index + 1] == FAILED for index in at)
    printed = [index for index, line in enumerate(told) if "cat .gitignore" in line]
    assert all(told[index + 1] != FAILED for index in printed)


def claude_line(kind: str, content: Any, **beside: Any) -> str:
    message = {"id": "m1", "role": kind, "content": content}
    line = {"type": kind, "sessionId": "s", "uuid": "u", "message": message, **beside}
    return json.dumps(line, separators=(",", ":"))


def claude_call(call: str, command: str) -> str:
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
    return claude_line("assistant", [block])


def claude_result(call: str, *, failed: bool, **beside: Any) -> str:
    block = {"tool_use_id": call, "type": "tool_result", "content": "1 failed", "is_error": failed}
    return claude_line("user", [block], **beside)


def claude_steps(tmp_path: Path, *lines: str) -> list[str]:
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return steps("claude-code", Source("claude-code", str(path), "session"))


def test_counts_back_to_the_failed_call(tmp_path: Path) -> None:
    told = claude_steps(
        tmp_path,
        claude_call("a", "make lint"),
        claude_call("b", "make test"),
        claude_call("c", "make docs"),
        claude_result("b", failed=True),
        claude_result("a", failed=False),
        claude_result("c", failed=True),
    )
    assert told == ["[Bash] make lint", "[Bash] make test", "[Bash] make docs", "(failed) 1 back", FAILED]


def test_refused_call_is_no_failure(tmp_path: Path) -> None:
    told = claude_steps(
        tmp_path,
        claude_call("a", "git push --force"),
        claude_result("a", failed=True, toolUseResult="User rejected tool use"),
    )
    assert told == ["[Bash] git push --force", REFUSED]


def test_matches_a_failure_to_its_call_after_resuming(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    call, result = claude_call("a", "make test"), claude_result("a", failed=True)
    path.write_text(call + "\n")
    source = Source("claude-code", str(path), "session")
    mark = [event for event in AGENTS["claude-code"].read(source, Cursor()) if isinstance(event, Mark)][-1]
    assert "make test" not in mark.cursor.state  # a cursor keeps nothing that was said
    path.write_text(f"{call}\n{result}\n")
    (failure,) = (e for e in AGENTS["claude-code"].read(source, mark.cursor) if isinstance(e, Message))
    assert failure.text == FAILED


def codex_steps(tmp_path: Path, output: Any) -> list[str]:
    call = {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command":"make test"}'}
    result = {"type": "function_call_output", "call_id": "c", "output": output}
    path = tmp_path / "rollout-1.jsonl"
    lines = [{"type": "response_item", "payload": payload} for payload in (call, result)]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return steps("codex", Source("codex", str(path), "rollout"))


@pytest.mark.parametrize(
    "output",
    [
        "Exit code: 1\nWall time: 0.5 seconds\nOutput:\nboom",
        "Chunk ID: 8\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nboom",
        json.dumps({"output": "boom", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}),
        json.dumps({"output": "x" * 5000, "metadata": {"exit_code": -9}}, separators=(",", ":")),
        {"content": "boom", "success": False},
    ],
)
def test_finds_failures_in_older_codex_outputs(tmp_path: Path, output: Any) -> None:
    assert codex_steps(tmp_path, output) == ["[shell] make test", FAILED]


@pytest.mark.parametrize(
    "output",
    [
        "Exit code: 0\nWall time: 0.5 seconds\nOutput:\nProcess exited with code 1\nExit code: 1",
        json.dumps({"output": "exit_code: 1", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}),
        "plain words about Exit code: 1",
    ],
)
def test_ignores_exit_codes_in_output(tmp_path: Path, output: str) -> None:
    assert codex_steps(tmp_path, output) == ["[shell] make test"]


def test_keeps_commit_subject_and_later_commands() -> None:
    command = (
        "git add -A && git commit -m \"$(cat <<'EOF'\nfeat: add a cart\n\n"
        + "It holds things.\n" * 40
        + '\nEOF\n)" && git push'
    )
    line = describe_call("Bash", {"command": command})
    assert line.startswith("[Bash] git add -A && git commit -m \"$(cat <<'EOF' feat: add a cart ...")
    assert line.endswith("&& git push")
