"""What a user of Claude Code finds again: prompts, answers, files, titles, summaries."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from told.agents.base import Folder, find_roots, find_sources
from told.agents.claude_code import AGENT
from told.model import Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Ref, Source, Touch

DATA = Path(__file__).parents[1] / "data" / "agents" / "claude-code"
HOMES = sorted(path.name for path in DATA.iterdir())
MAIN, FORK = "cd5543a7-f99c-4ced-8e7f-53ad4568075c", "85c4d733-fa49-48c9-becc-bc1e690905c3"


def sources(home: str) -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, {"HOME": str(DATA / home)}))
    return [entry[0] for entry in found if not isinstance(entry, Folder)]


def read(path: str | Path, cursor: Cursor | None = None) -> list[Event | Problem]:
    return list(AGENT.read(Source(AGENT.name, str(path)), cursor or Cursor()))


def read_home(home: str) -> list[Event | Problem]:
    return [event for source in sources(home) for event in AGENT.read(source, Cursor())]


def said(events: list[Event | Problem], who: str, session: str = "", form: str = "text") -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, Message)
        and (event.who, event.form) == (who, form)
        and session in ("", event.session)
    ]


def write(folder: Path, *lines: object, name: str = "s1.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def user(content: object, **more: object) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "message": {"role": "user", "content": content},
    } | more


def agent(*blocks: object, **more: object) -> dict[str, object]:
    return {
        "message": {"id": "m1", "role": "assistant", "content": blocks},
        "type": "assistant",
        "sessionId": "s1",
    } | more


def test_reads_every_prompt_and_final_answer() -> None:
    events = read_home("print-mode-with-hooks")
    assert said(events, "user", MAIN) == [
        "Create a file hello.py with a greet function, then run it",
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! Always keep secrets out of git. 絶対に",
        "Delegate the exploration to a sub-agent",
        "Run the dangerous thing",
        "Plan the work",
        "Continue after compaction",
    ]
    answers = said(events, "agent", MAIN)
    assert "Renamed greet to salute in hello.py." in answers
    assert any("Root cause: pytest is not installed" in answer for answer in answers)


def test_finds_files_changed_by_the_shell() -> None:
    touched = [
        (e.path.rpartition("/")[2], e.how) for e in read_home("print-mode-with-hooks") if isinstance(e, Touch)
    ]
    assert touched == [
        ("hello.py", "create"),
        ("hello.py", "read"),
        ("hello.py", "edit"),
        ("hello.py", "edit"),
        (".gitignore", "edit"),
    ]


@pytest.mark.parametrize("home", HOMES)
def test_ignores_injected_text(home: str) -> None:
    events = read_home(home)
    texts = said(events, "user") + said(events, "agent") + said(events, "agent", form="step")
    assert texts
    for text in texts:
        assert "MEMO-" not in text
        assert not any(
            tag in text for tag in ("<system-reminder>", "<command-", "<local-command", "<task-not")
        )
    assert not [event for event in events if isinstance(event, Problem)]


def test_forks_copy_messages_with_the_same_keys() -> None:
    keys: dict[str, dict[str, str]] = {MAIN: {}, FORK: {}}
    for event in read_home("print-mode-with-hooks"):
        if isinstance(event, Message) and event.session in keys:
            keys[event.session][event.key] = event.text
    shared = keys[MAIN].keys() & keys[FORK].keys()
    assert {keys[MAIN][key] for key in shared} > {
        "Continue after compaction",
        "Okay — noted. (mock réponse ✓)",
    }
    assert "Fork: what did we decide?" in {keys[FORK][key] for key in keys[FORK].keys() - shared}


def test_helper_is_a_session_without_user_messages() -> None:
    events = read_home("print-mode-with-hooks")
    helper = f"{MAIN}/a106be584b7bcfbc0"
    facts = next(event for event in events if isinstance(event, Facts) and event.session == helper)
    assert (facts.kind, facts.parent) == ("subagent", MAIN)
    assert said(events, "user", helper) == []
    assert said(events, "agent", helper) == [
        "Explore: list the files of this repository and report.",
        "Sub-agent report: hello.py, README.md, .gitignore",
    ]


@pytest.mark.parametrize("home", ["interactive", "old-2.1.76", "print-mode-with-hooks"])
def test_compaction_summary_is_a_checkpoint(home: str) -> None:
    summaries = [event for event in read_home(home) if isinstance(event, Checkpoint)]
    assert summaries
    for event in summaries:
        assert (event.number, event.title) == (1, "Compaction summary")
        assert event.overview.startswith("Summary:\n1. Primary Request: create hello.py")
        assert event.overview.endswith("4. Pending: none.")


def test_title_by_user_wins() -> None:
    facts = [event for event in read_home("interactive") if isinstance(event, Facts) and event.title]
    titles = [(event.title, event.title_by) for event in facts if event.session.startswith("471d26b9")]
    assert titles == [("greeting work", "user")]


def test_custom_title_line_replaces_the_agents_title(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"type": "ai-title", "aiTitle": "Create greeting script", "sessionId": "s1"},
        {"type": "custom-title", "customTitle": "greeting work", "sessionId": "s1"},
        {"type": "ai-title", "aiTitle": "Another title", "sessionId": "s1"},
    )
    titles = [(event.title, event.title_by) for event in read(path) if isinstance(event, Facts)]
    assert titles == [("Create greeting script", "agent"), ("greeting work", "user")]


def test_copies_of_version_1_share_message_keys() -> None:
    """A turn is known by its first answer's key; its prompt has another key in every copy."""
    turns: dict[str, str] = {}
    copies = 0
    for source in sources("old-1.0.61"):
        prompt = ""
        for event in AGENT.read(source, Cursor()):
            if isinstance(event, Message) and "/" not in event.session:
                if event.who == "user":
                    prompt = event.text
                elif event.form == "text" and prompt:
                    copies += 1
                    assert turns.setdefault(event.key, prompt) == prompt
                    prompt = ""
    assert copies > 20
    assert list(dict.fromkeys(turns.values())) == list(turns.values())
    assert set(turns.values()) == {
        "Create a file hello.py with a greet function, then run it",
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! 絶対に",
        "Delegate the exploration to a sub-agent",
        "Plan the work",
    }


