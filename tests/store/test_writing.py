"""Writing of sessions and turns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import sampled
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import transaction
from told.store.sessions.read import TurnText
from told.store.sessions.schema import migrate
from told.store.sessions.write import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ("gateway", "port", "zebra", "cache", "Straße", "絶対に", "getUserToken", "")
SESSIONS = ("a", "b", "c")

text = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
key = st.sampled_from(["", "k1", "k2", "k3", "k4", "k5", "#7", "#99999999999999999999999", "\ud800"])
turn = st.tuples(st.sampled_from([0, 1, 1_500_000_000_000, 1_500_000_000_500, 10**15]), key, text, text, text)
step = st.tuples(
    st.sampled_from(["replace", "append", "reopen", "place", "title", "roll back"]),
    st.sampled_from(SESSIONS),
    st.lists(turn, max_size=5),
)


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    made = apsw.Connection(":memory:")
    assert migrate(made)
    yield made
    made.close()


class TornError(Exception):
    """Something goes wrong in the middle."""


def write(writer: SessionWriter, what: str, native: str, turns: list[tuple[int, str, str, str, str]]) -> None:
    """Do one thing to a session, as a sweep does."""
    session = writer.session("agent", native) or writer.new_session("agent", native)
    first = {"append": session.next_n, "reopen": max(0, session.next_n - 1)}.get(what, 0)
    texts = [TurnText(first + n, *one) for n, one in enumerate(turns)]
    if what == "place":
        writer.place_session(session.id, len(turns) + 1, "part")
    elif what == "title":
        writer.put_title(replace(session, title=turns[0][2] if turns else ""))
    else:
        if what == "reopen" and texts and session.next_n:
            known = writer.turn(session.id, session.next_n - 1)
            if known is not None:  # the same turn, with more of an answer
                texts[0] = TurnText(
                    known.n, known.at, texts[0].key or known.key, known.asked, texts[0].answered, ""
                )
        writer.put_turns(session, texts, replace=what == "replace")
        next_n = len(texts) if what == "replace" else max(session.next_n, first + len(texts))
        writer.close_session(session.id, next_n, "")
    if what == "roll back":
        raise TornError


def check(connection: apsw.Connection) -> None:
    def rows(sql: str) -> list[tuple[object, ...]]:
        return connection.execute(sql).fetchall()

    connection.execute("INSERT INTO turn_words(turn_words, rank) VALUES('integrity-check', 1)")
    assert rows("PRAGMA integrity_check") == [("ok",)]
    assert rows("SELECT key FROM turn WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1") == []
    assert rows(
        "SELECT s.native FROM session s LEFT JOIN turn t ON t.session_id = s.id AND t.n >= 0"
        " GROUP BY s.id HAVING s.turns != count(t.id)"
    ) == []  # fmt: skip
    known = {
        (session, n): f"{asked}\n{answered}".strip()
        for session, n, asked, answered in connection.execute(
            "SELECT session_id, n, asked, answered FROM turn WHERE n >= 0"
        )
    }
    for session, n, near, found in connection.execute(
        "SELECT session_id, n, near, id FROM turn WHERE n >= 0"
    ):
        assert near == make_near_words(known.get((session, n - 1), ""), known.get((session, n + 1), "")), (
            n,
            found,
        )


Transactions = list[list[tuple[str, str, list[tuple[int, str, str, str, str]]]]]
ANY_WRITES = st.lists(st.lists(step, min_size=1, max_size=4), max_size=6)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(ANY_WRITES)
def test_index_matches_turns_after_any_writes(transactions: Transactions) -> None:
    assert_index_matches_turns(transactions)


@pytest.mark.soak
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(ANY_WRITES)
def test_index_matches_turns_after_many_writes(transactions: Transactions) -> None:
    assert_index_matches_turns(transactions)


def assert_index_matches_turns(transactions: Transactions) -> None:
    connection = apsw.Connection(":memory:")
    assert migrate(connection)
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    for steps in transactions:
        before = connection.execute("SELECT * FROM turn ORDER BY id").fetchall()
        try:
            with writer.transaction():
                for one in steps:
                    write(writer, *one)
        except TornError:
            assert connection.execute("SELECT * FROM turn ORDER BY id").fetchall() == before
        check(connection)
    connection.close()


@pytest.mark.parametrize("at", sampled([0, -5, 1_700_000_000_000, 10**18], [-5, 1_700_000_000_000]))
def test_thousands_of_turns_of_same_second_are_stored(connection: apsw.Connection, at: int) -> None:
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    with writer.transaction():
        for number in range(40):
            session = writer.new_session("agent", f"s{number}")
            writer.put_turns(
                session, [TurnText(n, at, "", f"question {n}", "", "") for n in range(100)], replace=True
            )
    assert connection.execute("SELECT count(*) FROM turn").fetchall() == [(4000,)]
    connection.execute("INSERT INTO turn_words(turn_words, rank) VALUES('integrity-check', 1)")
    is_near = "SELECT max(id) - min(id) < 8 * 86400 FROM turn"  # within a day of their time
    assert connection.execute(is_near).fetchall() == [(1,)]


def test_row_ids_follow_time(connection: apsw.Connection) -> None:
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    times = [1_700_000_000_000 + 60_000 * n for n in (5, 1, 4, 2, 3)]
    with writer.transaction():
        for at in times:
            session = writer.new_session("agent", f"s{at}")
            writer.put_turns(session, [TurnText(0, at, "", "hello", "", "")], replace=True)
    assert [row[0] for row in connection.execute("SELECT at FROM turn ORDER BY id")] == sorted(times)


def test_turn_with_new_time_gets_new_row(connection: apsw.Connection) -> None:
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    for at in (1_700_000_000_000, 1_600_000_000_000):
        with writer.transaction():
            session = writer.session("agent", "s") or writer.new_session("agent", "s")
            writer.put_turns(session, [TurnText(0, at, "k", "hello", "", "")], replace=True)
    assert connection.execute("SELECT at, count(*) FROM turn").fetchall() == [(1_600_000_000_000, 1)]
    connection.execute("INSERT INTO turn_words(turn_words, rank) VALUES('integrity-check', 1)")


def test_failure_at_commit_keeps_nothing(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SessionWriter(connection, make_extra_words, make_near_words)

    def fails() -> None:
        raise apsw.FullError

    monkeypatch.setattr(writer, "flush_words", fails)
    with pytest.raises(apsw.FullError), writer.transaction():
        writer.put_turns(
            writer.new_session("agent", "s"), [TurnText(0, 1, "", "hello", "", "")], replace=True
        )
    monkeypatch.undo()
    assert not connection.in_transaction
    with writer.transaction():
        writer.put_turns(writer.new_session("agent", "s"), [TurnText(0, 1, "", "bye", "", "")], replace=True)
    assert connection.execute("SELECT asked FROM turn").fetchall() == [("bye",)]
    connection.execute("INSERT INTO turn_words(turn_words, rank) VALUES('integrity-check', 1)")


def test_failed_commit_leaves_no_open_transaction(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA foreign_keys=ON; CREATE TABLE one(id PRIMARY KEY)")
    connection.execute("CREATE TABLE two(one REFERENCES one DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(apsw.ConstraintError), transaction(connection):
        connection.execute("INSERT INTO two VALUES(1)")
    assert not connection.in_transaction
    with transaction(connection):
        connection.execute("INSERT INTO one VALUES(2)")
    assert connection.execute("SELECT (SELECT count(*) FROM one), (SELECT count(*) FROM two)").fetchall() == [
        (1, 0)
    ]
