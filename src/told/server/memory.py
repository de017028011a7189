"""Open the memories of a team for one request, as its person sees them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from told.errors import NotFoundError, UsageError
from told.journal.postgres_journal import PostgresJournal
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, Remembered, remember, validate_text
from told.memories.scopes import active_scopes, validate_kind
from told.server.context import Client, Server
from told.server.publish import enqueue_publishing
from told.store.memories.names import (
    AGENT,
    GLOBAL,
    PRIVATE,
    PROJECT,
    SHARED,
    USER,
    is_private,
    private_scope,
    project_key,
)
from told.store.memories.records import SHARED_WITH, Memory
from told.store.postgres.database import Connection
from told.store.postgres.jobs import enqueue
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.people import add_audit
from told.store.postgres.server_series import find_server_series

SCOPES = ("project", "global", "private", "team")
LATEST = 253_402_300_799_000  # ms since 1970: the end of the year 9999, the last one of a datetime
EMBED = "embed"  # kind of the items that write vectors
API = "api"  # the agent of what came over REST without a name
_EDGE = "edge"
_NEW = ("memory.save", "memory.remember")  # what a new memory is logged as
_MAX_PROJECT = 200  # characters
_NOT_FOUND = "No memory has this id."  # also of one that you may not see


@dataclass(frozen=True)
class TeamMemory:
    """The memories that a person sees, and the writer of their own."""

    server: Server
    client: Client
    connection: Connection
    memories: PostgresMemories
    writer: JournalWriter
    project: str  # scope of the project that the request is about

    @property
    def now(self) -> int:
        """Return the time of the request in ms since 1970."""
        return self.writer.now

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return the scopes that apply to the request."""
        return (*active_scopes(self.memories, self.project), SHARED + self.client.viewer.team_name)

    def find(self, memory_id: str) -> Memory:
        """Return a memory that the person sees.

        Raises:
            NotFoundError: there is none of this id, or it is somebody else's and not shared.
        """
        found = self.memories.get([memory_id]).get(memory_id)
        if found is None or not found.text:
            raise NotFoundError(_NOT_FOUND)
        return found

    def find_own(self, memory_id: str) -> Memory:
        """Return a memory that the person may change.

        Raises:
            UsageError: a colleague's, which only they may change.
        """
        found = self.find(memory_id)
        if self.author_of(found):
            raise UsageError(f"{memory_id} belongs to {self.author_of(found)}, who alone may change it.")
        return found

    def author_of(self, memory: Memory) -> str:
        """Return whose memory it is; empty for the person's own."""
        _, is_team, name = memory.trust.partition(f"team:{self.client.viewer.team_name}/")
        return name if is_team else ""

    def named_scope(self, name: str) -> str:
        """Return the scope that a request names."""
        if name == "team":
            return SHARED + self.client.viewer.team_name
        if name == PRIVATE:
            return private_scope(self.project)
        return GLOBAL if name == GLOBAL else self.project

    def remember(self, new: NewMemory, *, share: bool) -> Remembered:
        """Save a statement of the person's, and share it with the team if wanted."""
        redact = self.server.settings.redact
        if redact(self.project) != self.project:
            raise UsageError("The key of the project contains a secret. Use another one.")
        text, quote = validate_text(redact(new.text)), " ".join(redact(new.quote).split())
        done = remember(self.writer, new._replace(text=text, quote=quote, kind=validate_kind(new.kind)))
        if share:
            self.share(done.memory)
        return done

    def note(self, action: str, target: str, before: Memory | None = None, **detail: Any) -> None:
        """Log a change; let a worker write the vectors of what is active now, and what clients are to get.

        Args:
            action: What was done.
            target: The id of the memory; admins do not see that of a private one.
            before: The memory as it was; by default it is read.
            detail: More for the audit log.
        """
        viewer = self.client.viewer
        memory = self.memories.get([target]).get(target)
        known = before or memory
        logged = "" if known and is_private(known) else target
        add_audit(self.connection, viewer, self.client.token, action, logged, **detail)
        # Other changes may also bring back what a memory had replaced.
        new = {"memories": [target]} if action in _NEW else {}
        enqueue(self.connection, viewer, EMBED, new, f"{target} {self.now} {secrets.token_hex(4)}")
        if (memory and self.is_shared(memory)) or find_server_series(self.connection, viewer):
            enqueue_publishing(self.connection, viewer)

    def share(self, memory: Memory, *, on: bool = True) -> Memory:
        """Share a memory with the team, or take it back.

        Raises:
            UsageError: it is private.
        """
        if on and is_private(memory):
            raise UsageError(f"{memory.id} is private and never shared.")
        team = self.client.viewer.team
        if on != self.is_shared(memory):
            removal = {} if on else {"remove": True}
            self.writer.add(_EDGE, memory.id, kind=SHARED_WITH, target=team, **removal)
            self.writer.write()
        return self.writer.read(memory.id)

    def is_shared(self, memory: Memory) -> bool:
        """Tell whether the team sees a memory."""
        is_team_scope = memory.scope.startswith(SHARED) and not is_private(memory)
        return is_team_scope or any(one.kind == SHARED_WITH for one in memory.edges)

    def json(self, memory: Memory) -> dict[str, Any]:
        """Return a memory as the routes answer it."""
        scope = memory.scope
        return {
            "id": memory.id,
            "text": memory.text,
            "kind": memory.kind,
            "marks": list(memory.marks),
            "scope": "team" if scope.startswith(SHARED) else "private" if is_private(memory)
            else "project" if scope.startswith(PROJECT) else scope,
            "project": project_key(scope),
            "status": memory.status,
            "locked": memory.locked,
            "shared": self.is_shared(memory) or bool(self.author_of(memory)),
            "author": self.author_of(memory) or self.client.viewer.person_name,
            "trust": memory.trust,
            "confidence": round(memory.confidence, 2),
            "importance": memory.importance,
            "created": iso(memory.created),
            "updated": iso(memory.updated),
            "superseded_by": memory.superseded_by,
            "triggers": [one._asdict() for one in memory.triggers],
        }  # fmt: skip


