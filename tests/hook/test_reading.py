"""A model that reads sessions is started when one ends; a new session gets what was not read yet."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import begun, said_to_model
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.journal.files import SET
from told.memories.journal_writer import JournalWriter
from told.reader import background
from told.store.memories.records import READ

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.hook.desk import Desk
    from told.settings import Settings

READER = '[reader]\nmode = "agent"\n'
HEADING = "Typed in the last session, not read yet:"
BEFORE = "0b5f2c1e-9d4a-4c57-8a30-1a2b3c4d5e6f"
SAID = [f"please look at chart number {number} in the report" for number in range(7)]


@pytest.fixture
def worked(desk: Desk) -> Desk:
    """A machine whose model has not read the project's last session."""
    desk.config(READER)
    turns = [(text, "Done.") for text in SAID]
    desk.claude(*turns, at=datetime.now(UTC) - timedelta(hours=1), cwd=desk.project, session=BEFORE)
    assert desk.told("index").code == 0
    return desk


@pytest.fixture
def started(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions for which the model was started."""
    names: list[str] = []

    def note(_settings: Settings, _environ: Mapping[str, str], session: str) -> None:
        names.append(session)

    monkeypatch.setattr(background, "start_reading", note)
    desk.config(READER)
    return names


def _mark_read(desk: Desk, turns: int) -> None:
    home = str(desk.told_home)
    writer = JournalWriter(FileJournal(home), open_memories(home), time.time_ns() // 1_000_000)
    writer.add(SET, "", **{SET: {READ: {f"claude-code/{BEFORE}": turns}}})
    writer.write()
    writer.memories.close()


def _start(desk: Desk, session: str = "new") -> str:
    return said_to_model(desk.ask("claude-code", "start", begun(desk, session=session)))


def test_a_new_session_gets_what_was_typed_last(worked: Desk) -> None:
    said = _start(worked)

    _, _, lines = said.partition(HEADING)
    assert all(text in lines for text in SAID[2:])
    assert not any(text in lines for text in SAID[:2])
    assert lines.index(SAID[2]) < lines.index(SAID[6])
    assert "<user " in lines  # quoted


def test_what_was_read_is_not_repeated(worked: Desk) -> None:
    _mark_read(worked, 5)
    said = _start(worked)
    assert SAID[5] in said
    assert SAID[4] not in said

    _mark_read(worked, 7)
    assert HEADING not in _start(worked, "later")


def test_without_a_reader_nothing_is_unread(worked: Desk) -> None:
    worked.config("")

    assert HEADING not in _start(worked)


def test_a_resumed_session_knows_what_it_was_told(worked: Desk) -> None:
    said = said_to_model(worked.ask("claude-code", "start", begun(worked, session="s-9", source="resume")))

    assert HEADING not in said


def test_it_stays_within_the_budget(worked: Desk) -> None:
    worked.config(f"{READER}[brief]\nstart_tokens = 90\n")
    said = _start(worked)

    assert SAID[6] in said
    assert SAID[2] not in said


def test_messages_are_shortened(desk: Desk) -> None:
    desk.config(READER)
    at = datetime.now(UTC) - timedelta(hours=1)
    desk.claude(("look at this chart " * 40 + "zebra", "Done."), at=at, cwd=desk.project, session=BEFORE)
    assert desk.told("index").code == 0

    _, _, lines = _start(desk).partition(HEADING)
    line = lines.strip().splitlines()[0]
    assert "look at this chart" in line
    assert "zebra" not in line
    assert len(line) < 250


@pytest.mark.parametrize("event", ["end", "compact"])
def test_a_session_that_ends_or_is_compacted_is_read(desk: Desk, started: list[str], event: str) -> None:
    desk.prompt("fix the typo in the readme")
    name = {"end": "SessionEnd-other", "compact": "PreCompact"}[event]

    desk.ask("claude-code", event, desk.payload("claude-code", name, session_id="s-1"))

    assert started == ["claude-code/s-1"]


def test_a_session_that_only_pauses_is_not_read_yet(desk: Desk, started: list[str]) -> None:
    desk.ask("claude-code", "stop", desk.payload("claude-code", "Stop", session_id="s-1"))

    assert started == []


def test_a_cleared_session_is_read(desk: Desk, started: list[str]) -> None:
    desk.ask("codex", "start", begun(desk, "codex", "s-1"))
    desk.ask("codex", "start", begun(desk, "codex", "s-2", source="clear"))

    assert started == ["codex/s-1"]


def test_without_a_reader_none_is_started(desk: Desk, started: list[str]) -> None:
    desk.config("")
    desk.ask("claude-code", "end", desk.payload("claude-code", "SessionEnd-clear", session_id="s-1"))

    assert started == []
