"""The planner holds a question to what the index can rank in time."""

from __future__ import annotations

from tests.search.fake_store import FakeStore
from told.search.plan import plan, scoped, too_common


def test_everything_is_asked_for_when_it_fits() -> None:
    assert plan({'"redis"': 3, '"cache"': 40}, 10**6) == '"redis" OR "cache"'
    assert plan({'"redis"': 1500, '"cache"': 1900}, 2000) == '"redis" OR "cache"'


def test_rare_terms_select_and_common_ones_only_rank() -> None:
    expression = plan({'"the"': 2001, '"redis"': 900, '"cache"': 1000, '"fix"': 1990}, 10**6)
    assert expression == '("redis" OR "cache") AND ("redis" OR "cache" OR "fix" OR "the")'


def test_the_rarest_term_is_asked_for_even_beyond_the_budget() -> None:
    assert plan({'"a"': 50, '"bb"': 50}, 1000, budget=10, common=0) == '"bb"'


def test_only_so_many_common_terms_take_part() -> None:
    frequencies = {f'"w{n}"': 5000 for n in range(40)} | {'"redis"': 5}
    assert plan(frequencies, 10**6).count("w") == 12


def test_unknown_terms_are_left_out() -> None:
    assert plan({'"redis"': 3, '"qqq"': 0}, 100) == '"redis"'
    assert plan({'"qqq"': 0}, 100) == ""
    assert plan({}, 0) == ""


def test_quoted_phrases_are_required_and_the_rest_only_ranks() -> None:
    assert plan({'"redis"': 3}, 100, must=('"a b"', '"c"')) == '"a b" AND "c" AND ("a b" OR "c" OR "redis")'
    assert plan({}, 100, must=('"a b"',)) == '"a b"'


def test_too_common_means_even_the_rarest() -> None:
    assert too_common({'"a"': 2001, '"b"': 2001, '"c"': 0}, 2001)
    assert not too_common({'"a"': 2001, '"b"': 7}, 2001)
    assert not too_common({}, 2001)


def test_a_scope_holds_a_question_to_one_project() -> None:
    store = FakeStore()
    store.put(1, "redis in project p2", project="p1")
    store.put(2, "redis", project="p2")
    weights = (0.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    assert {hit[1] for hit in store.match(scoped('"redis"', "p1"), weights, 9)} == {1}
    assert {hit[1] for hit in store.match(scoped('"redis" OR "p2"'), weights, 9)} == {1, 2}
