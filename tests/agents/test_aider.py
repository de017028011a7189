"""What a user gets from Aider's chat history files."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from told.agents.aider import AGENT as AIDER
from told.agents.base import find
from told.model import AGENT, USER, Begin, Cursor, Facts, Mark, Ref, Said, Source, Touch

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
    found = find(AIDER, (), [str(project)])
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [event for source in sources for event in AIDER.read(source, cursor)]


def said(events: list[Any], who: str) -> list[str]:
    return [event.text for event in events if isinstance(event, Said) and event.who == who]


def test_each_chat_is_a_session_of_its_folder() -> None:
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


def test_the_start_is_read_as_local_time() -> None:
    started = [event.started for event in read(DATA / "chats" / "project") if isinstance(event, Facts)]
    assert started[0] == 1794769987000  # 19:13:07 UTC


def test_prompts_and_replies_are_told_apart_from_what_aider_prints() -> None:
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


def test_edits_touch_files_and_commits_are_named() -> None:
    events = read(DATA / "chats" / "project")
    hello = str(DATA / "chats" / "project" / "hello.py")
    touches = [(event.path, event.how) for event in events if isinstance(event, Touch)]
    assert touches == [(hello, "create"), (hello, "read"), (hello, "edit"), (hello, "read")]
    assert [event.value for event in events if isinstance(event, Ref)] == ["d1b3ae8", "eef3158"]


def test_commands_are_no_prompts_but_a_question_asked_through_one_is() -> None:
    events = read(DATA / "commands" / "project")
    assert said(events, USER) == ["why is the cart slow?", "Make it fast:\n\n- sort once\n- keep the API"]


def test_a_models_own_headings_and_quotations_stay_its_own() -> None:
    reply = said(read(DATA / "commands" / "project"), AGENT)[0]
    assert reply == "It sorts on every call.\n\n#### A heading of the model\n\n> a quotation by the model"


def test_a_very_long_code_block_is_shortened_in_the_middle() -> None:
    reply = said(read(DATA / "commands" / "project"), AGENT)[1]
    assert "line 0\n" in reply
    assert "line 199\n" in reply
    assert "line 100\n" not in reply
    assert "… 140 lines …" in reply


def test_only_the_chat_that_went_on_is_read_again(tmp_path: Path) -> None:
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


def test_a_history_that_was_started_over_is_read_from_its_beginning(tmp_path: Path) -> None:
    shutil.copyfile(DATA / "chats" / "project" / NAME, tmp_path / NAME)
    last = read(tmp_path)[-1].cursor
    (tmp_path / NAME).write_text("# aider chat started at 2026-12-01 08:00:00\n\n#### Anew  \n")
    assert said(read(tmp_path, last), USER) == ["Anew"]
