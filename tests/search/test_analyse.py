"""A question may be typed in any way; the index always understands what comes out."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.fake_store import DAY, NOON, FakeStore
from told.search.analyse import MOST_TERMS, analyse
from told.search.plan import plan, scoped

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
    return analyse(text, NOON).terms


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
def test_any_way_of_asking_becomes_the_telling_terms(typed: str, expected: tuple[str, ...]) -> None:
    assert terms(typed) == expected


def test_words_in_double_quotes_are_required_together() -> None:
    query = analyse('where is "the Redis cache" set up', NOON)
    assert query.must == ('"the redis cache"',)
    assert query.terms == ('"redis"', '"cache"', '"set"')


@pytest.mark.parametrize(
    "typed", ['say "redis', 'print("redis cache")', f'{"long paste " * 30} "redis" here', '" "']
)
def test_unbalanced_quotes_and_quotes_of_pasted_code_require_nothing(typed: str) -> None:
    assert analyse(typed, NOON).must == ()


def test_a_pasted_stack_trace_keeps_its_most_telling_terms() -> None:
    found = terms(TRACE * 20)
    assert len(found) == MOST_TERMS
    assert {
        '"apiconnectionerror"',
        '"stripe error apiconnectionerror"',
        '"readtimeout"',
        '"charge customer"',
    } < set(found)


def test_a_time_is_understood_and_not_looked_for() -> None:
    query = analyse("redis timeout last week", NOON)
    assert query.terms == ('"redis"', '"timeout"')
    assert query.window is not None
    assert query.window[0] < NOON - 5 * DAY < query.window[1]
    assert query.window_words == ("last", "week")


def test_a_question_for_a_time_alone_looks_for_its_days() -> None:
    query = analyse("what did we do yesterday?", NOON)
    assert '"20261104"' in query.terms
    assert query.words == ()


def test_words_for_marking_are_single_and_plain() -> None:
    assert analyse('"Redis cache" in src/main.py', NOON).words == ("redis", "cache", "src", "main", "py")


STORE = FakeStore()
STORE.put(1, "some words to look at", "東京 and ไทย", "don't")


@settings(max_examples=2000, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.text(alphabet="\"'()*^:{}+-_ aANDORTE.,;\0\n“”«»東", max_size=60),
        st.lists(st.sampled_from(['"', "AND", "NEAR(", "a*", "{x}:", "don't", "2026-02-31"])).map(" ".join),
    )
)  # fmt: skip
def test_no_text_makes_a_faulty_index_query(text: str) -> None:
    query = analyse(text, NOON)
    frequencies = {term: STORE.frequency(scoped(term), 10) for term in (*query.terms, *query.must)}
    for must in (query.must, ()):
        for known in (frequencies, dict.fromkeys(query.terms, 5000)):
            expression = plan(known, 10**6, must=must)
            if expression:
                STORE.match(scoped(expression, "p1"), (0.0, 1.0, 1.0, 1.0, 1.0, 1.0), 5)


def test_asking_imports_nothing_slow() -> None:
    program = (
        f"import sys; sys.path.insert(0, {SRC!r}); before = set(sys.modules)\n"
        "import told.search.sessions, told.search.excerpt\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    slow = {
        "re",
        "json",
        "typing",
        "dataclasses",
        "datetime",
        "pathlib",
        "apsw",
        "enum",
        "functools",
        "inspect",
    }
    assert "told.search.sessions" in loaded
    assert not slow.intersection(loaded)


SRC = sys.modules["told"].__path__[0].rpartition("told")[0]
