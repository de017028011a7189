"""A statement that ends a part of a list: the whole list ends only if the rest is repeated."""

from __future__ import annotations

import tomllib
from pathlib import Path

from told.conflict.relation import CHANGES, MAY_CHANGE, judge

DATA = tomllib.loads(Path(__file__).with_name("parts.toml").read_text(encoding="utf-8"))


def test_a_statement_that_repeats_the_rest_replaces_the_list() -> None:
    missed = [new for old, new in DATA["ends"] if judge(old, new).kind != CHANGES]
    assert len(missed) <= 2, missed


def test_a_part_that_goes_without_a_word_on_the_rest_is_asked_about() -> None:
    found = [judge(old, new).kind for old, new in DATA["asks"]]
    assert CHANGES not in found
    assert found.count(MAY_CHANGE) >= len(found) - 1


def test_what_is_said_of_something_else_ends_no_list() -> None:
    assert [new for old, new in DATA["look_alikes"] if judge(old, new).kind == CHANGES] == []
