"""Lessons and observations of agent-memory's clients become memories of told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.server.agent_memory.memories import TOOL, remember_row
from told.store.memories.names import AGENT
from told.store.postgres.agent_memory.lessons import LessonRow
from told.store.postgres.agent_memory.observations import ObservationRow

AT = datetime(2026, 11, 17, 22, 17, tzinfo=UTC)
NOW = int(AT.timestamp() * 1000) + 60_000
LESSON = LessonRow(
    1, 3, "shop", "push", "Never push to main.", "critical", "Bash", r"git\s+push", None, 0, None, True, AT
)  # fmt: skip
SEEN = ObservationRow(
    1, 4, 3, "shop", "Use an idempotency key", None, "decision", "Orders are charged once.", [], ["payments"],
    [], ["src/cart.py"], None, None, True, AT,
)  # fmt: skip


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[JournalWriter]:
    memories = open_memories(str(tmp_path))
    yield JournalWriter(FileJournal(str(tmp_path)), memories, NOW, Caller(AGENT, TOOL))
    memories.close()


def test_a_lesson_is_a_rule_of_an_agent_with_its_trigger(writer: JournalWriter) -> None:
    made = writer.read(remember_row(writer, LESSON))
    assert (made.text, made.kind, made.trust, made.status) == (
        "Never push to main.",
        "rule",
        "agent",
        "active",
    )
    assert made.scope == "project:shop"
    assert made.context == r"push (before Bash git\s+push)"
    assert [tuple(one) for one in made.triggers] == [("command", "git push")]
    assert made.evidence[0].agent == "agent-memory"


def test_a_global_lesson_and_a_real_pattern(writer: JournalWriter) -> None:
    made = writer.read(
        remember_row(writer, replace(LESSON, project_name=None, trigger_pattern="git (push|pull)"))
    )
    assert (made.scope, [one.kind for one in made.triggers]) == ("global", ["task"])  # of its text


def test_a_lesson_that_is_turned_off_ends_its_memory_until_it_is_on_again(writer: JournalWriter) -> None:
    known = remember_row(writer, LESSON)
    off = replace(LESSON, active=False)
    for _ in range(2):
        assert remember_row(writer, off, known) == known
        assert writer.read(known).status == "superseded"
    again = remember_row(writer, LESSON, known)
    assert (writer.read(again).status, writer.read(again).text) == ("active", LESSON.rule)
    assert remember_row(writer, off) == ""  # it never was on


def test_a_new_rule_supersedes_the_old_one(writer: JournalWriter) -> None:
    known = remember_row(writer, LESSON)
    made = remember_row(writer, replace(LESSON, rule="Never push to main or release."), known)
    assert writer.read(made).text == "Never push to main or release."
    assert (writer.read(known).status, writer.read(known).superseded_by) == ("superseded", made)


def test_what_the_user_locked_stays(writer: JournalWriter) -> None:
    user = JournalWriter(writer.journal, writer.memories, NOW)
    mine = remember(user, NewMemory("Never push to main.", "project:shop", "rule", locked=True)).memory.id
    assert remember_row(writer, LESSON) == mine  # it says the same
    remember_row(writer, replace(LESSON, active=False), mine)
    assert (writer.read(mine).status, writer.read(mine).locked) == ("active", True)
    remember_row(writer, replace(LESSON, rule="Always push to main."), mine)
    assert (writer.read(mine).status, writer.read(mine).text) == ("active", "Never push to main.")


def test_an_observation_has_its_kind_text_and_entities(writer: JournalWriter) -> None:
    made = writer.read(remember_row(writer, SEEN, session="s1"))
    assert (made.text, made.kind) == ("Use an idempotency key. Orders are charged once.", "decision")
    assert {"payments", "src/cart.py"} <= set(made.entities)
    assert made.evidence[0].session == "s1"
    fixed = writer.read(remember_row(writer, replace(SEEN, id=2, title="Fixed the cart", type="bugfix")))
    assert (fixed.kind, fixed.label) == ("observation", "bugfix")


def test_a_row_that_is_sent_twice_is_one_memory(writer: JournalWriter) -> None:
    assert remember_row(writer, SEEN) == remember_row(writer, replace(SEEN, id=7))


def test_a_long_or_empty_row_does_no_harm(writer: JournalWriter) -> None:
    assert len(writer.read(remember_row(writer, replace(SEEN, narrative="word " * 9000))).text) <= 4000
    assert remember_row(writer, replace(SEEN, title=" ", narrative="")) == ""
