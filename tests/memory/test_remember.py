"""When a statement is a repetition, when it ends another, and when it is no more than what was quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.journal.apply import open_memories
from told.memory.compare import compare, stands_in
from told.memory.pen import Pen
from told.memory.remember import Said, remember
from told.memory.undo import undo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from told.memory.compare import Compared

SCOPE = "project:github.com/acme/shop"
NOW = 1_790_000_000_000


@pytest.fixture
def pen(tmp_path: Path) -> Iterator[Pen]:
    memories = open_memories(str(tmp_path))
    yield Pen(str(tmp_path), memories, NOW)
    memories.close()


def compared(pen: Pen, old: str, new: str) -> Compared:
    remember(pen, Said(old, SCOPE))
    return compare(pen.memories, new, SCOPE, NOW)


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
def test_the_same_in_other_words_is_a_repetition(pen: Pen, old: str, new: str) -> None:
    found = compared(pen, old, new)
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
def test_what_says_something_else_is_no_repetition(pen: Pen, old: str, new: str) -> None:
    assert compared(pen, old, new).repeats == ()


def test_a_locked_memory_is_kept_and_shown_as_a_conflict(pen: Pen) -> None:
    remember(pen, Said("Never squash commits", SCOPE, locked=True))
    found = compare(pen.memories, "Always squash commits", SCOPE, NOW)
    assert (found.replaces, [one.text for one, _ in found.kept]) == ((), ["Never squash commits"])


def test_a_memory_of_another_project_is_not_looked_at(pen: Pen) -> None:
    remember(pen, Said("Use npm for packages", "project:github.com/acme/other"))
    found = compare(pen.memories, "Use pnpm for packages", SCOPE, NOW)
    assert tuple(found) == ((), (), (), (), ())  # type: ignore[arg-type]


def test_a_memory_that_was_shown_in_vain_loses_by_being_said_again(pen: Pen) -> None:
    made = remember(pen, Said("Never use tabs", SCOPE)).memory
    pen.note("show", made.id, session="s1")
    pen.write()
    again = remember(pen, Said("Never use tabs", SCOPE))
    assert (again.again, again.memory.repeated) == (True, 1)
    assert again.memory.confidence < made.confidence


def test_going_back_and_forth_works_as_often_as_one_likes(pen: Pen) -> None:
    for text in ("Use npm for packages", "Use pnpm for packages") * 3:
        done = remember(pen, Said(text, SCOPE))
        assert not done.again
        rows = pen.memories.listed(scopes=[SCOPE])
        assert [one.text for one in pen.memories.load(rows).values()] == [text]


def test_there_is_nothing_to_undo_in_an_empty_journal(pen: Pen) -> None:
    assert undo(pen) is None


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
def test_a_statement_says_no_more_than_its_quote(quote: str, text: str, stands: bool) -> None:
    assert stands_in(quote, text) is stands
