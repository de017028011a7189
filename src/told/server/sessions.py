"""Open the sessions of a team for one request, as its person sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from told.errors import NotFoundError
from told.search.index_text import make_extra_words, make_near_words
from told.server.context import Client, Server
from told.server.memory import iso
from told.store.postgres.database import Connection
from told.store.postgres.sessions.match import TeamTurnIndex
from told.store.postgres.sessions.read import TeamSessionReader
from told.store.postgres.sessions.write import TeamSessionWriter
from told.store.sessions.read import CheckpointRow, SessionRow, TurnRow

_NOT_FOUND = "No session has this id."  # also of one that you may not see


@dataclass(frozen=True)
class TeamSessions:
    """The sessions that a person sees, and the writer of their own."""

    client: Client
    connection: Connection
    reader: TeamSessionReader
    writer: TeamSessionWriter
    index: TeamTurnIndex

    def find(self, public: str) -> SessionRow:
        """Return a session that the person sees.

        Raises:
            NotFoundError: there is none of this id, or it is somebody else's and not shared.
        """
        found = self.reader.session_named(public)
        if found is None:
            raise NotFoundError(_NOT_FOUND)
        return found

    def is_own(self, session_id: int) -> bool:
        """Tell whether a session is the person's own."""
        return self.reader.ownership(session_id).owner == self.client.viewer.person

    def json(self, one: SessionRow) -> dict[str, Any]:
        """Return a session as the routes answer it."""
        owned = self.reader.ownership(one.id)
        return {
            "id": one.public, "agent": one.agent, "native": one.native, "project": one.project,
            "title": one.title or one.summary, "summary": one.summary, "branch": one.branch,
            "turns": one.turns, "started": iso(one.started), "ended": iso(one.ended), "shared": owned.shared,
            "is_own": owned.owner == self.client.viewer.person,
        }  # fmt: skip


@contextmanager
def open_sessions(server: Server, client: Client) -> Iterator[TeamSessions]:
    """Open the sessions for one request, in one transaction."""
    with server.database.viewing(client.viewer) as connection:
        yield use_sessions(connection, client)


def use_sessions(connection: Connection, client: Client) -> TeamSessions:
    """Return the sessions within a transaction of the client's."""
    viewer = client.viewer
    writer = TeamSessionWriter(connection, viewer, make_extra_words, make_near_words)
    reader, index = TeamSessionReader(connection, viewer), TeamTurnIndex(connection, viewer)
    return TeamSessions(client, connection, reader, writer, index)


def turn_json(one: TurnRow) -> dict[str, Any]:
    """Return a turn as the routes answer it."""
    return {"n": one.n, "at": iso(one.at), "asked": one.asked, "answered": one.answered, "steps": one.steps}


def checkpoint_json(one: CheckpointRow) -> dict[str, Any]:
    """Return a checkpoint as the routes answer it."""
    return {
        "id": one.public, "session": one.session, "agent": one.agent, "project": one.project,
        "goal": one.title, "summary": one.overview, "done": one.work_done, "decisions": one.technical_details,
        "files": one.important_files, "pending": one.next_steps, "status": one.status, "at": iso(one.at),
    }  # fmt: skip
