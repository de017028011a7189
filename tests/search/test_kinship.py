"""Words of this trade that stand for each other, exclude each other, or share a task."""

from __future__ import annotations

import pytest

from told.search.kinship import SAME, SLOTS, TASKS, VALUES, akin, alternatives, canonical, slots_of, tasks_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("npm", "pnpm"),
        ("pip", "uv"),
        ("postgresql", "mysql"),
        ("black", "ruff"),
        ("main", "develop"),
        ("tabs", "spaces"),
        ("englisch", "german"),
        ("freitag", "tuesday"),
        ("freertos", "zephyr"),
        ("pandas", "polars"),
    ],
)
def test_alternatives_of_one_slot(one: str, other: str) -> None:
    assert alternatives(one, other)
    assert alternatives(other, one)


@pytest.mark.parametrize(("one", "other"), [("pg", "postgres"), ("npm", "jest"), ("main", "npm"), ("x", "y")])
def test_two_names_of_one_thing_and_strangers_are_no_alternatives(one: str, other: str) -> None:
    assert not alternatives(one, other)


@pytest.mark.parametrize(
    ("word", "stands_for"),
    [
        ("db", "database"),
        ("datenbank", "database"),
        ("prs", "pull-request"),
        ("pg", "postgres"),
        ("zebra", "zebra"),
    ],
)
def test_words_that_mean_the_same_have_one_name(word: str, stands_for: str) -> None:
    assert canonical(word) == stands_for
    assert canonical(stands_for) == stands_for


def test_words_of_one_task_are_akin() -> None:
    assert akin("commit", "release")
    assert akin("commits", "push")
    assert akin("tests", "pytest")
    assert akin("specs", "vitest")
    assert not akin("commit", "rtos")
    assert not akin("zebra", "giraffe")
    assert tasks_of("zebra") == frozenset()
    assert slots_of("zebra") == ()


def test_the_tables_are_in_lower_case_and_without_lonely_words() -> None:
    assert all(word == word.lower() for table in (SAME, SLOTS, VALUES, TASKS) for word in table)
    for slot in {slot for slots in SLOTS.values() for slot in slots}:
        assert len({VALUES[word] for word, slots in SLOTS.items() if slot in slots}) > 1, slot
