"""Vectors of turns: they go with the text that they were made of, and models are not mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from told.record import replaced
from told.search.index_text import extra_words, near_words
from told.store.ids import project_token
from told.store.projects import Projects
from told.store.schema import migrate
from told.store.sealing import broken_seals
from told.store.vectors import TurnVectors
from told.store.writing import TurnText, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.store.writing import SessionState

MODEL, OTHER = "table:1", "folder:2"
AT = 1_700_000_000_000
SIGNS = bytes(range(32))


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    made = apsw.Connection(":memory:")
    assert migrate(made)
    yield made
    assert broken_seals(made) == []
    made.close()


def said(connection: apsw.Connection, *asked: str, native: str = "one", at: int = AT) -> SessionState:
    """Write a session whose turns ask something."""
    writer = Writer(connection, extra_words, near_words)
    with writer.transaction():
        session = writer.session("codex", native) or writer.new_session("codex", native)
        turns = [TurnText(n, at + n * 1000, "", text, "", "") for n, text in enumerate(asked)]
        writer.put_turns(session, turns, replace=True)
        writer.close_session(session.id, len(turns), "")
    return session


def understood(connection: apsw.Connection, session: SessionState, model: str = MODEL) -> TurnVectors:
    """Give every turn of a session some vectors."""
    vectors = TurnVectors(connection, model)
    vectors.put([(*turn, b"\1\0" + bytes([turn[0] % 251] * 8)) for turn in vectors.missing(session.id)])
    known = vectors.all_of(session.id)
    rows = b"".join(row.to_bytes(8, "little") for row, _ in known)
    assert vectors.sketched(session.id, rows, SIGNS * len(known), len(known))
    return vectors


def test_new_turns_wait_and_are_struck_off(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    vectors = TurnVectors(connection, MODEL)
    assert vectors.waiting(9) == [session.id]
    assert [turn[1] for turn in vectors.missing(session.id)] == ["the port", "the cache"]
    assert vectors.is_empty()
    vectors = understood(connection, session)
    assert vectors.waiting(9) == []
    assert vectors.missing(session.id) == []
    assert vectors.counts() == (2, 2)
    assert not vectors.is_empty()


def test_a_turn_that_changes_loses_its_vectors_and_the_others_keep_theirs(
    connection: apsw.Connection,
) -> None:
    session = said(connection, "the port", "the cache")
    vectors = understood(connection, session)
    said(connection, "the port", "the cache is full")
    assert [turn[1] for turn in vectors.missing(session.id)] == ["the cache is full"]
    assert vectors.sketches() == []
    assert vectors.waiting(9) == [session.id]


def test_a_turn_that_is_written_again_as_it_was_keeps_its_vectors(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    vectors = understood(connection, session)
    said(connection, "the port", "the cache")
    assert vectors.counts() == (2, 2)
    assert len(vectors.sketches()) == 1


def test_what_is_gone_leaves_no_vector(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    vectors = understood(connection, session)
    said(connection, "the port")
    assert len(vectors.all_of(session.id)) == 1
    writer = Writer(connection, extra_words, near_words)
    with writer.transaction():
        writer.empty_turns(session.id)
    assert vectors.counts() == (0, 0)
    assert vectors.sketches() == []


def test_vectors_of_two_models_are_never_mixed(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    first = understood(connection, session)
    second = TurnVectors(connection, OTHER)
    rows = [row for row, _ in first.all_of(session.id)]
    assert second.of(rows) == {}
    assert second.sketches() == []
    assert second.is_of_another()
    second.queue(drop=False)
    second = understood(connection, session, OTHER)
    assert len(second.of(rows)) == 2
    assert TurnVectors(connection, MODEL).of(rows) == {}


def test_a_text_that_changed_while_its_vector_was_made_gets_none(connection: apsw.Connection) -> None:
    session = said(connection, "the port")
    vectors = TurnVectors(connection, MODEL)
    before = vectors.missing(session.id)
    said(connection, "the port is 8443")
    vectors.put([(*turn, b"\1\0" + bytes(8)) for turn in before])
    assert vectors.all_of(session.id) == []
    assert not vectors.sketched(session.id, b"", b"", 0)
    assert vectors.waiting(9) == [session.id]


def test_sketches_are_held_to_a_project_an_agent_and_a_time(connection: apsw.Connection) -> None:
    old = said(connection, "the port", native="old", at=AT - 9_000_000)
    new = said(connection, "the cache", native="new")
    projects = Projects(connection)
    writer = Writer(connection, extra_words, near_words)
    with writer.transaction():
        shop = projects.put("path:/shop", "shop", "/shop")
        writer.place_session(new.id, shop.id, "")
    understood(connection, replaced(old))
    vectors = understood(connection, new)
    assert len(vectors.sketches()) == 2
    assert len(vectors.sketches(project_token(shop.id))) == 1
    assert len(vectors.sketches(since=AT - 1000)) == 1
    assert len(vectors.sketches(until=AT - 1000)) == 1
    assert vectors.sketches(agent="claude-code") == []
    rows = [row for row, _ in (*vectors.all_of(old.id), *vectors.all_of(new.id))]
    assert len(vectors.places(rows)) == 2
    assert [place[1] for place in vectors.places(rows, since=AT - 1000)] == [new.id]
    assert [place[1] for place in vectors.places(rows, until=AT - 1000)] == [old.id]
    assert TurnVectors(connection, MODEL, notes=True).places(rows) == []


def test_a_session_that_is_gone_waits_for_nothing(connection: apsw.Connection) -> None:
    session = said(connection, "the port")
    said(connection)
    connection.execute("DELETE FROM session WHERE id = ?", (session.id,))
    assert connection.execute("SELECT count(*) FROM fresh WHERE stage = 2").fetchall() == [(0,)]
