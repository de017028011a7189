"""Let the reader read sessions that people push: one question for a quiet one, within a daily budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from told.memories import proof
from told.memories.remember import NewMemory, remember
from told.reader.answer import Answer, parse_answer
from told.reader.base import Reader
from told.reader.question import (
    Message,
    estimate_tokens,
    find_known,
    group_messages,
    make_question,
    read_messages,
)
from told.server.context import Client, Server
from told.server.jobs import Write
from told.server.memory import open_memory, use_memory
from told.server.sessions import TeamSessions, open_sessions, use_sessions
from told.store.memories.names import AGENT, GLOBAL
from told.store.memories.records import READER
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.jobs import enqueue
from told.store.postgres.model_calls import (
    begin_call,
    end_call,
    next_turn,
    note_reviewed,
)
from told.store.postgres.people import MEMBER
from told.store.sessions.facts import QUIET_MS
from told.store.sessions.read import SessionRow
from told.text import count_tokens

REVIEW = "review"  # kind of the items that ask about a session
_DAY_SECONDS = 86_400


class _Asked(NamedTuple):
    """What the reader is asked about, and what it knows of it."""

    session: SessionRow
    messages: Sequence[Message]
    known: frozenset[str]  # ids of memories
    until: int  # the first turn that is not covered
    has_more: bool


def request_review(connection: Connection, server: Server, viewer: Viewer, session: SessionRow) -> None:
    """Let a worker ask about a session once it has been quiet for a while, if the server has a reader."""
    if server.settings.reader:
        _enqueue(connection, viewer, session, "quiet", QUIET_MS / 1000)


def _enqueue(connection: Connection, viewer: Viewer, session: SessionRow, why: str, seconds: float) -> None:
    payload = {"session": session.public, "turns": session.turns}
    key = f"{session.public} {session.turns} {why}"
    enqueue(connection, viewer, REVIEW, payload, key, wait_seconds=seconds)


def review_session(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
    """Ask the reader about the new messages of a session; return what keeps its answer."""
    reader = server.settings.reader
    asked = _prepare(server, viewer, payload) if reader else None
    if reader is None or asked is None:
        return _keep_nothing
    answer = _ask(server, viewer, reader, asked) if asked.messages else Answer()

    def write(connection: Connection) -> None:
        if answer is None:  # the budget is used up: go on tomorrow
            _enqueue(
                connection, viewer, asked.session, f"from {asked.until}", _seconds_until_midnight(server)
            )
            return
        _keep(connection, server, viewer, asked, answer)
        note_reviewed(connection, viewer, asked.session.id, asked.until)
        if asked.has_more:
            _enqueue(connection, viewer, asked.session, f"after {asked.until}", 0)

    return write


def _seconds_until_midnight(server: Server) -> float:
    """Return when the next day of the budget begins, which is UTC's."""
    return _DAY_SECONDS - server.now() / 1000 % _DAY_SECONDS + 1


def _keep_nothing(_: Connection) -> None:
    """Leave it: the session is gone, or goes on and is asked about later."""


def _prepare(server: Server, viewer: Viewer, payload: dict[str, Any]) -> _Asked | None:
    client = Client(viewer, MEMBER, "")
    with open_sessions(server, client) as opened:
        session = opened.reader.session_named(payload["session"])
        if session is None or session.turns != payload["turns"]:
            return None
        turns = opened.reader.turns(session.id)
        start = next_turn(opened.connection, viewer, session.id)
    after = turns[-1].n + 1 if turns else 0
    found = read_messages(turns, start, server.settings.redact)
    numbered = [replace(one, id=one.turn) for one in found]
    messages, *more = list(group_messages(numbered)) or [[]]
    with open_memory(server, client, project=session.project) as memory:
        known = frozenset(one.id for one in find_known(memory.memories, messages, memory.scopes, memory.now))
    return _Asked(session, messages, known, more[0][0].turn if more else after, bool(more))


def _ask(server: Server, viewer: Viewer, reader: Reader, asked: _Asked) -> Answer | None:
    """Return the reader's answer; None if the day's budget is used up."""
    with open_memory(server, Client(viewer, MEMBER, ""), project=asked.session.project) as opened:
        known = list(opened.memories.get(sorted(asked.known)).values())
    question = make_question([asked.messages], known)
    expected, most = estimate_tokens(question), server.settings.reader_daily_tokens
    with server.database.owning() as connection:
        call = begin_call(
            connection, viewer, session=asked.session.public, model=reader.title, tokens=expected, most=most
        )
    if call is None:
        return None
    sent, received, failed = expected, 0, "no answer"
    try:
        reply = reader.ask(question)
        sent, received = reply.tokens_in or expected, reply.tokens_out or count_tokens(reply.text)
        failed = "not valid"
        answer = parse_answer(reply.text, {one.id for one in asked.messages}, ())
        failed = ""
    finally:
        with server.database.owning() as connection:
            end_call(connection, viewer.team, call, tokens_in=sent, tokens_out=received, failed=failed)
    return answer


def _find_unchanged(sessions: TeamSessions, server: Server, asked: _Asked) -> dict[int, Message]:
    """Return the messages by id, but those that were deleted or cut while the reader was asked."""
    first = min((one.turn for one in asked.messages), default=0)
    turns = sessions.reader.turns(asked.session.id)
    current = {one.turn: one for one in read_messages(turns, first, server.settings.redact)}
    return {one.id: one for one in asked.messages if current.get(one.turn) == replace(one, id=-1)}


def _keep(connection: Connection, server: Server, viewer: Viewer, asked: _Asked, answer: Answer) -> None:
    """Remember what the quotes prove, as an agent's word: nobody has read it yet."""
    session = asked.session
    client = Client(viewer, MEMBER, "")
    opened = use_memory(
        connection, server, client, project=session.project, by=AGENT, agent=session.agent,
        session=session.native,
    )  # fmt: skip
    with opened.writer.lock():  # nothing is forgotten from here on
        messages = _find_unchanged(use_sessions(connection, client), server, asked)
    said = [proof.Message(one.text, one.before, one.id, session.native) for one in messages.values()]
    for number, item in enumerate(answer.items):
        found = proof.prove(item.text, item.quote, said, by=READER) if item.text else proof.Proof()
        if found.why_not or found.message is None:
            continue
        message = messages[found.message.turn]
        new = NewMemory(
            server.settings.redact(item.text),
            GLOBAL if item.scope == GLOBAL else opened.project,
            item.kind,
            trust=AGENT,
            quote=item.quote,
            agent=session.agent,
            session=session.native,
            turn=message.turn,
            at=min(message.at, opened.now),
            seed=f"{session.public}.{message.turn}.reader.{number}",
        )
        opened.note("memory.remember", remember(opened.writer, new).memory.id, by="reader")
