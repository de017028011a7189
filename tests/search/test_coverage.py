"""How much of a question a turn covers by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.search.coverage import coverage


def test_a_rare_word_covers_more_than_a_frequent_one() -> None:
    covered = coverage({1: "the webhook", 2: "the tests"}, {'"webhook"': 2, '"tests"': 400}, 1000)
    assert covered.of((1,)) > covered.of((2,)) > 0


def test_other_forms_of_a_word_and_other_signs_around_it_count() -> None:
    covered = coverage(
        {1: "Deploys, again!", 2: "deployed", 3: "employ", 4: "«Zürich»"}, {'"deploy"': 3, '"zürich"': 1}, 50
    )
    assert covered.of((1,)) == covered.of((2,)) > 0
    assert covered.of((3,)) == 0
    assert covered.of((4,)) > 0


def test_turns_together_cover_what_each_of_them_covers() -> None:
    covered = coverage({1: "redis", 2: "timeout", 3: "redis"}, {'"redis"': 5, '"timeout"': 5}, 100)
    assert covered.of((1, 2)) == pytest.approx(1)
    assert covered.of((1, 3)) == covered.of((1,)) == pytest.approx(0.5)


def test_a_turn_that_nobody_knows_covers_nothing() -> None:
    assert coverage({}, {'"redis"': 5}, 100).of((7,)) == 0
    assert coverage({1: "redis"}, {}, 0).of((1,)) == 0


@given(
    st.dictionaries(st.integers(0, 9), st.text(max_size=60), max_size=5),
    st.dictionaries(st.text(min_size=1, max_size=12).map('"{}"'.format), st.integers(0, 3000), max_size=6),
    st.integers(0, 3000),
)
def test_whatever_is_asked_it_is_a_share(texts: dict[int, str], terms: dict[str, int], total: int) -> None:
    covered = coverage(texts, terms, total)
    assert all(0 <= covered.of((turn,)) <= covered.of(texts) + 1e-9 <= 1 + 2e-9 for turn in texts)
