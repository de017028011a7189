"""Sessions of a team in PostgreSQL: who sees and writes them, and what stays after a deletion."""

from __future__ import annotations

import random

import psycopg
import pytest

from tests.soak import points
from tests.store.session_stores import (
    ANN,
    BEN,
    NOON,
    STRANGER,
    PostgresSessions,
    Told,
    add_people,
)
from told.errors import NotFoundError, UsageError
from told.model import CLOSED, OPEN, Checkpoint, Touch
from told.search.sessions import search_sessions
from told.store.fts import quote_phrase
from told.store.postgres.database import Database, Viewer
from told.store.postgres.sessions.read import Ownership
from told.store.sessions.read import Filter
from told.store.sessions.schema import project_token

NOTE = Checkpoint("own", 1, "Zeppelin note", "overview", NOON, status=OPEN)
OWN = Told(
    "own", (("Where is the zeppelin?", "In the hangar."), ("Which hangar?", "The third.")), title="Zeppelin",
    touches=(("zeppelin.py", "edit", NOON),), refs=(("issue", "zeppelin-1", NOON),), checkpoints=(NOTE,),
)  # fmt: skip


@pytest.fixture
def ann(postgres: Database) -> PostgresSessions:
    add_people(postgres)
    return PostgresSessions(postgres, ANN)


def seen_by(store: PostgresSessions, viewer: Viewer) -> list[object]:
    """Return all that a person finds with told."""
    with PostgresSessions(store.database, viewer).reading() as (reader, _, index):
        found = search_sessions(index, "zeppelin hangar", now=NOON)
        rows = [group.session for group in found.sessions]
        texts = index.texts([turn.turn for turn in found.turns])
        return [
            *rows, *texts, *index.shapes(list(range(99))), *reader.sessions(Filter(), 9),
            *reader.timeline(Filter(), 9), *reader.touches(Filter(), 9),
            *reader.checkpoints(Filter(), 9), *reader.sessions_like("", 9),
            *reader.checkpoints_like("", 9), *reader.projects(Filter()), *index.session_projects(),
            *index.find_prompts(["zeppelin"], ["z"]), *index.similar_terms("zeppelyn"),
            *reader.turns(1), *reader.refs_of(1),
            *reader.files_of(1),
            *range(index.turn_count()), *range(index.frequency(quote_phrase("zeppelin"), 9)),
        ]  # fmt: skip


def test_a_person_sees_own_and_shared_sessions(ann: PostgresSessions) -> None:
    ann.put(OWN)
    mine = seen_by(ann, ANN)
    assert len(mine) > 20
    assert seen_by(ann, BEN) == []
    ann.put(OWN, shared=True)
    assert seen_by(ann, BEN) == mine == seen_by(ann, ANN)
    assert seen_by(ann, STRANGER) == []
    ann.put(OWN, shared=False)
    assert seen_by(ann, BEN) == []


def test_a_forged_team_shows_nothing(ann: PostgresSessions) -> None:
    session = ann.put(OWN, shared=True)
    with ann.database.viewing(STRANGER) as connection:
        forged = PostgresSessions(ann.database, ANN)
        with forged.reading() as (reader, _, index):
            reader._db = index._db = connection
            assert reader.sessions(Filter(), 9) == []
            assert reader.turns(session) == []
            assert index.match(quote_phrase("zeppelin"), (0, 1, 1, 1, 1, 1), 9) == []
            assert index.frequency(quote_phrase("zeppelin"), 9) == 0
            assert index.similar_terms("zeppelyn") == []


