"""Synonyms and slots."""

from __future__ import annotations

import pytest

from told.search.tokens import (
    SAME,
    SLOTS,
    VALUES,
    are_alternatives,
    canonical,
)


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
def test_values_of_one_slot_are_alternatives(one: str, other: str) -> None:
    assert are_alternatives(one, other)
    assert are_alternatives(other, one)


@pytest.mark.parametrize(("one", "other"), [("pg", "postgres"), ("npm", "jest"), ("main", "npm"), ("x", "y")])
def test_synonyms_and_unrelated_words_are_no_alternatives(one: str, other: str) -> None:
    assert not are_alternatives(one, other)


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
def test_synonyms_share_canonical_word(word: str, stands_for: str) -> None:
    assert canonical(word) == stands_for
    assert canonical(stands_for) == stands_for


def test_tables_are_lower_case_and_slots_have_alternatives() -> None:
    assert all(word == word.lower() for table in (SAME, SLOTS, VALUES) for word in table)
    for slot in {slot for slots in SLOTS.values() for slot in slots}:
        assert len({VALUES[word] for word, slots in SLOTS.items() if slot in slots}) > 1, slot
