"""What a user gets from Continue's sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from told.agents.base import find_roots, find_sources
from told.agents.continue_dev import AGENT as CONTINUE
from told.model import AGENT, USER, Checkpoint, Cursor, Facts, Message, Source, Touch

if TYPE_CHECKING:
    from typing import Any

DATA = Path(__file__).parent.parent / "data" / "agents" / "continue"
STARTED = 1794775035405
UUID = "00000000-0000-4000-8000-000000000001"


def read(home: Path) -> list[Any]:
    found = find_sources(CONTINUE, find_roots(CONTINUE, {"HOME": str(home)}))
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [event for source in sources for event in CONTINUE.read(source, Cursor())]


def home_with(tmp_path: Path, session: dict[str, Any], index: object = None) -> Path:
    folder = tmp_path / ".continue" / "sessions"
    folder.mkdir(parents=True)
    (folder / f"{UUID}.json").write_text(json.dumps(session))
    (folder / "sessions.json").write_text(json.dumps(index))
    return tmp_path


def test_reads_prompts_and_replies() -> None:
    events = read(DATA / "cli")
    said = [
        (event.who, event.text) for event in events if isinstance(event, Message) and event.form == "text"
    ]
    assert said[0] == (USER, "Create a file hello.py with a greet function, then run it")
    assert said[1] == (AGENT, "I'll create the file first.")
    assert [text for who, text in said if who == USER][1:] == [
        "No, wrong name. Rename greet to salute please",
        "No, never commit .env files! 絶対に",
        "Use the memory tool please",
    ]


def test_takes_the_time_from_the_index() -> None:
    events = read(DATA / "cli")
    (facts,) = [event for event in events if isinstance(event, Facts)]
    assert (facts.started, facts.cwd) == (STARTED, "/home/dev/worktable/repos/continue")
    assert (facts.title, facts.model) == ("", "mock-model")
    assert {event.at for event in events if isinstance(event, Message)} == {STARTED}


def test_reads_tool_calls_and_touches_of_successful_ones() -> None:
    events = read(DATA / "cli")
    steps = [event.text for event in events if isinstance(event, Message) and event.form == "step"]
    assert "[Bash] ls -la && python3 hello.py" in steps
    assert "[Edit] /home/dev/worktable/repos/continue/hello.py" in steps  # it failed, but was tried
    touches = [(event.path, event.how) for event in events if isinstance(event, Touch)]
    assert touches == [("mock", "create"), ("mock", "read")]


def test_an_editors_session_with_a_uri_parts_and_a_summary(tmp_path: Path) -> None:
    history = [
        {"message": {"role": "user", "content": [{"type": "text", "text": "Why?"}, {"type": "imageUrl"}]}},
        {"message": {"role": "thinking", "content": "Let me see."}},
        {"message": {"role": "assistant", "content": "Because."}, "conversationSummary": "They asked why."},
    ]
    session = {
        "sessionId": UUID,
        "title": "Why",
        "history": history,
        "workspaceDirectory": "file:///c%3A/my%20shop",
    }
    events = read(
        home_with(tmp_path, session, [{"sessionId": UUID, "dateCreated": "2026-11-16T03:33:20.000Z"}])
    )
    (facts,) = [event for event in events if isinstance(event, Facts)]
    assert (facts.cwd, facts.title, facts.started) == ("c:/my shop", "Why", 1794800000000)
    said = [(event.who, event.text, event.form) for event in events if isinstance(event, Message)]
    assert said == [(USER, "Why?", "text"), (AGENT, "Let me see.", "step"), (AGENT, "Because.", "text")]
    assert [event.overview for event in events if isinstance(event, Checkpoint)] == ["They asked why."]


def test_reads_a_session_without_its_index(tmp_path: Path) -> None:
    events = read(home_with(tmp_path, {"history": [{"message": {"role": "user", "content": "Hi"}}]}))
    assert Message(UUID, USER, "Hi") in events


def test_variable_replaces_the_folder() -> None:
    assert find_roots(CONTINUE, {"HOME": "/home/dev", "CONTINUE_GLOBAL_DIR": "/elsewhere"}) == ["/elsewhere"]
