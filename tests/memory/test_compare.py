"""What a new statement does to the memories of a project: what it repeats, ends, leaves and goes back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.journal.apply import open_memories
from told.memory.compare import compare
from told.memory.pen import Pen
from told.memory.remember import Said, remember
from told.store.memory_records import ACTIVE, GLOBAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCOPE = "project:github.com/acme/shop"
NOW = 1_790_000_000_000
RULES = (
    "Never commit .env files.",
    "Never commit build output.",
    "Always run the linter before committing.",
    "Always run the tests before committing.",
    "Tests run with pytest.",
    "Tests need a running Docker.",
    "The API runs on port 8000.",
    "The worker runs on port 8001.",
    "Staging is on Hetzner.",
    "Production is on AWS.",
    "Redis is used for caching.",
    "The Redis password is in Vault.",
)


@pytest.fixture
def pen(tmp_path: Path) -> Iterator[Pen]:
    memories = open_memories(str(tmp_path))
    yield Pen(str(tmp_path), memories, NOW)
    memories.close()


def standing(pen: Pen) -> list[str]:
    loaded = pen.memories.load(pen.memories.listed(status=ACTIVE))
    return sorted(memory.text for memory in loaded.values())


def test_rules_that_look_alike_all_stay(pen: Pen) -> None:
    for text in RULES:
        assert not remember(pen, Said(text, SCOPE)).again, text
    assert standing(pen) == sorted(RULES)


def test_the_same_statement_is_a_repetition_whatever_else_is_known(pen: Pen) -> None:
    for text in RULES:
        remember(pen, Said(text, SCOPE))
    for text in RULES:
        assert [one.text for one in compare(pen.memories, text.upper(), SCOPE, NOW).repeats] == [text]


def test_a_statement_of_small_words_is_a_repetition_too(pen: Pen) -> None:
    remember(pen, Said("Not so, but so.", SCOPE))
    assert len(compare(pen.memories, "not so, but so.", SCOPE, NOW).repeats) == 1


def test_there_and_back_again(pen: Pen) -> None:
    for text in ("Use npm for packages.", "Use bun for packages.", "Use npm for packages."):
        remember(pen, Said(text, SCOPE))
        assert standing(pen) == [text]


def test_another_choice_is_found_however_long_ago_it_was_made(pen: Pen) -> None:
    remember(pen, Said("We use npm.", SCOPE))
    for number in range(40):
        remember(pen, Said(f"Shelf {number} holds the parts of machine {number + 100}.", SCOPE))
    found = compare(pen.memories, "switched to pnpm", SCOPE, NOW)
    assert [old.text for old, _ in found.replaces] == ["We use npm."]


def test_a_global_memory_is_not_ended_by_a_project(pen: Pen) -> None:
    remember(pen, Said("Use npm for packages.", GLOBAL))
    found = compare(pen.memories, "Use bun for packages.", SCOPE, NOW)
    assert (found.replaces, [old.text for old, _ in found.kept]) == ((), ["Use npm for packages."])


def test_a_locked_memory_is_not_ended_but_named(pen: Pen) -> None:
    remember(pen, Said("The API runs on port 8000.", SCOPE, locked=True))
    found = compare(pen.memories, "The API runs on port 9000 now.", SCOPE, NOW)
    assert (found.replaces, [old.text for old, _ in found.kept]) == ((), ["The API runs on port 8000."])


def test_the_answer_does_not_depend_on_what_was_asked_before(pen: Pen) -> None:
    for text in RULES:
        remember(pen, Said(text, SCOPE))
    first = [compare(pen.memories, f"{text} from now on", SCOPE, NOW) for text in RULES]
    again = [compare(pen.memories, f"{text} from now on", SCOPE, NOW) for text in reversed(RULES)]
    assert first == again[::-1]