def test_separates_helper_inside_the_callers_file() -> None:
    events = read_home("old-1.0.61")
    helper = "e1568d60-40be-4a1d-9b6b-d1e7a5f608a2/sidechain"
    assert said(events, "agent", helper)[-1] == "Sub-agent report: hello.py, README.md, .gitignore"
    assert said(events, "agent", helper, form="step") == ["[Bash] ls -a"]


def test_ignores_login_errors_as_titles() -> None:
    assert not [event for event in read_home("old-1.0.61") if isinstance(event, Facts) and event.title]


def test_summary_titles_the_session_of_its_leaf(tmp_path: Path) -> None:
    own = {"type": "summary", "summary": "Parser fixed", "leafUuid": "u1"}
    other = {"type": "summary", "summary": "Somebody else", "leafUuid": "elsewhere"}
    titles = [
        event.title for event in read(write(tmp_path, user("hi"), other, own)) if isinstance(event, Facts)
    ]
    assert titles == ["", "Parser fixed"]


def test_reads_command_arguments_as_prompt() -> None:
    assert said(read_home("plugin"), "user") == ["/memo:recall databases"]


@pytest.mark.parametrize(
    "content",
    [
        "<bash-input>ls</bash-input>",
        "<local-command-stdout>done</local-command-stdout>",
        "<command-name>/model</command-name>\n<command-args>opus</command-args>",
        [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
        [{"type": "text", "text": "<ide_opened_file>The user opened a.py</ide_opened_file>"}],
        [{"type": "image", "source": {"data": "AAAA"}}],
    ],
)
def test_ignores_terminal_echo(tmp_path: Path, content: object) -> None:
    assert said(read(write(tmp_path, user(content))), "user") == []


def test_removes_reminders_from_prompts(tmp_path: Path) -> None:
    path = write(
        tmp_path, user([{"type": "text", "text": "Use tabs<system-reminder>\nx\n</system-reminder>"}])
    )
    assert said(read(path), "user") == ["Use tabs"]


def test_reads_queued_prompts(tmp_path: Path) -> None:
    human = {
        "type": "queued_command",
        "prompt": "also the docs",
        "commandMode": "prompt",
        "origin": {"kind": "human"},
    }
    task = {"type": "queued_command", "prompt": "<task-notification>", "commandMode": "task-notification"}
    lines = [
        {"type": "attachment", "uuid": "a", "attachment": value} for value in (human, task, {"type": "file"})
    ]
    assert said(read(write(tmp_path, *lines)), "user") == ["also the docs"]


def test_reads_reasons_for_rejection_as_prompts(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed with this tool use."
    words = f"{refusal} To tell you how to proceed, the user said:\nuse uv"
    block = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": words}
    refused = user([block], toolUseResult="User rejected tool use")
    forged = user([block], toolUseResult=f"Error: {words}")
    assert said(read(write(tmp_path, forged, refused)), "user") == ["use uv"]


def test_commits_and_pull_requests_are_refs(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "git commit -m 'fix'"}}
    other = {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "cat log"}}
    path = write(
        tmp_path,
        agent(call),
        user(
            [{"type": "tool_result", "tool_use_id": "t1"}],
            toolUseResult={"stdout": "[main abc1234] fix\n 1 file"},
        ),
        agent(other),
        user([{"type": "tool_result", "tool_use_id": "t2"}], toolUseResult={"stdout": "[main fff1234] no\n"}),
        {"type": "pr-link", "sessionId": "s1", "prNumber": 7, "prUrl": "https://github.com/o/n/pull/7"},
    )
    refs = [(event.kind, event.value) for event in read(path) if isinstance(event, Ref)]
    assert refs == [("commit", "abc1234"), ("pr", "https://github.com/o/n/pull/7")]


