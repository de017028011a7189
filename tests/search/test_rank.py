"""Ranking adds what surrounds a turn to what it says itself."""

from __future__ import annotations

import random

from told.search.rank import COLUMN_WEIGHTS, grouped, ranked


def test_the_better_match_comes_first() -> None:
    assert [turn.turn for turn in ranked([(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -3.0)])] == [2, 1]


def test_a_turn_gains_from_a_good_neighbour() -> None:
    alone, beside = (1, 1, 5, 0, -1.0), (2, 2, 1, 0, -1.0)
    helper = (3, 2, 2, 0, -1.0)
    far = (4, 1, 9, 0, -1.0)
    order = ranked([alone, far, beside, helper])
    assert {turn.turn for turn in order[:2]} == {2, 3}


def test_a_turn_in_the_named_time_gains() -> None:
    hits = [(1, 1, 0, 100, -1.0), (2, 2, 0, 900, -0.95)]
    assert [turn.turn for turn in ranked(hits, (800, 1000))] == [2, 1]
    assert [turn.turn for turn in ranked(hits)] == [1, 2]


def test_a_turn_gains_from_its_session() -> None:
    hits = [(1, 1, 0, 0, -2.0), (2, 2, 0, 0, -2.0), (3, 2, 4, 0, -1.9), (4, 2, 8, 0, -1.9)]
    assert ranked(hits)[0].turn == 2


def test_equal_turns_are_ordered_by_newness_whatever_the_order_they_come_in() -> None:
    hits = [(n, n % 3, n, 1000 - n % 5, -1.0) for n in range(0, 40, 2)]
    expected = ranked(hits)
    for seed in range(5):
        shuffled = hits[:]
        random.Random(seed).shuffle(shuffled)
        assert ranked(shuffled) == expected
        assert grouped(ranked(shuffled), 3) == grouped(expected, 3)


def test_matches_without_any_weight_are_kept() -> None:
    assert [turn.score for turn in ranked([(1, 1, 0, 0, 0.0)])] == [0.0]
    assert ranked([]) == []
    assert grouped([], 5) == []


def test_sessions_come_with_their_best_turns() -> None:
    hits = [
        (1, 1, 0, 0, -9.0),
        (2, 2, 0, 0, -2.0),
        (3, 2, 5, 0, -3.0),
        (4, 2, 9, 0, -1.0),
        (5, 2, 12, 0, -0.5),
    ]
    groups = grouped(ranked(hits), 2)
    assert [group.session for group in groups] == [1, 2]
    assert [turn.turn for turn in groups[1].turns] == [3, 2, 4]
    assert len(grouped(ranked(hits), 1)) == 1


def test_the_project_token_has_no_weight() -> None:
    assert COLUMN_WEIGHTS[0] == 0
    assert len(COLUMN_WEIGHTS) == 6