@contextmanager
def open_memory(
    server: Server, client: Client, *, project: str = "", by: str = USER, agent: str = "", session: str = ""
) -> Iterator[TeamMemory]:
    """Open the memories for one request, in one transaction.

    Args:
        server: The database and settings.
        client: Who asks.
        project: The key of the project it is about; empty for none.
        by: Whose word it is: the person's, or an agent's that works for them.
        agent: The agent's name.
        session: The agent's id of the session.
    """
    with server.database.viewing(client.viewer) as connection:
        yield use_memory(connection, server, client, project=project, by=by, agent=agent, session=session)


def use_memory(
    connection: Connection, server: Server, client: Client, *, project: str = "", by: str = USER,
    agent: str = "", session: str = "",
) -> TeamMemory:  # fmt: skip
    """Return the memories within a transaction of the client's; see `open_memory`."""
    if len(project) > _MAX_PROJECT:
        raise UsageError(f"`project` has {len(project):,} characters: give at most {_MAX_PROJECT}.")
    memories = PostgresMemories(connection, client.viewer)
    journal = PostgresJournal(connection, client.viewer)
    caller = Caller(by, agent or ("" if by == USER else AGENT), session)
    writer = JournalWriter(journal, memories, server.now(), caller)
    scope = PROJECT + project if project else GLOBAL
    return TeamMemory(server, client, connection, memories, writer, scope)


def iso(at: int) -> str | None:
    """Return a time in ms since 1970 as text; None for 0."""
    return (
        datetime.fromtimestamp(min(at, LATEST) / 1000, UTC).isoformat(timespec="milliseconds") if at else None
    )
