"""What a user of Qwen Code finds again."""

from __future__ import annotations

import json
from pathlib import Path

from told.agents.base import Folder, find_roots, find_sources
from told.agents.qwen_code import AGENT
from told.model import Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch

HOME = Path(__file__).parents[1] / "data" / "agents" / "qwen-code" / "0.24.4"
SESSION = "7ed45ea3-ad95-4be7-80d4-36069c498a85"
HELPER = f"{SESSION}/general-purpose-call_3c48650d65d84ca19c3cdc31"


def sources(home: Path) -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, {"HOME": str(home)}))
    return [entry[0] for entry in found if not isinstance(entry, Folder)]


def read_home(home: Path) -> list[Event | Problem]:
    return [event for source in sources(home) for event in AGENT.read(source, Cursor())]


def said(events: list[Event | Problem], who: str, session: str, form: str = "text") -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, Message) and (event.who, event.form, event.session) == (who, form, session)
    ]


def log(home: Path, *lines: object) -> Path:
    path = home / ".qwen" / "projects" / "-p" / "chats" / "s.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return home


def test_reads_prompts_without_hook_output() -> None:
    events = read_home(HOME)
    assert said(events, "user", SESSION) == [
        "Create a file hello.py with a greet function, then run it",
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! Always keep secrets out of git. 絶対に",
        "Plan the work",
        "Delegate the exploration to a sub-agent",
        "Use the memory tool please",
    ]
    assert "Renamed greet to salute in hello.py." in said(events, "agent", SESSION)
    assert not [event for event in events if isinstance(event, Message) and "MEMO-" in event.text]
    assert not [event for event in events if isinstance(event, Problem)]


def test_reads_tool_calls_and_touched_files() -> None:
    events = read_home(HOME)
    assert "[mcp__memo__recall] héllo from the model ☕" in said(events, "agent", SESSION, "step")
    touched = [(event.path.rpartition("/")[2], event.how) for event in events if isinstance(event, Touch)]
    assert touched == [
        ("hello.py", "create"),
        ("hello.py", "read"),
        ("hello.py", "edit"),
        ("hello.py", "edit"),
    ]


def test_reads_folder_and_branch() -> None:
    facts = next(event for event in read_home(HOME) if isinstance(event, Facts))
    assert (facts.cwd, facts.branch) == ("/home/dev/worktable/repos/qwen", "feature/greeting")
    assert facts.started == 1794772216320


def test_compression_summary_is_a_checkpoint() -> None:
    checkpoint = next(event for event in read_home(HOME) if isinstance(event, Checkpoint))
    assert (checkpoint.number, checkpoint.title) == (1, "Compaction summary")
    assert checkpoint.overview.startswith("1. Primary Request: create hello.py")
    assert checkpoint.overview.endswith("4. Pending: none.")


def test_helper_has_a_parent_and_no_user_messages() -> None:
    events = read_home(HOME)
    facts = next(event for event in events if isinstance(event, Facts) and event.session == HELPER)
    assert (facts.kind, facts.parent) == ("subagent", SESSION)
    assert said(events, "user", HELPER) == []
    assert said(events, "agent", HELPER)[-1] == "Sub-agent report: hello.py, README.md, .gitignore"


def test_reads_logs_without_provenance(tmp_path: Path) -> None:
    parts = [{"text": "<system-reminder>x</system-reminder>"}, {"text": "Use tabs"}]
    log(
        tmp_path,
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"parts": parts}},
        {
            "type": "assistant",
            "uuid": "a",
            "message": {"parts": [{"text": "hm", "thought": True}, {"text": "ok"}]},
        },
    )
    events = read_home(tmp_path)
    assert said(events, "user", "s") == ["Use tabs"]
    assert said(events, "agent", "s", "step") == ["hm"]
    assert [event.key for event in events if isinstance(event, Message)] == ["u", "a#thought0", "a"]


def test_reads_who_gave_the_title(tmp_path: Path) -> None:
    title = {"type": "system", "subtype": "custom_title", "sessionId": "s"}
    auto = title | {"systemPayload": {"customTitle": "Tabs", "titleSource": "auto"}}
    manual = title | {"systemPayload": {"customTitle": "My tabs", "titleSource": "manual"}}
    log(tmp_path, auto, auto, manual, auto)
    facts = [event for event in read_home(tmp_path) if isinstance(event, Facts) and event.title]
    assert [(event.title, event.title_by) for event in facts] == [("Tabs", "agent"), ("My tabs", "user")]


def test_resumes_an_interrupted_read(tmp_path: Path) -> None:
    for source in sources(HOME):
        content = Path(source.path).read_bytes()
        copy = tmp_path / Path(source.path).name
        copy.write_bytes(content)
        here = Source(AGENT.name, str(copy), source.layout)
        whole = [event for event in AGENT.read(here, Cursor()) if not isinstance(event, Mark)]
        for cut in range(1, len(content), max(1, len(content) // 60)):
            copy.write_bytes(content[:cut])
            first = list(AGENT.read(here, Cursor()))
            marks = [event.cursor for event in first if isinstance(event, Mark)]
            copy.write_bytes(content)
            rest = list(AGENT.read(here, marks[-1] if marks else Cursor()))
            assert [event for event in first + rest if not isinstance(event, Mark)] == whole


def test_survives_records_of_any_shape(tmp_path: Path) -> None:
    odd: list[object] = [None, 1, [], {}, [[]], [None], "x", {"a": {}}]
    lines: list[object] = []
    for value in odd:
        for kind in ("user", "assistant", "system", value):
            names = ("message", "systemPayload", "subtype", "uuid", "cwd", "model", "timestamp", "provenance")
            lines.append({"type": kind} | dict.fromkeys(names, value))
            lines.append(
                {"type": kind, "message": {"parts": [value, {"text": value, "functionCall": value}]}}
            )
        lines.append(
            {"type": "system", "subtype": "chat_compression", "systemPayload": {"compressedHistory": value}}
        )
    lines.append({"type": "user", "sessionId": "s", "message": {"parts": [{"text": "still here"}]}})
    assert said(read_home(log(tmp_path, *lines)), "user", "s")[-1] == "still here"