def test_only_the_owner_writes(ann: PostgresSessions) -> None:
    session = ann.put(OWN, shared=True)
    before = ann.dump()
    with ann.reading() as (reader, _, _):
        public = reader.checkpoints(Filter(), 1)[0].public
    ben = PostgresSessions(ann.database, BEN)
    with ben.writing() as writer:
        assert not writer.delete_session(session)
        assert not writer.delete_checkpoint(public)
        assert not writer.put_status(public, CLOSED)
        for write in (
            lambda: writer.put_turns(session, OWN.texts),
            lambda: writer.put_touches(session, [Touch("own", "x", "edit")]),
            lambda: writer.put_checkpoint(session, NOTE),
        ):
            with pytest.raises(NotFoundError):
                write()
    assert ann.dump() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE session SET title = 'mine'",
        "UPDATE turn SET asked = 'mine'",
        "DELETE FROM touch",
        "DELETE FROM session",
        "UPDATE checkpoint SET status = 'closed'",
        "UPDATE turn_total SET turns = 0",
        "DELETE FROM ref",
    ],
)
def test_the_database_itself_protects_a_shared_session(ann: PostgresSessions, statement: str) -> None:
    ann.put(OWN, shared=True)
    with ann.database.viewing(BEN) as connection:
        assert connection.execute(statement).rowcount == 0
    with ann.database.viewing(BEN) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(
            "INSERT INTO session(team, owner, public, agent, native) VALUES('t1', 'ann', 's1', 'codex', 'x')"
        )


def test_two_people_may_have_the_same_session(ann: PostgresSessions) -> None:
    ben = PostgresSessions(ann.database, BEN)
    first, second = ann.put(OWN, shared=True), ben.put(OWN, shared=True)
    assert first != second
    with ann.reading() as (reader, _, _):
        rows = reader.sessions(Filter(), 9)
        assert len({row.public for row in rows}) == len(rows) == 2
        assert reader.ownership(second) == Ownership("ben", shared=True)
    ann.delete_session(first)
    with ben.reading() as (reader, _, _):
        assert [row.id for row in reader.sessions(Filter(), 9)] == [second]


def test_pushing_again_changes_nothing(ann: PostgresSessions) -> None:
    session = ann.put(OWN)
    before = ann.dump()
    assert ann.put(OWN) == session
    assert ann.dump() == before
    with ann.writing() as writer:
        assert writer.put_turns(session, OWN.texts) == 0


def test_a_pushed_change_is_found(ann: PostgresSessions) -> None:
    ann.put(OWN)
    changed = Told("own", (("Where is the submarine?", "In the dock."),), title="Vessels", project="other")
    session = ann.put(changed)
    with ann.reading() as (reader, _, index):
        assert [turn.asked for turn in reader.turns(session)] == ["Where is the submarine?", "Which hangar?"]
        assert index.frequency(quote_phrase("submarine"), 9) == 2  # beside the other turn
        assert index.frequency(quote_phrase("zeppelin"), 9) == 1  # in the checkpoint
        assert index.frequency(quote_phrase("vessels"), 9) == 1
        token = project_token(ann.project("other"))
        assert search_sessions(index, "third hangar", now=NOON, project=token, only=True).sessions
        token = project_token(ann.project(OWN.project))
        assert not search_sessions(index, "third hangar", now=NOON, project=token, only=True).sessions


def test_turns_arrive_in_any_order(ann: PostgresSessions) -> None:
    other = PostgresSessions(ann.database, BEN)
    texts = [f"question about topic{n} and subject{n % 3}" for n in range(12)]
    ann.put(Told("one", tuple((text,) for text in texts)))
    chosen = random.Random(3)
    for n in chosen.sample(range(12), 12):
        other.put(Told("one", ((texts[n],),), first=n))
    with ann.database.owning() as connection:
        sql = (
            "SELECT n, size, words FROM told.turn JOIN told.session USING (team, session)"
            " WHERE owner = %s ORDER BY n"
        )
        sent_at_once, in_parts = (connection.execute(sql, (owner,)).fetchall() for owner in ("ann", "ben"))
        totals = connection.execute("SELECT turns, words FROM told.turn_total").fetchall()
    assert sent_at_once == in_parts
    assert totals[0] == totals[1] == (12, sum(row[1] for row in in_parts))


