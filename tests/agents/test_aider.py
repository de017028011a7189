"""What a user gets from Aider's chat history files."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from told.agents.aider import AGENT as AIDER
from told.agents.base import find_sources
from told.model import AGENT, USER, Begin, Cursor, Facts, Mark, Message, Ref, Source, Touch

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parent.parent / "data" / "agents" / "aider"
NAME = ".aider.chat.history.md"


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def read(project: Path, cursor: Cursor = Cursor()) -> list[Any]:  # noqa: B008
    found = find_sources(AIDER, (), [str(project)])
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [event for source in sources for event in AIDER.read(source, cursor)]


def said(events: list[Any], who: str) -> list[str]:
    return [event.text for event in events if isinstance(event, Message) and event.who == who]


def test_reads_each_chat_as_a_session() -> None:
    project = DATA / "chats" / "project"
    events = read(project)
    sessions = [event.session for event in events if isinstance(event, Begin)]
    assert [session.partition("-")[2] for session in sessions] == [
        "20261115-201307",
        "20261115-201317",
        "20261115-201327",
    ]
    assert {event.cwd for event in events if isinstance(event, Facts)} == {str(project), ""}
    assert {event.model for event in events if isinstance(event, Facts)} == {"openai/mock-model", ""}


def test_parses_start_as_local_time() -> None:
    started = [event.started for event in read(DATA / "chats" / "project") if isinstance(event, Facts)]
    assert started[0] == 1794769987000  # 19:13:07 UTC


def test_separates_messages_from_aiders_own_output() -> None:
    events = read(DATA / "chats" / "project")
    assert said(events, USER) == [
        "Create a file hello.py with a greet function",
        "No, wrong name. Rename greet to salute please",
        "No, never commit .env files! 絶対に",
    ]
    replies = [words for words in said(events, AGENT) if not words.startswith("[aider] git commit")]
    assert replies[0].startswith("I'll create `hello.py`.")
    assert len(replies) == 2 + 4  # the last one was tried four times
    assert not any("Tokens:" in reply or "SearchReplaceNoExactMatch" in reply for reply in replies)


def test_reads_edits_and_commits() -> None:
    events = read(DATA / "chats" / "project")
    hello = str(DATA / "chats" / "project" / "hello.py")
    touches = [(event.path, event.how) for event in events if isinstance(event, Touch)]
    assert touches == [(hello, "create"), (hello, "read"), (hello, "edit"), (hello, "read")]
    assert [event.value for event in events if isinstance(event, Ref)] == ["d1b3ae8", "eef3158"]


def test_reads_only_commands_with_a_prompt() -> None:
    events = read(DATA / "commands" / "project")
    assert said(events, USER) == ["why is the cart slow?", "Make it fast:\n\n- sort once\n- keep the API"]


def test_keeps_headings_and_quotes_of_the_model() -> None:
    reply = said(read(DATA / "commands" / "project"), AGENT)[0]
    assert reply == "It sorts on every call.\n\n#### A heading of the model\n\n> a quotation by the model"


def test_shortens_long_code_blocks() -> None:
    reply = said(read(DATA / "commands" / "project"), AGENT)[1]
    assert "line 0\n" in reply
    assert "line 199\n" in reply
    assert "line 100\n" not in reply
    assert "… 140 lines …" in reply


def test_reads_only_the_continued_chat_again(tmp_path: Path) -> None:
    shutil.copyfile(DATA / "chats" / "project" / NAME, tmp_path / NAME)
    before = read(tmp_path)
    last = before[-1].cursor
    assert read(tmp_path, last) == []
    with (tmp_path / NAME).open("a") as file:
        file.write("\n#### Thank you  \n\nYou are welcome.\n")
    events = read(tmp_path, last)
    assert events[0] == [event for event in before if isinstance(event, Begin)][-1]
    assert said(events, USER) == ["No, never commit .env files! 絶対に", "Thank you"]
    assert events[-1] == Mark(Cursor(os.path.getsize(tmp_path / NAME), 279, last.state))


def test_reads_a_restarted_history_from_the_start(tmp_path: Path) -> None:
    shutil.copyfile(DATA / "chats" / "project" / NAME, tmp_path / NAME)
    last = read(tmp_path)[-1].cursor
    (tmp_path / NAME).write_text("# aider chat started at 2026-12-01 08:00:00\n\n#### Anew  \n")
    assert said(read(tmp_path, last), USER) == ["Anew"]
