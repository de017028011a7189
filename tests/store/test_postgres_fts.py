"""PostgreSQL matches what SQLite matches, whatever the text."""

from __future__ import annotations

import random

import apsw
import pytest

from tests.soak import points
from tests.store.test_fts import HOSTILE
from told.store.database import TOKENIZER
from told.store.fts import match_all, match_any, match_except, match_in, quote_phrase
from told.store.postgres.database import Connection, Database
from told.store.postgres.fts import format_tsvector, parse_expression, to_tsquery

COLUMNS = ("asked", "answered", "near")
LABELS = {"asked": "A", "answered": "B", "near": "D", "project": ""}
WORDS = (
    "deploy", "deploys", "the", "client_id", "naïve", "Straße", "can't", "数据", "数据库", "x", "\\", "'",
    "::", "O'Neil", "A", "B", "&", "|", "!", "<->", "شهر", "ünïcode", "running", "run", "v1.2.3", "%s",
    "\0", "\ud800",
)  # fmt: skip


@pytest.fixture
def rows(postgres: Database) -> list[tuple[str, ...]]:
    """Fill a table with made-up rows."""
    chosen = random.Random(7)
    found = [
        tuple(" ".join(chosen.choices(WORDS, k=chosen.randrange(6))) for _ in COLUMNS) for _ in range(150)
    ]
    with postgres.owning() as connection:
        connection.execute("CREATE TABLE words(id int, words tsvector)")
        for row, texts in enumerate(found):
            put(connection, row, texts)
    return found


def put(connection: Connection, row: int, texts: tuple[str, ...]) -> None:
    columns = [(LABELS[column], text) for column, text in zip(COLUMNS, texts, strict=True)]
    mark = f"project{row % 3}"
    vector = format_tsvector(columns, (mark,))
    connection.execute("INSERT INTO words VALUES(%s, %s::tsvector)", (row, vector))


def make_sqlite(rows: list[tuple[str, ...]]) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(
        f"CREATE VIRTUAL TABLE words USING fts5({', '.join(COLUMNS)}, project, tokenize='{TOKENIZER}')"
    )
    for row, texts in enumerate(rows):
        safe = [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts]
        sql = "INSERT INTO words(rowid, asked, answered, near, project) VALUES(?, ?, ?, ?, ?)"
        connection.execute(sql, (row, *safe, f"project{row % 3}"))
    return connection


def make_expression(chosen: random.Random, depth: int) -> str:
    kind = chosen.randrange(8) if depth else 0
    if kind in (0, 1, 2):
        text = " ".join(chosen.choices(WORDS, k=chosen.choice((0, 1, 1, 1, 2, 2, 3))))
        return quote_phrase(text[: chosen.choice((3, 99, 99))], prefix=chosen.random() < 0.2)
    if kind == 3:
        columns = " ".join(chosen.sample(COLUMNS, chosen.choice((1, 2))))
        return match_in(columns, match_any(make_expression(chosen, depth - 1) for _ in range(2)))
    if kind == 4:
        return match_except(make_expression(chosen, depth - 1), make_expression(chosen, depth - 1))
    if kind == 5:
        project = match_in("project", quote_phrase(f"project{chosen.randrange(4)}"))
        return match_all((project, make_expression(chosen, depth - 1)))
    parts = [make_expression(chosen, depth - 1) for _ in range(chosen.choice((2, 3)))]
    return match_all(parts) if kind == 6 else match_any(parts)


def test_expressions_match_the_same_rows(postgres: Database, rows: list[tuple[str, ...]]) -> None:
    chosen = random.Random(11)
    sqlite = make_sqlite(rows)
    matched = 0
    with postgres.owning() as connection:
        for _ in range(points(everyday=400, soak=20_000)):
            expression = make_expression(chosen, 3)
            expected = [
                row for (row,) in sqlite.execute("SELECT rowid FROM words(?) ORDER BY 1", (expression,))
            ]
            sql = "SELECT id FROM words WHERE words @@ %s::tsquery ORDER BY id"
            found = [row for (row,) in connection.execute(sql, (to_tsquery(expression, LABELS),))]
            assert found == expected, expression
            matched += bool(found)
    assert matched > 50


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_an_expression_and_a_row(module_postgres: Database, text: str) -> None:
    phrase = quote_phrase(text)
    with module_postgres.owning() as connection:
        connection.execute("CREATE TEMPORARY TABLE words(id int, words tsvector) ON COMMIT DROP")
        put(connection, 1, (text, text * 3, ""))
        for expression in (text, phrase, quote_phrase(text, prefix=True), match_in("asked", text)):
            query = to_tsquery(expression, LABELS)
            connection.execute("SELECT 1 FROM words WHERE words @@ %s::tsquery", (query,))
        found = connection.execute(
            "SELECT 1 FROM words WHERE words @@ %s::tsquery", (to_tsquery(phrase, LABELS),)
        ).fetchall()
    assert bool(found) == any(char.isalnum() for char in text)


def test_random_text_never_fails(module_postgres: Database) -> None:
    chosen = random.Random(13)
    signs = [
        '"',
        "(",
        ")",
        "{",
        "}",
        ":",
        "*",
        " ",
        "AND",
        "OR",
        "NOT",
        "asked",
        "a",
        "\\",
        "'",
        "\0",
        "\ud800",
    ]
    with module_postgres.owning() as connection:
        for _ in range(points(everyday=300, soak=20_000)):
            text = "".join(chosen.choices(signs, k=chosen.randrange(12)))
            connection.execute("SELECT %s::tsquery", (to_tsquery(text, LABELS),))


@pytest.mark.parametrize("text", ["(" * 100_000, "NOT " * 5000, '"a" OR ' * 2000 + '"a"', "word " * 50_000])
def test_large_expressions_never_fail(module_postgres: Database, text: str) -> None:
    with module_postgres.owning() as connection:
        connection.execute("SELECT %s::tsquery", (to_tsquery(text, LABELS),))


def test_large_texts_can_be_indexed(module_postgres: Database) -> None:
    many = " ".join(f"word{number}" for number in range(200_000))
    with module_postgres.owning() as connection:
        connection.execute("CREATE TEMPORARY TABLE words(id int, words tsvector) ON COMMIT DROP")
        for row, text in enumerate((many, "same " * 300_000, "long" * 300_000)):
            put(connection, row, (text, "answer", ""))
        sql = "SELECT id FROM words WHERE words @@ %s::tsquery ORDER BY id"
        assert connection.execute(sql, ("'word0'",)).fetchall() == [(0,)]
        assert connection.execute(sql, ("'same'",)).fetchall() == [(1,)]
        phrase = to_tsquery(quote_phrase("long" * 300_000), LABELS)
        assert connection.execute(sql, (phrase,)).fetchall() == [(2,)]


def test_words_of_two_columns_are_no_phrase(module_postgres: Database) -> None:
    vector = format_tsvector([("A", "red"), ("B", "green")])
    with module_postgres.owning() as connection:
        sql = "SELECT %s::tsvector @@ %s::tsquery"
        query = to_tsquery(quote_phrase("red green"), LABELS)
        assert connection.execute(sql, (vector, query)).fetchone() == (False,)


def test_a_typed_mark_is_not_the_mark() -> None:
    assert format_tsvector([("A", "see project5")], ("project5",)) == "'project5' 'see':1A"


def test_other_text_is_one_phrase() -> None:
    assert parse_expression('say "hi') == parse_expression(quote_phrase('say "hi'))
