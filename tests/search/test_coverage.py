"""Coverage: the share of a question that turns contain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.search.rank import measure_coverage


def test_rare_word_covers_more_than_frequent_one() -> None:
    covered = measure_coverage({1: "the webhook", 2: "the tests"}, {'"webhook"': 2, '"tests"': 400}, 1000)
    assert covered.share((1,)) > covered.share((2,)) > 0


def test_coverage_counts_other_word_forms() -> None:
    covered = measure_coverage(
        {1: "Deploys, again!", 2: "deployed", 3: "employ", 4: "«Zürich»"}, {'"deploy"': 3, '"zürich"': 1}, 50
    )
    assert covered.share((1,)) == covered.share((2,)) > 0
    assert covered.share((3,)) == 0
    assert covered.share((4,)) > 0


def test_coverage_adds_up_over_turns() -> None:
    covered = measure_coverage({1: "redis", 2: "timeout", 3: "redis"}, {'"redis"': 5, '"timeout"': 5}, 100)
    assert covered.share((1, 2)) == pytest.approx(1)
    assert covered.share((1, 3)) == covered.share((1,)) == pytest.approx(0.5)


def test_unknown_turn_covers_nothing() -> None:
    assert measure_coverage({}, {'"redis"': 5}, 100).share((7,)) == 0
    assert measure_coverage({1: "redis"}, {}, 0).share((1,)) == 0


@given(
    st.dictionaries(st.integers(0, 9), st.text(max_size=60), max_size=5),
    st.dictionaries(st.text(min_size=1, max_size=12).map('"{}"'.format), st.integers(0, 3000), max_size=6),
    st.integers(0, 3000),
)
def test_coverage_is_between_0_and_1(texts: dict[int, str], terms: dict[str, int], total: int) -> None:
    covered = measure_coverage(texts, terms, total)
    assert all(0 <= covered.share((turn,)) <= covered.share(texts) + 1e-9 <= 1 + 2e-9 for turn in texts)
