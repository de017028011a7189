"""Ranking of turns and sessions."""

from __future__ import annotations

import random

from told.search.rank import (
    COLUMN_WEIGHTS,
    LONG_ANSWER_WEIGHTS,
    SIGNALS,
    WITH_MEANING,
    WITH_MEANING_FULL,
    WORDS_ONLY,
    WORDS_ONLY_FULL,
    RankContext,
    group_by_session,
    measure_coverage,
    rank_turns,
)


def test_better_match_ranks_first() -> None:
    assert [turn.turn for turn in rank_turns([(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -3.0)])] == [2, 1]


def test_turn_after_unanswered_question_gains() -> None:
    question, answer, other = (1, 1, 4, 0, -2.0), (2, 1, 5, 0, -1.0), (3, 1, 8, 0, -1.2)
    told_apart = {1: (40, "Where?", True), 2: (40, "There.", False), 3: (40, "Here.", False)}
    order = [turn.turn for turn in rank_turns([question, answer, other], RankContext(shapes=told_apart))]
    assert order.index(2) < order.index(3)
    answered_itself = told_apart | {1: (40, "Where?", False)}
    order = [turn.turn for turn in rank_turns([question, answer, other], RankContext(shapes=answered_itself))]
    assert order.index(3) < order.index(2)


def test_short_turn_ranks_lower() -> None:
    hits = [(1, 1, 3, 0, -1.0), (2, 2, 3, 0, -1.0)]
    assert rank_turns(hits, RankContext(shapes={1: (8, "", False), 2: (250, "", False)}))[0].turn == 2
    assert rank_turns(hits, RankContext(shapes={1: (250, "", False), 2: (8, "", False)}))[0].turn == 1


def test_title_is_not_penalised_as_short() -> None:
    hits = [(1, 1, -1, 0, -1.0), (2, 2, 3, 0, -1.0)]
    assert rank_turns(hits, RankContext(shapes={1: (8, "", False), 2: (250, "", False)}))[0].turn == 1


def test_turn_of_named_speaker_gains() -> None:
    hits = [(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -1.0)]
    shapes = {1: (90, "Ann: the red one", False), 2: (90, "Ben: the red one", False)}
    assert rank_turns(hits, RankContext(shapes=shapes, names={"Ann", "red"}))[0].turn == 1
    assert rank_turns(hits, RankContext(shapes=shapes, names={"Ben", "red"}))[0].turn == 2


def test_similarity_changes_ranking() -> None:
    hits = [(1, 1, 0, 0, -3.0), (2, 2, 0, 0, -1.0), (3, 3, 0, 0, 0.0)]
    assert [turn.turn for turn in rank_turns(hits)] == [1, 2, 3]
    order = [turn.turn for turn in rank_turns(hits, RankContext(similarity={1: 0.2, 2: 0.1, 3: 0.9}))]
    assert order.index(3) < order.index(2)
    assert rank_turns(hits, RankContext(similarity={})) == rank_turns(hits)


def test_similarity_scale_does_not_matter() -> None:
    hits = [(n, n, 0, 0, -float(n % 3)) for n in range(1, 9)]
    some = {n: (n * 7 % 5) / 8 for n in range(1, 7)}
    wide = {turn: 40 * near - 3 for turn, near in some.items()}
    assert [one.turn for one in rank_turns(hits, RankContext(similarity=wide))] == [
        one.turn for one in rank_turns(hits, RankContext(similarity=some))
    ]


def test_turn_in_named_time_gains() -> None:
    hits = [(1, 1, 0, 100, -1.0), (2, 2, 0, 900, -0.7)]
    assert [turn.turn for turn in rank_turns(hits, RankContext((800, 1000)))] == [2, 1]
    assert [turn.turn for turn in rank_turns(hits)] == [1, 2]


def test_turn_near_named_time_gains_more_than_distant_one() -> None:
    day = 86_400_000
    hits = [(1, 1, 0, 0, -1.0), (2, 2, 0, 98 * day, -1.0), (3, 3, 0, 103 * day, -0.95)]
    assert [turn.turn for turn in rank_turns(hits, RankContext((100 * day, 107 * day)))] == [3, 2, 1]


def test_turn_gains_from_its_session() -> None:
    hits = [(1, 1, 0, 0, -2.0), (2, 2, 0, 0, -2.0), (3, 2, 4, 0, -1.9), (4, 2, 8, 0, -1.9)]
    assert rank_turns(hits)[0].turn == 2


def test_equal_turns_are_ordered_newest_first() -> None:
    hits = [(n, n % 3, n, 1000 - n % 5, -1.0) for n in range(0, 40, 2)]
    expected = rank_turns(hits)
    for seed in range(5):
        shuffled = hits[:]
        random.Random(seed).shuffle(shuffled)
        assert rank_turns(shuffled) == expected
        assert group_by_session(rank_turns(shuffled), 3) == group_by_session(expected, 3)


def test_matches_without_weight_are_kept() -> None:
    assert [turn.turn for turn in rank_turns([(1, 1, 0, 0, 0.0)])] == [1]
    assert rank_turns([]) == []
    assert group_by_session([], 5) == []


def test_group_by_session_returns_best_turns() -> None:
    hits = [
        (1, 1, 0, 0, -9.0),
        (2, 2, 0, 0, -2.0),
        (3, 2, 5, 0, -3.0),
        (4, 2, 9, 0, -1.0),
        (5, 2, 12, 0, -0.5),
    ]
    groups = group_by_session(rank_turns(hits), 2)
    assert [group.session for group in groups] == [1, 2]
    assert [turn.turn for turn in groups[1].turns] == [3, 2, 4]
    assert len(group_by_session(rank_turns(hits), 1)) == 1


def test_higher_coverage_ranks_first() -> None:
    hits = [(1, 1, 0, 0, -1.0), (2, 2, 0, 0, -1.0)]
    frequencies = {'"redis"': 3, '"timeout"': 9}
    texts = {1: "a timeout", 2: "the redis timeout"}
    assert rank_turns(hits, RankContext(covered=measure_coverage(texts, frequencies, 50)))[0].turn == 2


def test_session_similar_to_best_ranks_higher() -> None:
    turns = rank_turns([(1, 1, 0, 30, -9.0), (2, 2, 0, 20, -3.0), (3, 3, 0, 10, -3.0)])
    assert [group.session for group in group_by_session(turns, 3)] == [1, 2, 3]
    assert [group.session for group in group_by_session(turns, 3, similar={1: 1.0, 2: 0.1, 3: 0.6})] == [
        1,
        3,
        2,
    ]


def test_project_column_has_no_weight() -> None:
    assert COLUMN_WEIGHTS[0] == LONG_ANSWER_WEIGHTS[0] == 0
    assert len(COLUMN_WEIGHTS) == len(LONG_ANSWER_WEIGHTS) == 6


def test_every_signal_has_a_weight() -> None:
    for weights in (WITH_MEANING, WITH_MEANING_FULL, WORDS_ONLY, WORDS_ONLY_FULL):
        assert len(weights) == len(SIGNALS)
