"""What a user of VS Code's Copilot Chat finds again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from told.agents.base import Folder, find_roots, find_sources
from told.agents.reading import file_path
from told.agents.vscode_copilot import AGENT
from told.model import Begin, Cursor, Event, Facts, Mark, Message, Problem, Ref, Source, Touch

if TYPE_CHECKING:
    from typing import Any

DATA = Path(__file__).parents[1] / "data" / "agents" / "vscode-copilot"
SESSION = "6a1f7e0c-1111-4a4a-9b9b-000000000001"


def sources(home: Path) -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, {"HOME": str(home)}))
    return [entry[0] for entry in found if not isinstance(entry, Folder)]


def read_home(home: Path) -> list[Event | Problem]:
    return [event for source in sources(home) for event in AGENT.read(source, Cursor())]


def said(events: list[Event | Problem], who: str, form: str = "text") -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, Message) and (event.who, event.form) == (who, form)
    ]


def write(home: Path, name: str, content: str) -> Path:
    path = home / ".config" / "Code" / "User" / "workspaceStorage" / "w" / "chatSessions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return home


def log(home: Path, *entries: object) -> Path:
    return write(home, "s.jsonl", "".join(json.dumps(entry) + "\n" for entry in entries))


def asked(question: str, **more: Any) -> dict[str, Any]:
    return {"requestId": question, "message": {"text": question}, "response": [], **more}


def test_reads_typed_questions_without_buttons() -> None:
    assert said(read_home(DATA / "log"), "user") == [
        "Add a discount of 10 % to the cart",
        "No. Never round prices, always keep cents",
    ]


def test_joins_answers_without_empty_fences() -> None:
    assert said(read_home(DATA / "log"), "agent") == [
        "I'll look at the cart first.",
        "Done: `total` now takes 10 % off.",
        "Understood, prices keep their cents.",
    ]


def test_reads_thoughts_and_tool_calls_as_steps() -> None:
    assert said(read_home(DATA / "log"), "agent", "step") == [
        "The cart is in cart.py.",
        "[copilot_readFile] Read cart.py, lines 1 to 40",
        "[run_in_terminal] pytest -q",
    ]


def test_reads_touched_files_once() -> None:
    events = read_home(DATA / "log")
    assert [(event.path, event.how) for event in events if isinstance(event, Touch)] == [
        ("/home/dev/web shop/cart.py", "read"),
        ("/home/dev/web shop/cart.py", "edit"),
    ]


def test_reads_facts_of_a_session() -> None:
    (facts,) = (event for event in read_home(DATA / "log") if isinstance(event, Facts))
    assert facts == Facts(
        SESSION,
        cwd="/home/dev/web shop",
        branch="discount",
        repository="https://github.com/dev/web-shop.git",
        title="Cart discount",
        started=1760000000000,
        model="claude-sonnet-4.5",
    )


def test_reads_documents_and_empty_windows() -> None:
    events = read_home(DATA / "document")
    assert said(events, "user") == ["What is WAL mode?", "Explain the parser"]
    assert said(events, "agent") == ["Readers do not block the writer.", "It reads tokens."]
    assert [event.cwd for event in events if isinstance(event, Facts)] == ["", "/home/dev/all"]
    assert [event.value for event in events if isinstance(event, Ref)] == [
        "https://github.com/dev/web-shop/pull/7"
    ]


def test_reports_a_bad_change_and_reads_the_rest(tmp_path: Path) -> None:
    home = log(
        tmp_path,
        {"kind": 0, "v": {"sessionId": "s", "requests": [asked("one")]}},
        {"kind": 1, "k": ["requests", 7, "response"], "v": []},
        {"kind": 9, "k": ["requests"]},
        {"kind": 2, "k": ["requests"], "v": [asked("two")]},
    )
    events = read_home(home)
    assert [event.line for event in events if isinstance(event, Problem)] == [2, 3]
    assert said(events, "user") == ["one", "two"]


def test_ignores_removed_requests(tmp_path: Path) -> None:
    home = log(
        tmp_path,
        {"kind": 0, "v": {"sessionId": "s", "requests": [asked("keep"), asked("undo")]}},
        {"kind": 2, "k": ["requests"], "i": 1},
        {"kind": 2, "k": ["requests"], "v": [asked("instead")]},
    )
    assert said(read_home(home), "user") == ["keep", "instead"]


def test_ignores_an_incomplete_last_line(tmp_path: Path) -> None:
    home = log(tmp_path, {"kind": 0, "v": {"sessionId": "s", "requests": [asked("one")]}})
    path = next(home.rglob("s.jsonl"))
    path.write_text(path.read_text() + '{"kind":2,"k":["requests"],"v":[')
    events = read_home(home)
    assert not any(isinstance(event, Problem) for event in events)
    assert said(events, "user") == ["one"]


def test_log_without_start_has_no_events(tmp_path: Path) -> None:
    home = write(tmp_path, "s.jsonl", "nonsense\n")
    events = read_home(home)
    assert [type(event) for event in events] == [Problem]


def test_ignores_documents_replaced_by_a_log(tmp_path: Path) -> None:
    state = {"sessionId": "s", "requests": [asked("one")]}
    write(tmp_path, "s.json", json.dumps(state))
    log(tmp_path, {"kind": 0, "v": state})
    assert said(read_home(tmp_path), "user") == ["one"]


def test_ignores_empty_sessions(tmp_path: Path) -> None:
    log(tmp_path, {"kind": 0, "v": {"sessionId": "s", "requests": []}})
    assert [type(event) for event in read_home(tmp_path)] == [Begin, Mark]


def test_reads_tool_arguments_from_the_models_calls(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "replace_string_in_file", "arguments": '{"filePath": "/p/a.py"}'}
    request = asked(
        "go",
        response=[
            {"kind": "toolInvocationSerialized", "toolId": "copilot_replaceString", "toolCallId": "c1"}
        ],
        result={"metadata": {"toolCallRounds": [{"toolCalls": [call]}]}},
    )
    events = read_home(log(tmp_path, {"kind": 0, "v": {"sessionId": "s", "requests": [request]}}))
    assert said(events, "agent", "step") == ["[copilot_replaceString] /p/a.py"]
    assert [(event.path, event.how) for event in events if isinstance(event, Touch)] == [("/p/a.py", "edit")]


def test_converts_uris_to_paths() -> None:
    assert file_path("file:///home/a%20b/c.py") == "/home/a b/c.py"
    assert file_path("file:///c%3A/code/a.py") == "c:/code/a.py"
    assert file_path({"scheme": "file", "path": "/c:/work"}) == "c:/work"
    assert file_path("vscode-remote://wsl%2Bubuntu/home/dev") == "/home/dev"
    assert file_path("untitled:Untitled-1://x") == ""
    assert file_path({"scheme": "git", "path": "/a"}) == ""


def test_takes_the_first_folder_of_a_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "all" / "shop.code-workspace"
    workspace.parent.mkdir()
    workspace.write_text('{"folders": [{"path": "../web"}, {"path": "api"}]}')
    home = log(tmp_path, {"kind": 0, "v": {"sessionId": "s", "requests": [asked("one")]}})
    storage = next(home.rglob("chatSessions")).parent
    (storage / "workspace.json").write_text(json.dumps({"workspace": workspace.as_uri()}))
    assert [event.cwd for event in read_home(home) if isinstance(event, Facts)] == [str(tmp_path / "web")]
