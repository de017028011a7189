"""At the end of a session, once a day and only if there is time, what nobody needs goes to the archive."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from told.journal.append import append
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.journal.files import Draft
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.retention import retention
from told.store.memories.records import AGENT, ARCHIVED, CAPTURE

if TYPE_CHECKING:
    from tests.hook.desk import Desk

DAYS = 100


@pytest.fixture
def old(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a memory that nobody needed for 100 days, on a machine that ran all the while."""
    home = str(desk.told_home)
    now = time.time_ns() // 1_000_000
    begin = now - DAYS * retention.DAY
    text = {"text": "The cache lives in src/cache.py", "kind": "observation", "trust": AGENT}
    made = append(home, [Draft("remember", AGENT, text)], now=begin)[0].memory
    memories = open_memories(home)
    for day in range(0, DAYS - 1, 7):
        writer = JournalWriter(FileJournal(home), memories, begin + day * retention.DAY, Caller(CAPTURE))
        retention.tick(writer, (1 + day) * retention.DAY)
    memories.close()
    monkeypatch.setattr(retention, "read_uptime", lambda: (1 + DAYS) * retention.DAY)
    monkeypatch.setattr(retention, "_LATEST_START", 60.0)  # a machine under load has time as well
    monkeypatch.setattr(retention, "_DEADLINE", 90.0)
    return made


def end(desk: Desk, name: str = "SessionEnd-other", event: str = "end") -> None:
    assert desk.ask("claude-code", event, desk.payload("claude-code", name)) == {}


def archived(desk: Desk) -> list[str]:
    return [one["id"] for one in desk.memories("--status", ARCHIVED)]


def test_the_end_of_a_session_archives_what_fades(desk: Desk, old: str) -> None:
    end(desk)
    assert archived(desk) == [old]
    assert (desk.told_home / "hook.faded").read_bytes().isdigit()


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("prompt", "UserPromptSubmit"),
        ("stop", "Stop"),
        ("compact", "PreCompact"),
        ("start", "SessionStart-startup"),
    ],
)
def test_no_other_moment_does(desk: Desk, old: str, event: str, name: str) -> None:
    desk.ask("claude-code", event, desk.payload("claude-code", name))
    assert archived(desk) == []
    assert [one["id"] for one in desk.memories("--all")] == [old]


def test_without_time_it_does_nothing(desk: Desk, old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_LATEST_START", -1.0)
    end(desk)
    assert archived(desk) == []
    assert not (desk.told_home / "hook.faded").exists()
    monkeypatch.setattr(retention, "_LATEST_START", 60.0)
    monkeypatch.setattr(retention, "_DEADLINE", -1.0)
    end(desk)
    assert archived(desk) == []
    assert [one["id"] for one in desk.memories("--all")] == [old]


def test_once_a_day_is_enough(desk: Desk, old: str) -> None:
    today = time.time_ns() // 1_000_000 // retention.DAY
    (desk.told_home / "hook.faded").write_bytes(b"%d" % today)
    end(desk)
    assert archived(desk) == []
    (desk.told_home / "hook.faded").write_bytes(b"%d" % (today - 1))
    end(desk)
    assert archived(desk) == [old]


@pytest.mark.parametrize("content", ["[retention]\ndays = 0\n", "[retention]\ndays = 'soon'\n", "["])
def test_off_or_not_understood_is_off(desk: Desk, old: str, content: str) -> None:
    desk.config(content)
    end(desk)
    (desk.told_home / "config.toml").unlink()
    assert archived(desk) == []
    assert [one["id"] for one in desk.memories("--all")] == [old]


def test_what_another_running_session_was_shown_does_not_fade(desk: Desk, old: str) -> None:
    now = time.time_ns() // 1_000_000
    (desk.told_home / "shown").mkdir()
    (desk.told_home / "shown" / "sabcdefghijkl").write_text(f"another\n{now} 20 {old}\n")
    end(desk)
    assert archived(desk) == []


def test_a_journal_that_is_too_large_is_left_to_the_background(
    desk: Desk, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_MAX_JOURNAL", 10)
    end(desk)
    assert archived(desk) == []
    monkeypatch.setattr(retention, "_MAX_JOURNAL", 10**9)
    end(desk)
    assert archived(desk) == [old]


def test_a_prompt_that_says_it_again_brings_it_back(desk: Desk) -> None:
    desk.prompt("No, we use pnpm here, never npm.")
    made = desk.memories()[0]
    memories = open_memories(str(desk.told_home))
    one = memories.get([made["id"]])[made["id"]]
    writer = JournalWriter(
        FileJournal(str(desk.told_home)), memories, time.time_ns() // 1_000_000, Caller(CAPTURE)
    )
    known = [one.updated, one.shown, one.shown_last, one.followed, one.repeated]
    writer.add("archive", one.id, known=known)
    writer.write()
    memories.close()
    assert desk.memories() == []
    assert "pnpm" not in desk.prompt("Install the missing dependencies with npm", session="s-2")
    desk.prompt("No, we use pnpm here, never npm.", session="s-3")
    assert [found["id"] for found in desk.memories()] == [made["id"]]
    assert "pnpm" in desk.prompt("Install the missing dependencies with npm", session="s-4")


def test_who_runs_out_of_time_leaves_the_rest_of_the_day_to_the_background(
    desk: Desk, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_DEADLINE", 0.0)
    end(desk)
    monkeypatch.setattr(retention, "_DEADLINE", 90.0)
    end(desk)  # not once more at each session's end
    assert archived(desk) == []
    assert desk.told("sweep").code == 0
    assert archived(desk) == [old]
