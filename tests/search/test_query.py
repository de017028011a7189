"""Parsing of questions into index terms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.fake_store import DAY, NOON, FakeStore
from told.search.query import MAX_TERMS, parse_query
from told.search.rank import plan_query, restrict_to_project

TRACE = """Traceback (most recent call last):
  File "/home/ann/shop/src/app/payment/charge.py", line 214, in charge_customer
    receipt = gateway.submit(order, idempotency_key=key)
  File "/home/ann/shop/vendor/stripe/_api_requestor.py", line 398, in request
    resp = self._interpret_response(rbody, rcode, rheaders, api_mode)
  File "/home/ann/shop/vendor/stripe/_http_client.py", line 101, in request_with_retries
    raise err.with_traceback(tb) from e
stripe.error.APIConnectionError: Unexpected error (Network error: ReadTimeout 0x7f3a91c2)
"""


def terms(text: str) -> tuple[str, ...]:
    return parse_query(text, NOON).terms


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("how did we fix the redis timeout?", ('"fix"', '"redis"', '"timeout"')),
        ("don't use the user's token?", ('"use"', '"user"', '"token"')),
        ("redis OR kafka AND NOT NEAR nats", ('"redis"', '"kafka"', '"nats"')),
        ("alpha, beta; gamma", ('"alpha"', '"beta"', '"gamma"')),
        ("redis Redis REDIS", ('"redis"',)),
        ("foo_bar", ('"foo bar"', '"foo"', '"bar"')),
        ("src/app/main.py", ('"src app main py"', '"src"', '"app"', '"main"')),
        ("getUserToken", ('"getusertoken"', '"user"', '"token"')),
        ("HTTPServer", ('"httpserver"', '"http"', '"server"')),
        ("https://acme.com/a1/shop/pull/12", ('"a1 shop pull 12"', '"acme"', '"shop"', '"pull"')),
        ("l'index du projet", ('"index"', '"projet"')),
        ("wie haben wir das Passwort gespeichert", ('"passwort"', '"gespeichert"')),
        ("how do you do", ('"how"', '"do"', '"you"')),
        ("東京都", ('"東京"', '"京都"')),
        ("猫", ('"猫"*',)),
        ("Redisを使う", ('"redis"', '"を使"', '"使う"')),
        ("cafe\u0301 naïve", ('"cafe"', '"naïve"')),
        ("🚀 deploy 🚀", ('"deploy"',)),
        ("NEAR(redis hit, 5) -kafka ^near: {x1}*", ('"redis"', '"hit"', '"5"', '"kafka"', '"near"', '"x1"')),
        ("???", ()),
    ],
)  # fmt: skip
def test_parse_query_finds_specific_terms(typed: str, expected: tuple[str, ...]) -> None:
    assert terms(typed) == expected


def test_parse_query_requires_quoted_phrases() -> None:
    query = parse_query('where is "the Redis cache" set up', NOON)
    assert query.must == ('"the redis cache"',)
    assert query.terms == ('"redis"', '"cache"', '"set"')


@pytest.mark.parametrize(
    "typed", ['say "redis', 'print("redis cache")', f'{"long paste " * 30} "redis" here', '" "']
)
def test_parse_query_ignores_quotes_of_pasted_code(typed: str) -> None:
    assert parse_query(typed, NOON).must == ()


def test_parse_query_keeps_specific_terms_of_stack_trace() -> None:
    found = terms(TRACE * 20)
    assert len(found) == MAX_TERMS
    assert {
        '"apiconnectionerror"',
        '"stripe error apiconnectionerror"',
        '"readtimeout"',
        '"charge customer"',
    } < set(found)


def test_parse_query_drops_words_of_a_time() -> None:
    query = parse_query("redis timeout last week", NOON)
    assert query.terms == ('"redis"', '"timeout"')
    assert query.window is not None
    assert query.window[0] < NOON - 5 * DAY < query.window[1]


def test_parse_query_searches_days_of_a_bare_time() -> None:
    query = parse_query("what did we do yesterday?", NOON)
    assert '"20261104"' in query.terms
    assert query.words == ()


def test_parse_query_lists_single_words_for_excerpts() -> None:
    assert parse_query('"Redis cache" in src/main.py', NOON).words == ("redis", "cache", "src", "main", "py")


STORE = FakeStore()
STORE.put(1, "some words to look at", "東京 and ไทย", "don't")


ANY_TEXT = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="\"'()*^:{}+-_ aANDORTE.,;\0\n“”«»東", max_size=60),
    st.lists(st.sampled_from(['"', "AND", "NEAR(", "a*", "{x}:", "don't", "2026-02-31"])).map(" ".join),
)


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_parse_query_makes_valid_expressions_of_any_text(text: str) -> None:
    assert_valid_expressions(text)


@pytest.mark.soak
@settings(max_examples=2000, deadline=None)
@given(ANY_TEXT)
def test_parse_query_makes_valid_expressions_of_many_texts(text: str) -> None:
    assert_valid_expressions(text)


def assert_valid_expressions(text: str) -> None:
    query = parse_query(text, NOON)
    frequencies = {
        term: STORE.frequency(restrict_to_project(term), 10) for term in (*query.terms, *query.must)
    }
    for must in (query.must, ()):
        for known in (frequencies, dict.fromkeys(query.terms, 5000)):
            expression = plan_query(known, 10**6, must=must)
            if expression:
                STORE.match(restrict_to_project(expression, "p1"), (0.0, 1.0, 1.0, 1.0, 1.0, 1.0), 5)
