"""Vectors of turns in `sessions.db`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest

from told.search.index_text import make_extra_words, make_near_words
from told.store.sessions.checkpoints import Projects
from told.store.sessions.match import TurnVectors
from told.store.sessions.read import TurnText
from told.store.sessions.schema import find_broken_checksums, migrate, project_token
from told.store.sessions.write import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.store.sessions.write import SessionState

MODEL, OTHER = "table:1", "folder:2"
AT = 1_700_000_000_000
SIGNS = bytes(range(32))


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    made = apsw.Connection(":memory:")
    assert migrate(made)
    yield made
    assert find_broken_checksums(made) == []
    made.close()


def said(connection: apsw.Connection, *asked: str, native: str = "one", at: int = AT) -> SessionState:
    """Write a session whose turns ask something."""
    writer = SessionWriter(connection, make_extra_words, make_near_words)
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
    assert vectors.put_sketch(session.id, rows, SIGNS * len(known), len(known))
    return vectors


def test_new_turns_are_queued_and_dequeued(connection: apsw.Connection) -> None:
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


def test_changed_turn_loses_its_vectors(
    connection: apsw.Connection,
) -> None:
    session = said(connection, "the port", "the cache")
    vectors = understood(connection, session)
    said(connection, "the port", "the cache is full")
    assert [turn[1] for turn in vectors.missing(session.id)] == ["the cache is full"]
    assert vectors.sketches() == []
    assert vectors.waiting(9) == [session.id]


def test_unchanged_turn_keeps_its_vectors(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    vectors = understood(connection, session)
    said(connection, "the port", "the cache")
    assert vectors.counts() == (2, 2)
    assert len(vectors.sketches()) == 1


def test_deleted_turn_leaves_no_vector(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    vectors = understood(connection, session)
    said(connection, "the port")
    assert len(vectors.all_of(session.id)) == 1
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    with writer.transaction():
        writer.empty_turns(session.id)
    assert vectors.counts() == (0, 0)
    assert vectors.sketches() == []


def test_vectors_of_two_models_are_not_mixed(connection: apsw.Connection) -> None:
    session = said(connection, "the port", "the cache")
    first = understood(connection, session)
    second = TurnVectors(connection, OTHER)
    rows = [row for row, _ in first.all_of(session.id)]
    assert second.of(rows) == {}
    assert second.sketches() == []
    assert second.has_only_other_models()
    second.queue(drop=False)
    second = understood(connection, session, OTHER)
    assert len(second.of(rows)) == 2
    assert TurnVectors(connection, MODEL).of(rows) == {}


def test_text_changed_while_embedding_gets_no_vector(connection: apsw.Connection) -> None:
    session = said(connection, "the port")
    vectors = TurnVectors(connection, MODEL)
    before = vectors.missing(session.id)
    said(connection, "the port is 8443")
    vectors.put([(*turn, b"\1\0" + bytes(8)) for turn in before])
    assert vectors.all_of(session.id) == []
    assert not vectors.put_sketch(session.id, b"", b"", 0)
    assert vectors.waiting(9) == [session.id]


def test_sketches_are_filtered_by_project_agent_and_time(connection: apsw.Connection) -> None:
    old = said(connection, "the port", native="old", at=AT - 9_000_000)
    new = said(connection, "the cache", native="new")
    projects = Projects(connection)
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    with writer.transaction():
        shop = projects.put("path:/shop", "shop", "/shop")
        writer.place_session(new.id, shop.id, "")
    understood(connection, replace(old))
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


def test_deleted_session_is_dequeued(connection: apsw.Connection) -> None:
    session = said(connection, "the port")
    said(connection)
    connection.execute("DELETE FROM session WHERE id = ?", (session.id,))
    assert connection.execute("SELECT count(*) FROM fresh WHERE stage = 2").fetchall() == [(0,)]
