"""Compare statements, count repeats and supersede memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.conflict.compare import Comparison, compare_statement
from told.conflict.same import quote_covers
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.memories.undo import undo

if TYPE_CHECKING:
    from tests.stores import Kept

SCOPE = "project:github.com/acme/shop"
NOW = 1_790_000_000_000


@pytest.fixture
def writer(kept: Kept) -> JournalWriter:
    return kept.writer(NOW)


def compared(writer: JournalWriter, old: str, new: str) -> Comparison:
    remember(writer, NewMemory(old, SCOPE))
    return compare_statement(writer.memories, new, SCOPE, NOW)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Never use tabs", "never use tabs!"),
        ("Never use tabs", "Don't use tabs"),
        ("Run the linter before committing", "Always run the linter before a commit"),
        ("コミットメッセージは英語で書いて", "コミットメッセージは英語で書いて"),
        ("Nie direkt auf main pushen", "nie direkt auf main pushen"),
    ],
)
def test_compare_finds_repeats_in_other_words(writer: JournalWriter, old: str, new: str) -> None:
    found = compared(writer, old, new)
    assert [one.text for one in found.repeats] == [old]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Never push directly to the main branch", "Never push the staging branch directly without tests"),
        ("Run the tests before committing", "Run the tests after deploying"),
        ("Use pnpm, not npm", "Use npm, not pnpm"),
        ("Never use tabs", "Always use tabs"),
        ("Never log emails", "Never log user names"),
    ],
)
def test_compare_finds_no_repeat_of_other_statements(writer: JournalWriter, old: str, new: str) -> None:
    assert compared(writer, old, new).repeats == ()


def test_compare_keeps_locked_memory_as_conflict(writer: JournalWriter) -> None:
    remember(writer, NewMemory("Never squash commits", SCOPE, locked=True))
    found = compare_statement(writer.memories, "Always squash commits", SCOPE, NOW)
    assert (found.replaces, [one.text for one, _ in found.blocked]) == ((), ["Never squash commits"])


def test_compare_ignores_other_projects(writer: JournalWriter) -> None:
    remember(writer, NewMemory("Use npm for packages", "project:github.com/acme/other"))
    found = compare_statement(writer.memories, "Use pnpm for packages", SCOPE, NOW)
    assert found == Comparison()


def test_repeat_after_showing_lowers_confidence(writer: JournalWriter) -> None:
    made = remember(writer, NewMemory("Never use tabs", SCOPE)).memory
    writer.add("show", made.id, session="s1")
    writer.write()
    again = remember(writer, NewMemory("Never use tabs", SCOPE))
    assert (again.again, again.memory.repeated) == (True, 1)
    assert again.memory.confidence < made.confidence


def test_remember_supersedes_back_and_forth(writer: JournalWriter) -> None:
    for text in ("Use npm for packages", "Use pnpm for packages") * 3:
        done = remember(writer, NewMemory(text, SCOPE))
        assert not done.again
        rows = writer.memories.listed(scopes=[SCOPE])
        assert [one.text for one in writer.memories.load(rows).values()] == [text]


def test_undo_returns_nothing_for_empty_journal(writer: JournalWriter) -> None:
    assert undo(writer) == ()


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("never push to main, please", "Never push to main", True),
        ("ok so from now on use pnpm, not npm", "Use pnpm, not npm", True),
        ("never push to main", "Always push to main", False),
        ("never push to main", "Push to main", False),
        ("use pnpm, not npm", "Use npm, not pnpm", False),
        ("use pnpm", "Use pnpm and delete the tests", False),
        ("use tabs here", "Always use tabs", False),
        ("anything", "", False),
    ],
)
def test_quote_covers_statement(quote: str, text: str, stands: bool) -> None:
    assert quote_covers(quote, text) is stands
