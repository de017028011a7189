"""Keep the last to-do list of each turn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import Machine
from told.agents.reading import describe_call, parse_plan, parse_tasks, split_plan
from told.hook.context import open_sessions
from told.ingest.complete_sessions import CompleteSessions
from told.store.sessions.read import Filter

if TYPE_CHECKING:
    from pathlib import Path

_SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Machine:
    """An empty machine."""
    return Machine(tmp_path, capsys)


def _steps(machine: Machine) -> list[str]:
    home = str(machine.told_home)
    connection = open_sessions(home)
    assert connection is not None
    reading = CompleteSessions(connection, home)
    session = reading.sessions(Filter(), 1)[0]
    found = [turn.steps for turn in reading.turns(session.id)]
    connection.close()
    return found


def _line(kind: str, number: int, content: Any) -> str:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "model": "m", "type": "message"}
    return json.dumps({
        "type": kind, "sessionId": _SESSION, "uuid": f"u-{number}", "cwd": "/home/dev/shop",
        "message": message, "timestamp": f"2026-11-15T12:00:{number:02}.000Z",
    })  # fmt: skip


def _call(number: int, tool: str, **given: Any) -> str:
    used = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}
    return _line("assistant", number, [used])


def _todos(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"content": words, "status": status} for words, status in pairs]


def test_reading_in_portions_keeps_the_last_plan(machine: Machine) -> None:
    lines = [
        _line("user", 0, "Add pages to the API"),
        _call(1, "TodoWrite", todos=_todos(("Read", "in_progress"), ("Write", "pending"))),
        _call(2, "Bash", command="ls"),
        _call(3, "TodoWrite", todos=_todos(("Read", "completed"), ("Write", "in_progress"))),
        _call(4, "Bash", command="make test"),
    ]
    path = f".claude/projects/-home-dev-shop/{_SESSION}.jsonl"

    for count in range(1, len(lines) + 1):
        machine.write(path, "".join(f"{line}\n" for line in lines[:count]))
        assert machine.told("index").code == 0

    wanted = "[TodoWrite]\n[Bash] ls\n[TodoWrite]\n[Bash] make test\nplan: [x] Read; [>] Write"
    assert _steps(machine) == [wanted]
    assert machine.told("rebuild").code == 0
    assert _steps(machine) == [wanted]


def test_long_turn_keeps_its_plan(machine: Machine) -> None:
    many = [_call(n % 60, "Bash", command=f"echo {n} {'x' * 150}") for n in range(100)]
    last = _call(59, "TodoWrite", todos=_todos(("Write the docs", "pending")))
    lines = [_line("user", 0, "Add pages to the API"), *many, last]
    machine.write(f".claude/projects/-home-dev-shop/{_SESSION}.jsonl", "".join(f"{line}\n" for line in lines))
    machine.told("index")

    (steps,) = _steps(machine)
    assert steps.endswith("\nplan: [ ] Write the docs")
    assert "echo 99" not in steps


def test_codex_plan_is_read(machine: Machine) -> None:
    def line(kind: str, **payload: Any) -> str:
        return json.dumps({"timestamp": "2026-11-15T12:00:00.000Z", "type": kind, "payload": payload}) + "\n"

    def item(**said: Any) -> str:
        return line("event_msg", type="item_completed", item=said)

    plan = {"plan": [{"step": "Read", "status": "completed"}, {"step": "Write", "status": "pending"}]}
    text = "".join((
        line("session_meta", id=_SESSION, cwd="/home/dev/shop", timestamp="2026-11-15T12:00:00.000Z"),
        item(type="UserMessage", id="i-1", content=[{"type": "text", "text": "Add pages to the API"}]),
        line("response_item", type="function_call", name="update_plan", arguments=json.dumps(plan)),
        item(type="AgentMessage", id="i-2", content=[{"type": "Text", "text": "I read it."}]),
    ))  # fmt: skip
    machine.write(f".codex/sessions/2026/11/15/rollout-2026-11-15T12-00-00-{_SESSION}.jsonl", text)
    machine.told("index")

    assert _steps(machine) == ["[update_plan]\nplan: [x] Read; [ ] Write"]


@pytest.mark.parametrize(
    "given",
    [
        {"todos": "no list"}, {"todos": [1, 2]}, {"todos": [{"content": 3, "status": "pending"}]},
        {"todos": [{"content": "Read"}]}, {"plan": "Deploy on Friday"}, {"plan": {"a": 1}}, {"todos": []}, {},
    ],
)  # fmt: skip
def test_plan_lookalike_is_ignored(given: dict[str, Any]) -> None:
    assert split_plan(describe_call("anything", given))[1] == ""


def test_plan_items_with_marks_stay_intact() -> None:
    todos = _todos(("Read a; then [x] b", "pending"), ("A line\nand another", "completed"), ("; ", "pending"))

    found = parse_plan(split_plan(describe_call("TodoWrite", {"todos": todos}))[1])

    assert found[0] == (" ", "Read a; then [x] b")
    assert found[1][0] == "x"
    assert "\n" not in found[1][1]


def test_tasks_are_numbered_and_unknown_ones_ignored() -> None:
    lines = [
        describe_call("TaskCreate", {"subject": "Read it", "description": "x"}),
        describe_call("TaskUpdate", {"taskId": "7", "status": "completed"}),
        describe_call("TaskUpdate", {"taskId": "a", "status": "completed"}),
        describe_call("TaskUpdate", {"taskId": "1", "status": "deleted"}),
    ]

    assert parse_tasks(lines) == [("-", "Read it")]
