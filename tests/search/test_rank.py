"""Ranking adds what surrounds a turn to what it says itself."""

from __future__ import annotations

import random

from told.search.coverage import coverage
from told.search.rank import grouped, ranked
from told.search.sides import Known
from told.search.weights import (
    COLUMNS,
    SIDES,
    WITH_MEANING,
    WITH_MEANING_FULL,
    WORDS_ONLY,
    WORDS_ONLY_FULL,
    WORDY_COLUMNS,
)


def test_the_better_match_comes_first() -> None:
    assert [turn.turn for turn in ranked([(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -3.0)])] == [2, 1]


def test_the_turn_after_an_open_question_is_its_answer() -> None:
    question, answer, other = (1, 1, 4, 0, -2.0), (2, 1, 5, 0, -1.0), (3, 1, 8, 0, -1.2)
    told_apart = {1: (40, "Where?", True), 2: (40, "There.", False), 3: (40, "Here.", False)}
    order = [turn.turn for turn in ranked([question, answer, other], Known(shapes=told_apart))]
    assert order.index(2) < order.index(3)
    answered_itself = told_apart | {1: (40, "Where?", False)}
    order = [turn.turn for turn in ranked([question, answer, other], Known(shapes=answered_itself))]
    assert order.index(3) < order.index(2)


def test_a_turn_of_few_words_says_less_than_one_of_many() -> None:
    hits = [(1, 1, 3, 0, -1.0), (2, 2, 3, 0, -1.0)]
    assert ranked(hits, Known(shapes={1: (8, "", False), 2: (250, "", False)}))[0].turn == 2
    assert ranked(hits, Known(shapes={1: (250, "", False), 2: (8, "", False)}))[0].turn == 1


def test_a_title_is_not_held_to_be_a_turn_of_few_words() -> None:
    hits = [(1, 1, -1, 0, -1.0), (2, 2, 3, 0, -1.0)]
    assert ranked(hits, Known(shapes={1: (8, "", False), 2: (250, "", False)}))[0].turn == 1


def test_what_the_named_one_says_comes_before_what_others_say() -> None:
    hits = [(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -1.0)]
    shapes = {1: (90, "Ann: the red one", False), 2: (90, "Ben: the red one", False)}
    assert ranked(hits, Known(shapes=shapes, names={"Ann", "red"}))[0].turn == 1
    assert ranked(hits, Known(shapes=shapes, names={"Ben", "red"}))[0].turn == 2


def test_meaning_has_its_share_where_there_is_one() -> None:
    hits = [(1, 1, 0, 0, -3.0), (2, 2, 0, 0, -1.0), (3, 3, 0, 0, 0.0)]
    assert [turn.turn for turn in ranked(hits)] == [1, 2, 3]
    order = [turn.turn for turn in ranked(hits, Known(meaning={1: 0.2, 2: 0.1, 3: 0.9}))]
    assert order.index(3) < order.index(2)
    assert ranked(hits, Known(meaning={})) == ranked(hits)


def test_the_scale_of_meaning_does_not_matter() -> None:
    hits = [(n, n, 0, 0, -float(n % 3)) for n in range(1, 9)]
    some = {n: (n * 7 % 5) / 8 for n in range(1, 7)}
    wide = {turn: 40 * near - 3 for turn, near in some.items()}
    assert [one.turn for one in ranked(hits, Known(meaning=wide))] == [
        one.turn for one in ranked(hits, Known(meaning=some))
    ]


def test_a_turn_in_the_named_time_gains() -> None:
    hits = [(1, 1, 0, 100, -1.0), (2, 2, 0, 900, -0.7)]
    assert [turn.turn for turn in ranked(hits, Known((800, 1000)))] == [2, 1]
    assert [turn.turn for turn in ranked(hits)] == [1, 2]


def test_a_turn_just_beside_the_named_time_gains_more_than_one_far_from_it() -> None:
    day = 86_400_000
    hits = [(1, 1, 0, 0, -1.0), (2, 2, 0, 98 * day, -1.0), (3, 3, 0, 103 * day, -0.95)]
    assert [turn.turn for turn in ranked(hits, Known((100 * day, 107 * day)))] == [3, 2, 1]


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
    assert [turn.turn for turn in ranked([(1, 1, 0, 0, 0.0)])] == [1]
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


def test_what_covers_more_of_the_question_comes_first() -> None:
    hits = [(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -1.0)]
    frequencies = {'"redis"': 3, '"timeout"': 9}
    texts = {1: "a timeout", 2: "the redis timeout"}
    assert ranked(hits, Known(covered=coverage(texts, frequencies, 50)))[0].turn == 2


def test_a_session_like_the_best_one_comes_before_others_that_fit_as_well() -> None:
    turns = ranked([(1, 1, 0, 30, -9.0), (2, 2, 0, 20, -3.0), (3, 3, 0, 10, -3.0)])
    assert [group.session for group in grouped(turns, 3)] == [1, 2, 3]
    assert [group.session for group in grouped(turns, 3, kin={1: 1.0, 2: 0.1, 3: 0.6})] == [1, 3, 2]


def test_the_project_token_has_no_weight() -> None:
    assert COLUMNS[0] == WORDY_COLUMNS[0] == 0
    assert len(COLUMNS) == len(WORDY_COLUMNS) == 6


def test_each_side_has_a_weight() -> None:
    for weights in (WITH_MEANING, WITH_MEANING_FULL, WORDS_ONLY, WORDS_ONLY_FULL):
        assert len(weights) == len(SIDES)
