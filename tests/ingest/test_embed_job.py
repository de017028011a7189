"""Embed all turns once, in steps, and again after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from told.errors import BusyError
from told.ingest.embed_job import embed_turns
from told.search.index_text import make_extra_words, make_near_words
from told.search.vectors.arithmetic import unpack_vectors
from told.search.vectors.embedder import load_default_embedder
from told.store.sessions.match import TurnVectors
from told.store.sessions.read import TurnText
from told.store.sessions.schema import migrate
from told.store.sessions.write import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.search.vectors.embedder import Embedder

AT = 1_700_000_000_000


class Counting:
    """An embedder that says how many texts it was asked for, and may fail."""

    model, floor, is_quick = "counting:1", 0.3, True

    def __init__(self, works_for: int = 1 << 30) -> None:
        self.texts: list[str] = []
        self._works_for = works_for

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        if len(self.texts) >= self._works_for:
            raise BusyError("It does not answer.")
        self.texts += texts
        return [bytes([len(text) % 120 + 1] * 16) if text != "?!" else None for text in texts]


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    made = apsw.Connection(":memory:")
    assert migrate(made)
    yield made
    made.close()


def write(connection: apsw.Connection, sessions: int, turns: int, *, more: str = "") -> None:
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    with writer.transaction():
        for number in range(sessions):
            name = f"s{number}"
            session = writer.session("codex", name) or writer.new_session("codex", name)
            texts = [
                TurnText(n, AT + number * 9_000_000 + n * 1000, "", f"turn {n} of {name}{more}", "Done.", "")
                for n in range(turns)
            ]
            writer.put_turns(session, texts, replace=True)
            writer.close_session(session.id, turns, "")


def test_every_turn_is_embedded_once(connection: apsw.Connection) -> None:
    write(connection, 3, 4)
    embedder = Counting()
    seen: list[int] = []
    done = embed_turns(connection, embedder, report=seen.append)
    assert (done.sessions, done.turns, done.left) == (3, 12, False)
    assert sum(seen) == 12
    assert len(embedder.texts) == 24
    assert TurnVectors(connection, embedder.model).counts() == (12, 12)
    assert embed_turns(connection, embedder).turns == 0
    assert len(embedder.texts) == 24


def test_only_changed_turns_are_embedded_again(connection: apsw.Connection) -> None:
    write(connection, 2, 3)
    embedder = Counting()
    embed_turns(connection, embedder)
    write(connection, 1, 4)
    asked = len(embedder.texts)
    assert embed_turns(connection, embedder).turns == 1
    assert embedder.texts[asked:] == ["turn 3 of s0", "Done."]
    assert len(TurnVectors(connection, embedder.model).sketches()) == 2


def test_embedding_stops_at_the_deadline_and_resumes(connection: apsw.Connection) -> None:
    write(connection, 2, 200)
    embedder = Counting()
    runs = 0
    while embed_turns(connection, embedder, seconds=0).left:
        runs += 1
    assert runs > 3
    assert len(embedder.texts) == 800
    assert TurnVectors(connection, embedder.model).counts() == (400, 400)


def test_vectors_before_a_failure_are_kept(connection: apsw.Connection) -> None:
    write(connection, 1, 600)
    with pytest.raises(BusyError):
        embed_turns(connection, Counting(works_for=200))
    done = TurnVectors(connection, "counting:1").counts()[0]
    assert 0 < done < 600
    embedder = Counting()
    embed_turns(connection, embedder)
    assert len(embedder.texts) == 2 * (600 - done)


def test_turn_without_words_is_done(connection: apsw.Connection) -> None:
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    with writer.transaction():
        session = writer.new_session("codex", "odd")
        writer.put_turns(session, [TurnText(0, AT, "", "?!", "", "")], replace=True)
        writer.close_session(session.id, 1, "")
    assert embed_turns(connection, Counting()).left is False
    vectors = TurnVectors(connection, "counting:1")
    assert vectors.waiting(1) == []
    assert vectors.sketches() == []


def test_another_model_embeds_everything_again(connection: apsw.Connection) -> None:
    write(connection, 2, 2)
    embed_turns(connection, Counting())
    table: Embedder | None = load_default_embedder()
    assert table is not None
    assert embed_turns(connection, table).turns == 4
    vectors = TurnVectors(connection, table.model)
    assert vectors.counts() == (4, 4)
    blobs = [
        blob for turns, _ in vectors.sketches() for blob in vectors.of(memoryview(turns).cast("q")).values()
    ]
    assert all(len(one) == 256 for blob in blobs for side in unpack_vectors(blob) for one in side)
