"""What a user gets from Cline's CLI and from its editor extension."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from told.agents.base import find_roots, find_sources
from told.agents.cline import AGENT as CLINE
from told.model import AGENT, USER, Checkpoint, Cursor, Facts, Message, Problem, Source, Touch

if TYPE_CHECKING:
    from typing import Any

DATA = Path(__file__).parent.parent / "data" / "agents" / "cline"
MAIN = "1794773434066_8xmjo"


def read(home: Path, **environ: str) -> list[Any]:
    found = find_sources(CLINE, find_roots(CLINE, {"HOME": str(home), **environ}))
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [event for source in sources for event in CLINE.read(source, Cursor())]


def said(events: list[Any], who: str, form: str = "text") -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, Message) and (event.who, event.form) == (who, form)
    ]


def test_unwraps_prompts() -> None:
    assert said(read(DATA / "cli"), USER) == [
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! 絶対に",
        "Delegate the exploration to a sub-agent",
        "Use the memory tool please",
    ]


def test_reads_facts_from_the_manifest() -> None:
    facts = {event.session: event for event in read(DATA / "cli") if isinstance(event, Facts)}
    main, helper = facts[MAIN], facts[f"{MAIN}__agent_1794773494828_v76oz5"]
    assert main.cwd == helper.cwd == "/home/dev/worktable/repos/cline"
    assert (main.branch, main.repository) == ("feature/greeting", "https://github.com/acme/demo.git")
    assert (main.title, main.started) == ("No, wrong name. Rename greet to salute please", 1794773434069)
    assert (helper.kind, helper.parent, helper.title) == ("subagent", MAIN, "")


def test_attributes_helper_prompts_to_the_agent() -> None:
    helper = [
        event for event in read(DATA / "cli") if isinstance(event, Message) and "__agent_" in event.session
    ]
    assert helper[0].text == "Explore: list the files of this repository and report."
    assert {event.who for event in helper} == {AGENT}


def test_tool_calls_are_steps_with_the_files_they_touch() -> None:
    events = read(DATA / "cli")
    path = "/home/dev/worktable/repos/cline/hello.py"
    assert said(events, AGENT, "step")[:2] == [f"[read_files] {path}", f"[editor] {path}"]
    assert "[run_commands] python3 -m pytest_does_not_exist tests/; exit 3" in said(events, AGENT, "step")
    touches = [(event.path, event.how) for event in events if isinstance(event, Touch)]
    assert touches == [(path, "read"), (path, "edit"), (path, "edit")]


def test_reads_compaction_file_as_checkpoint() -> None:
    (checkpoint,) = [event for event in read(DATA / "cli") if isinstance(event, Checkpoint)]
    assert (checkpoint.session, checkpoint.number, checkpoint.at) == (MAIN, 1, 1794773517861)
    assert checkpoint.overview.startswith("Create greeting script")
    assert checkpoint.important_files == "/home/dev/worktable/repos/cline/hello.py"


def test_failed_call_touches_no_file(tmp_path: Path) -> None:
    folder = tmp_path / ".cline/data/sessions/s1"
    folder.mkdir(parents=True)
    call = {"type": "tool_use", "id": "c1", "name": "editor", "input": {"path": "/x.py", "old_text": "a"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": '{"success": false, "error": "no match"}',
    }
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    (folder / "s1.messages.json").write_text(json.dumps({"sessionId": "s1", "messages": messages}))
    events = read(tmp_path)
    assert said(events, AGENT, "step") == ["[editor] /x.py", "(failed)"]
    assert not [event for event in events if isinstance(event, Touch)]
    assert Problem(0, "manifest: no such file or directory") in events


def test_a_task_of_the_editor_extension() -> None:
    events = read(DATA / "extension")
    assert said(events, USER) == [
        "Add a health check to the server\nIt should answer ok.",
        "Use /healthz, not /health",
    ]
    assert said(events, AGENT) == [
        "I will read the server.",
        "The health check is in place.",
        "Should /health redirect?",
    ]
    (facts,) = [event for event in events if isinstance(event, Facts)]
    assert (facts.cwd, facts.title) == ("/home/dev/shop", "Add a health check to the server")
    assert (facts.started, facts.model) == (1794810000000, "mock-model")
    touches = [(event.path, event.how) for event in events if isinstance(event, Touch)]
    assert touches == [("/home/dev/shop/src/app.ts", "read"), ("/home/dev/shop/src/health.ts", "create")]


def test_reads_prompts_without_ui_messages_and_ignores_file_contents() -> None:
    events = read(DATA / "moved")
    assert said(events, USER) == ["Pin the node version", "Use 22, not 20"]
    assert [event.cwd for event in events if isinstance(event, Facts)] == ["/home/dev/shop"]
    touches = [(event.path, event.how) for event in events if isinstance(event, Touch)]
    assert touches == [("/home/dev/shop/package.json", "read"), ("/home/dev/shop/package.json", "edit")]


@pytest.mark.parametrize("editor", ["Code", "Code - Insiders", "VSCodium", "Cursor"])
def test_finds_tasks_of_every_editor(editor: str, tmp_path: Path) -> None:
    task = tmp_path / ".config" / editor / "User/globalStorage/saoudrizwan.claude-dev/tasks/1794810000000"
    task.mkdir(parents=True)
    (task / "api_conversation_history.json").write_text("[]")
    (task / "ui_messages.json").write_text(
        json.dumps([{"ts": 1, "type": "say", "say": "task", "text": "Hi"}])
    )
    assert said(read(tmp_path), USER) == ["Hi"]


def test_cline_dir_moves_only_the_cli_folder(tmp_path: Path) -> None:
    moved = str(DATA / "cli" / ".cline")
    assert len(said(read(DATA / "extension", CLINE_DIR=moved), USER)) == 5 + 2
