"""Full-text expressions: whatever the text, SQLite accepts them, and only one file writes them."""

from __future__ import annotations

import ast

import apsw
import pytest

from tests.rooms import SOURCE, trees
from told.store.fts import match_all, match_any, match_except, match_in, quote_phrase, unquote_phrase

HOSTILE = [
    '"', '""', '{"client_id":"abc"}', 'say "hi', "NEAR(a b, 2)", "NEAR(", "text:", "{text} : x", "^", "^a",
    "*", "a*", "-", "-a", "AND", "NOT", "a OR", "(", ")", "+", ":", "\\", '\\"', "\0", 'a\0"b',
    "\ud800", "\udcff", "\u202eabc", "שלום", "数据库", "", " ", "\n", "x" * 100_000,
]  # fmt: skip


@pytest.fixture(scope="module")
def index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, extra)")
    connection.execute("INSERT INTO words VALUES('use client_id abc for the deploy', 'say hi')")
    return connection


def count(index: apsw.Connection, expression: str) -> int:
    return len(list(index.execute("SELECT 1 FROM words WHERE words MATCH ?", (expression,))))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_a_valid_query(index: apsw.Connection, text: str) -> None:
    phrase = quote_phrase(text)
    for expression in (
        phrase, quote_phrase(text, prefix=True), match_any((phrase, phrase)), match_all((phrase, phrase)),
        match_except(phrase, phrase), match_in("text extra", match_any((phrase, phrase))),
        match_in("text", phrase),
    ):  # fmt: skip
        assert count(index, expression) in (0, 1)


def test_quoted_text_finds_what_it_says(index: apsw.Connection) -> None:
    assert count(index, quote_phrase('{"client_id":"abc"}')) == 1
    assert count(index, quote_phrase("dep", prefix=True)) == 1
    assert count(index, match_all((quote_phrase("abc"), quote_phrase("nothing")))) == 0
    assert count(index, match_any((quote_phrase("abc"), quote_phrase("nothing")))) == 1
    assert count(index, match_except(quote_phrase("abc"), quote_phrase("hi"))) == 0
    assert count(index, match_in("text", quote_phrase("hi"))) == 0


def test_unquoting_returns_the_words() -> None:
    for words in ("abc", 'say "hi', "a*", ""):
        assert unquote_phrase(quote_phrase(words)) == words
        assert unquote_phrase(quote_phrase(words, prefix=True)) == words


def test_no_other_file_writes_expressions() -> None:
    operators = (" AND ", " OR ", " NOT ", "NEAR(")
    for name, tree in trees().items():
        if name == "store/fts.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                assert "MATCH" not in text or name.startswith("store/"), name
                # SQL of the store joins conditions; elsewhere such words only join expressions.
                assert name.startswith("store/") or text not in operators, f"{name}:{node.lineno}"
            # What is handed to a query is made by one of the functions, or was: no literal.
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                asks = node.func.attr in ("latest", "with_term", "frequency", "sessions_with")
                asks |= node.func.attr == "match" and ast.unparse(node.func.value).endswith(
                    ("memories", "store")
                )
                literal = isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
                assert not (asks and literal), f"{name}:{node.lineno}"
    for path in SOURCE.glob("store/*/*.py"):
        for line in path.read_text().splitlines():
            assert "MATCH" not in line or "MATCH ?" in line, f"{path.name}: {line}"
