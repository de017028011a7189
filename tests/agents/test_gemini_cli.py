"""What a user of Gemini CLI finds again, from logs that are written over and from older documents."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from told.agents.base import Folder, find_roots, find_sources
from told.agents.gemini_cli import AGENT
from told.model import Begin, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch

DATA = Path(__file__).parents[1] / "data" / "agents" / "gemini-cli"
SESSION, HELPER = "d79ff396-fb49-4cda-bdc3-33c4b7b5a9f7", "39af579f-63f5-4158-b873-7d9037d09f15"


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


def chat(home: Path, *records: object, project: str = "p", name: str = "c.jsonl") -> Path:
    path = home / ".gemini" / "tmp" / project / "chats" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return home


def user(key: str, words: str) -> dict[str, object]:
    return {"id": key, "type": "user", "content": [{"text": words}], "timestamp": "2026-11-15T19:42:54.538Z"}


def test_reads_each_prompt_once_without_hook_text() -> None:
    events = read_home(DATA / "0.61.0")
    assert said(events, "user", SESSION) == [
        "Create a file hello.py with a greet function, then run it",
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! Always keep secrets out of git. 絶対に",
        "Plan the work",
        "Delegate the exploration to a sub-agent",
        "Use the memory tool please",
    ]
    assert said(events, "agent", SESSION).count("Renamed greet to salute in hello.py.") == 1
    assert not [event for event in events if isinstance(event, Message) and "MEMO-" in event.text]


def test_reads_tool_calls_and_touched_files() -> None:
    events = read_home(DATA / "0.61.0")
    assert said(events, "agent", SESSION, "step")[1] == "[run_shell_command] ls -la && python3 hello.py"
    touched = [(event.path.rpartition("/")[2], event.how) for event in events if isinstance(event, Touch)]
    assert touched == [
        ("hello.py", "create"),
        ("hello.py", "read"),
        ("hello.py", "edit"),
        ("hello.py", "edit"),
    ]


def test_file_left_by_a_resume_has_no_events() -> None:
    assert [event.session for event in read_home(DATA / "0.61.0") if isinstance(event, Begin)] == [
        SESSION,
        HELPER,
    ]
    stub = next(source for source in sources(DATA / "0.61.0") if "T19-44" in source.path)
    assert list(AGENT.read(stub, Cursor())) == [Mark(Cursor(Path(stub.path).stat().st_size))]


def test_helper_has_a_parent_and_no_user_messages() -> None:
    events = read_home(DATA / "0.61.0")
    facts = next(event for event in events if isinstance(event, Facts) and event.session == HELPER)
    assert (facts.kind, facts.parent) == ("subagent", SESSION)
    assert said(events, "user", HELPER) == []
    assert said(events, "agent", HELPER)[0] == "Explore: list the files of this repository and report."
    assert not any("final chance" in words for words in said(events, "agent", HELPER))


def test_finds_the_folder_in_the_project_list(tmp_path: Path) -> None:
    facts = [event for event in read_home(DATA / "0.61.0") if isinstance(event, Facts)]
    assert {event.cwd for event in facts} == {"/home/dev/worktable/repos/gemini"}
    digest = hashlib.sha256(b"/home/dev/old").hexdigest()
    chat(tmp_path, {"sessionId": "s", "projectHash": digest}, user("u", "hi"), project=digest)
    (tmp_path / ".gemini" / "projects.json").write_text('{"projects": {"/home/dev/old": "old"}}')
    assert [event.cwd for event in read_home(tmp_path) if isinstance(event, Facts)] == ["/home/dev/old"]


def test_finds_the_folder_in_the_file_beside_the_chats(tmp_path: Path) -> None:
    chat(tmp_path, {"sessionId": "s"}, user("u", "hi"))
    (tmp_path / ".gemini" / "tmp" / "p" / ".project_root").write_text("/home/dev/noted\n")
    assert [event.cwd for event in read_home(tmp_path) if isinstance(event, Facts)] == ["/home/dev/noted"]


def test_reads_documents_of_older_versions() -> None:
    events = read_home(DATA / "0.33.0")
    session = "6d8488e4-e70c-4236-82b6-88e76843a80a"
    assert said(events, "user", session) == [
        "Create a file hello.py with a greet function, then run it",
        "No, never commit .env files! 絶対に",
    ]
    assert [event.how for event in events if isinstance(event, Touch)] == ["create"]


def test_keeps_messages_before_a_compression(tmp_path: Path) -> None:
    snapshot = user("x", "<state_snapshot>goal: tabs</state_snapshot>")
    chat(
        tmp_path,
        {"sessionId": "s"},
        user("a", "Use tabs"),
        user("b", "Run it"),
        {"$set": {"messages": [snapshot, user("new-id", "Run it")]}},
        user("c", "Done?"),
    )
    events = read_home(tmp_path)
    assert said(events, "user", "s") == ["Use tabs", "Run it", "Done?"]
    assert [event.number for event in events if isinstance(event, Checkpoint)] == [1]


def test_removes_rewound_messages(tmp_path: Path) -> None:
    chat(
        tmp_path,
        {"sessionId": "s"},
        user("a", "one"),
        user("b", "two"),
        {"$rewindTo": "b"},
        user("c", "three"),
    )
    assert said(read_home(tmp_path), "user", "s") == ["one", "three"]


def test_survives_records_of_any_shape(tmp_path: Path) -> None:
    odd: list[object] = [None, 1, [], {}, [[]], [None], "x", {"a": {}}]
    records: list[object] = [{"sessionId": "s"}]
    for value in odd:
        names = ("content", "displayContent", "thoughts", "toolCalls", "timestamp", "type", "model")
        records.append({"id": f"i{len(records)}"} | dict.fromkeys(names, value))
        records.append(
            {"id": f"i{len(records)}", "type": "gemini", "toolCalls": [{"args": value, "status": value}]}
        )
        records.append(
            {"$set": {"messages": value, "sessionId": "s", "summary": value, "directories": value}}
        )
        records.append({"$set": {"messages": [{"type": value, "id": value, "content": [value]}]}})
        records.append({"$set": value, "$rewindTo": value})
    chat(tmp_path, *records, user("last", "still here"))
    assert said(read_home(tmp_path), "user", "s")[-1] == "still here"