def test_totals_follow_every_change(ann: PostgresSessions) -> None:
    ids = [ann.put(Told(f"s{n}", OWN.turns, title="a title" if n else ""), shared=n == 1) for n in range(3)]
    ann.put(Told("s0", OWN.turns, title="now it has one"), shared=True)
    ann.put(Told("s1", OWN.turns), shared=False)
    ann.delete_session(ids[2])
    with ann.database.owning() as connection:
        counted = connection.execute(
            "SELECT shared, count(*), sum(size) FROM told.turn JOIN told.session USING (team, session)"
            " GROUP BY shared ORDER BY shared"
        ).fetchall()
        sql = "SELECT shared, turns, words FROM told.turn_total ORDER BY shared"
        assert connection.execute(sql).fetchall() == counted


def test_no_text_breaks_a_search_or_a_push(ann: PostgresSessions) -> None:
    chosen = random.Random(5)
    signs = [
        *"\"'\\&|!():*<>-{}%\0\ud800 ",
        "zeppelin",
        "AND",
        "NOT",
        "数",
        "'s",
        "e\u0301",
        "%s",
        "[secret:x]",
    ]
    for number in range(points(everyday=60, soak=3000)):
        text = "".join(chosen.choices(signs, k=chosen.randrange(1, 9)))
        session = ann.put(Told(f"t{number % 7}{text}", ((text, text, text),), title=text, project=text))
        with ann.reading() as (reader, _, index):
            search_sessions(index, text, now=NOON)
            search_sessions(index, f'"{text}"', now=NOON, agent=text)
            index.similar_terms(text)
            index.find_prompts([text], [text])
            assert reader.sessions_like(reader.session(session).public, 1)
            reader.sessions_like(text, 3)


def test_large_texts_are_stored_and_found(ann: PostgresSessions) -> None:
    huge = " ".join(f"word{number}" for number in range(150_000))
    ann.put(Told("huge", ((f"zeppelin {huge}", "x" * 3_000_000),), touches=(("p/" * 5000, "edit", 1),)))
    with ann.reading() as (reader, _, index):
        assert search_sessions(index, "zeppelin", now=NOON).sessions
        assert reader.touches(Filter(), 1)[0].path == "p/" * 5000


@pytest.mark.parametrize("native", ["", "x" * 5000])
def test_an_unusable_id_is_refused(ann: PostgresSessions, native: str) -> None:
    with pytest.raises(UsageError, match="1 to 500 characters"):
        ann.put(Told(native, OWN.turns))


def test_a_checkpoint_has_a_status_and_an_id(ann: PostgresSessions) -> None:
    session = ann.put(OWN)
    with ann.writing() as writer:
        public = writer.put_checkpoint(session, Checkpoint("own", 0, "By told", id="cabcdefghi", status=OPEN))
        assert public == "cabcdefghi"
        assert writer.put_status(public, CLOSED)
        with pytest.raises(UsageError, match="no id of a checkpoint"):
            writer.put_checkpoint(session, Checkpoint("own", 0, "x", id="nonsense!"))
    with ann.reading() as (reader, _, _):
        assert [one.public for one in reader.checkpoints(Filter(), 9, status=CLOSED)] == [public]


def test_views_show_what_the_person_sees(ann: PostgresSessions) -> None:
    ann.put(OWN)
    views = ("session_view", "turn_view", "touch_view", "checkpoint_view")
    for viewer, expected in ((ANN, [1, 2, 1, 1]), (BEN, [0, 0, 0, 0])):
        with ann.database.viewing(viewer) as connection:
            counts = [len(connection.execute(f"SELECT * FROM {view}").fetchall()) for view in views]
        assert counts == expected
    with ann.database.owning() as connection:
        sql = "SELECT obj_description(%s::regclass)"
        assert all(connection.execute(sql, (f"told.{view}",)).fetchone()[0] for view in views)  # type: ignore[index]
