"""Forget a person's memories and sessions: erase their words wherever the server has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from told.errors import MissingError, NotFoundError
from told.ingest.forget import Statement, list_statements
from told.ingest.forgotten import ANYWHERE, SESSION_TOPIC, Forgotten, Marker
from told.journal.files import SET
from told.journal.postgres_journal import PostgresJournal
from told.memories.forget import forget_statements, include_duplicates, memories_of_sessions
from told.model import Checkpoint
from told.server.memory import API, TeamMemory
from told.server.sessions import TeamSessions, use_sessions
from told.store.memories.records import FORGOTTEN, Evidence, Memory
from told.store.postgres.agent_memory.memories import delete_of_memories
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.purge import SESSION_TABLES, request_purge
from told.store.sessions.read import CheckpointRow, Filter, SessionRow, TurnText
from told.store.sessions.write import NOTE_TEXTS

_MAX_TURNS = 500  # that are looked at for one statement
_COLUMN_WEIGHTS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def forget_memories(memory: TeamMemory, named: Sequence[Memory]) -> list[str]:
    """Forget memories of the person and others with the same words; return the ids.

    The words are also cut out of the person's sessions. Marks remain, by which both are refused later.
    """
    if not named:
        return []
    viewer, key = memory.client.viewer, memory.writer.journal.key
    own = PostgresMemories(memory.connection, viewer, only_own=True)
    sessions = use_sessions(memory.connection, memory.client)
    with memory.writer.lock():
        sessions.writer.lock()
        every = include_duplicates(memory.writer.journal, own, named)
        places = {one.id: list(_find_places(sessions, Marker(key), one)) for one in every}
        forget_statements(memory.writer, every, places)
    ids = [one.id for one in every]
    delete_of_memories(memory.connection, viewer, ids)
    _cut_sessions(sessions, Forgotten(key, [place for found in places.values() for place in found]))
    for one in every:
        memory.note("memory.forget", one.id, one)
    return ids


def forget_session(memory: TeamMemory, public: str) -> list[str]:
    """Delete a session of the person, and forget the memories from it; return their ids.

    Raises:
        NotFoundError: the person has no such session.
    """
    sessions = use_sessions(memory.connection, memory.client)
    row = sessions.find(public)
    with memory.writer.lock():
        if not sessions.writer.delete_session(row.id):
            raise NotFoundError("Only its owner can delete a session.")
        memory.writer.add(SET, "", **{SET: {SESSION_TOPIC: {f"{row.agent}/{row.native}": "1"}}})
        memory.writer.write()
    request_purge(memory.connection, memory.client.viewer, SESSION_TABLES)
    own = PostgresMemories(memory.connection, memory.client.viewer, only_own=True)
    found = memories_of_sessions(own, [row.native])
    named = [one for one in found if any(_is_from(place, row) for place in one.evidence)]
    return forget_memories(memory, named)


def _is_from(place: Evidence, row: SessionRow) -> bool:
    return place.session == row.native and place.agent in (row.agent, API)


def find_forgotten(sessions: TeamSessions, agent: str, native: str) -> Forgotten:
    """Return what the person has forgotten of a session that is written.

    Raises:
        MissingError: the person has deleted all of it.
    """
    viewer = sessions.client.viewer
    sessions.writer.lock()  # what is forgotten meanwhile is seen here, or sees what is written
    memories = PostgresMemories(sessions.connection, viewer, only_own=True)
    found = memories.load(memories.of_session(native)).values()
    places = [place for one in found if one.status == FORGOTTEN for place in one.evidence]
    key = PostgresJournal(sessions.connection, viewer).key if places else b""
    forgotten = Forgotten(key, places, memories.noted(SESSION_TOPIC))
    if forgotten.has(agent, native):
        raise MissingError("You deleted this session, and it is not stored again. Push it under another id.")
    return forgotten


def write_checkpoint(sessions: TeamSessions, row: SessionRow, note: Checkpoint) -> str:
    """Store a checkpoint of a session without what the person has forgotten of it; return its id."""
    forgotten = find_forgotten(sessions, row.agent, row.native)
    return sessions.writer.put_checkpoint(
        row.id, forgotten.cut_note(note, forgotten.marks(row.agent, row.native))
    )


def _find_places(sessions: TeamSessions, marker: Marker, memory: Memory) -> Iterator[Evidence]:
    """Yield each session of the person that says what a memory says, with a mark of the words."""
    known = {(one.agent, one.session) for one in memory.evidence if one.session}
    for statement in map(Statement, list_statements(memory)):
        found = set(known)
        if statement.is_long:
            hits = sessions.index.match(statement.expression, _COLUMN_WEIGHTS, _MAX_TURNS)
            numbers = {hit[1] for hit in hits}
            rows = (sessions.reader.session(one) for one in numbers if sessions.is_own(one))
            found |= {(row.agent, row.native) for row in rows}
        mark = marker.mark(statement.words)
        for agent, native in sorted(found):
            yield Evidence(agent, native, ANYWHERE, mark=mark.mark, words=mark.words)


def _cut_sessions(sessions: TeamSessions, forgotten: Forgotten) -> None:
    changed = False
    for agent, native in sorted(forgotten.names):
        session = sessions.writer.find(agent, native)
        if session:
            changed |= _cut_session(sessions, sessions.reader.session(session), forgotten)
    if changed:
        request_purge(sessions.connection, sessions.client.viewer, SESSION_TABLES)


def _cut_session(sessions: TeamSessions, row: SessionRow, forgotten: Forgotten) -> bool:
    """Cut forgotten text out of a session; return whether there was any."""
    marks = forgotten.marks(row.agent, row.native)
    before = [
        TurnText(one.n, one.at, "", one.asked, one.answered, one.steps)
        for one in sessions.reader.turns(row.id)
    ]
    after = forgotten.cut_turns(row.agent, row.native, before, marks)
    changed = sessions.writer.put_turns(row.id, after) > 0
    title, summary = forgotten.cut_text(row.title, marks), forgotten.cut_text(row.summary, marks)
    if (title, summary) != (row.title, row.summary):
        sessions.writer.put_title(row.id, title, summary)
        changed = True
    for one in sessions.reader.checkpoints(Filter(), -1, session_id=row.id):
        note = _as_note(row, one)
        cut = forgotten.cut_note(note, marks)
        if cut != note:
            sessions.writer.put_checkpoint(row.id, cut)
            changed = True
    return changed


def _as_note(row: SessionRow, one: CheckpointRow) -> Checkpoint:
    note = Checkpoint(row.native, one.number, "", at=one.at, status=one.status, path=one.path)
    return replace(note, **{name: getattr(one, name) for name in NOTE_TEXTS})