def test_reads_thoughts_as_steps_and_ignores_api_errors(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        agent({"type": "thinking", "thinking": "hm"}),
        agent({"type": "text", "text": "one"}),
        agent({"type": "text", "text": "two"}),
        agent({"type": "text", "text": "API Error: 500"}, isApiErrorMessage=True),
    )
    events = [event for event in read(path) if isinstance(event, Message)]
    assert [(event.text, event.form, event.key) for event in events] == [
        ("hm", "step", "m1#thought"),
        ("one", "text", "m1"),
        ("two", "text", "m1#2"),
    ]


def test_ignores_warm_up_helpers(tmp_path: Path) -> None:
    warm = write(
        tmp_path,
        user("Warmup", isSidechain=True),
        agent({"type": "text", "text": "Ready"}),
        name="agent-1f.jsonl",
    )
    real = write(tmp_path, user("Look around", isSidechain=True, agentId="2f"), name="agent-2f.jsonl")
    assert [event for event in read(warm) if not isinstance(event, Mark)] == []
    assert said(read(real), "agent", "s1/2f") == ["Look around"]


def test_yields_changed_branch(tmp_path: Path) -> None:
    path = write(
        tmp_path, user("a", gitBranch="main"), user("b", gitBranch="main"), user("c", gitBranch="next")
    )
    assert [event.branch for event in read(path) if isinstance(event, Facts)] == ["main", "next"]


@pytest.mark.parametrize("home", HOMES)
def test_resumes_an_interrupted_read(home: str, tmp_path: Path) -> None:
    for source in sources(home):
        content = Path(source.path).read_bytes()
        path = tmp_path / Path(source.path).parent.name / Path(source.path).name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        whole = [event for event in read(path) if not isinstance(event, Mark)]
        for cut in range(1, len(content), max(1, len(content) // 40)):
            path.write_bytes(content[:cut])
            first = read(path)
            marks = [event.cursor for event in first if isinstance(event, Mark)]
            path.write_bytes(content)
            rest = read(path, marks[-1] if marks else Cursor())
            assert [event for event in first + rest if not isinstance(event, Mark)] == whole
        assert os.path.getsize(path) == len(content)


def test_survives_records_of_any_shape(tmp_path: Path) -> None:
    odd: list[object] = [None, 1, [], {}, [[]], [None], "x", {"a": {}}, "\ud800"]
    shapes: list[object] = []
    for kind in ("user", "assistant", "attachment", "summary", "pr-link", "ai-title", odd):
        for value in odd:
            names = (
                "message",
                "attachment",
                "toolUseResult",
                "uuid",
                "sessionId",
                "timestamp",
                "origin",
                "prUrl",
            )
            shapes.append({"type": kind} | dict.fromkeys(names, value))
            shapes.append({"type": kind, "message": {"content": value, "id": value, "model": value}})
            shapes.append({"type": kind, "message": {"content": [value, {"type": "text", "text": value}]}})
            shapes.append(
                {"type": kind, "message": {"content": [{"type": "tool_use", "id": value, "input": value}]}}
            )
    events = read(write(tmp_path, *shapes, user("still here")))
    assert said(events, "user")[-1] == "still here"


@pytest.mark.parametrize("home", HOMES)
def test_skipped_lines_have_no_events(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = read_home(home)
    monkeypatch.setattr("told.agents.claude_code.reader.has_no_events", lambda _raw, _awaited: False)
    assert read_home(home) == quick
