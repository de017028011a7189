"""Planning of index queries."""

from __future__ import annotations

from tests.search.fake_store import FakeStore
from told.search.rank import is_too_common, plan_query, restrict_to_project


def test_plan_uses_all_terms_within_budget() -> None:
    assert plan_query({'"redis"': 3, '"cache"': 40}, 10**6) == '("redis" OR "cache")'
    assert plan_query({'"redis"': 1500, '"cache"': 1900}, 2000) == '("redis" OR "cache")'


def test_plan_selects_by_rare_terms() -> None:
    expression = plan_query({'"the"': 2001, '"redis"': 900, '"cache"': 1000, '"fix"': 1990}, 10**6)
    assert expression == '(("redis" OR "cache") AND ("redis" OR "cache" OR "fix" OR "the"))'


def test_plan_keeps_rarest_term_beyond_budget() -> None:
    assert plan_query({'"a"': 50, '"bb"': 50}, 1000, budget=10, common=0) == '"bb"'


def test_plan_limits_common_terms() -> None:
    frequencies = {f'"w{n}"': 5000 for n in range(40)} | {'"redis"': 5}
    assert plan_query(frequencies, 10**6).count("w") == 12


def test_plan_skips_unknown_terms() -> None:
    assert plan_query({'"redis"': 3, '"qqq"': 0}, 100) == '"redis"'
    assert plan_query({'"qqq"': 0}, 100) == ""
    assert plan_query({}, 0) == ""


def test_plan_requires_quoted_phrases() -> None:
    assert (
        plan_query({'"redis"': 3}, 100, must=('"a b"', '"c"'))
        == '("a b" AND "c" AND ("a b" OR "c" OR "redis"))'
    )
    assert plan_query({}, 100, must=('"a b"',)) == '"a b"'


def test_is_too_common_checks_rarest_term() -> None:
    assert is_too_common({'"a"': 2001, '"b"': 2001, '"c"': 0}, 2001)
    assert not is_too_common({'"a"': 2001, '"b"': 7}, 2001)
    assert not is_too_common({}, 2001)


def test_restrict_to_project_adds_token() -> None:
    store = FakeStore()
    store.put(1, "redis in project p2", project="p1")
    store.put(2, "redis", project="p2")
    weights = (0.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    assert {hit[1] for hit in store.match(restrict_to_project('"redis"', "p1"), weights, 9)} == {1}
    assert {hit[1] for hit in store.match(restrict_to_project('"redis" OR "p2"'), weights, 9)} == {1, 2}
