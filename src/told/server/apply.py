"""Apply the team's log to the server's own memories, so that its search and briefs cover what is shared.

A series becomes operations of its author in the server's journal: colleagues see its memories as the
author's, who alone changes or takes them back, by the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from told.journal.copies import COLLEAGUE, PROJECT_KEY, Copy
from told.journal.files import FORGET, MAKES_MEMORY, Draft, Operation, parse_line
from told.journal.postgres_journal import PostgresJournal
from told.redact.rescan import Rescanner
from told.server.context import Server
from told.server.memory import EMBED
from told.store.memories.names import SHARED
from told.store.memories.records import SHARED_WITH, USER
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.jobs import enqueue
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.series import (
    SpaceKey,
    digest_of,
    get_applied,
    list_heads,
    read_files,
    set_applied,
)
from told.store.postgres.server_series import queue_publishing
from told.sync.heads import decode_head
from told.sync.team_outbox import NAMES

APPLY = "apply"  # of items in the queue
_EDGE = "edge"


def enqueue_series(connection: Connection, viewer: Viewer, space: str, series: str, head: bytes) -> None:
    """Queue a series of the team's log whose head was just written."""
    payload = {"space": space, "series": series}
    enqueue(connection, viewer, APPLY, payload, f"{space}/{series}/{digest_of(head)}")


def apply_series(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Callable[[Connection], None]:
    """Return what writes the new operations of a series to its author's journal."""
    key, series = SpaceKey.of(viewer, str(payload["space"])), str(payload["series"])
    with server.database.viewing(viewer) as connection:
        operations = list(_read(connection, key, series, get_applied(connection, key, series)))
    rescanner = Rescanner(server.settings.redact)
    scope = SHARED + server.team.team_name

    def write(connection: Connection) -> None:
        applied = get_applied(connection, key, series, lock=True)  # it may have moved on
        new = [one for one in operations if one.number > applied]
        journal, memories = PostgresJournal(connection, viewer), PostgresMemories(connection, viewer)
        gone, made, others = set(), set(), False
        for one in new:
            drafts = list(_make_drafts(one, viewer, scope, rescanner))
            if drafts:
                journal.append(drafts, memories, now=one.at)
            made |= {draft.memory for draft in drafts}
            others |= any(draft.kind not in (*MAKES_MEMORY, _EDGE) for draft in drafts)
            gone |= {draft.memory for draft in drafts if draft.kind == FORGET}
        if gone:
            journal.erase(gone)
            journal.purge(memories)
            queue_publishing(connection)  # so that clients learn it
        if new:
            set_applied(connection, key, series, new[-1].number)
        if made:
            # Other operations may also bring back what a memory had replaced.
            named = {} if others else {"memories": sorted(made)}
            enqueue(connection, viewer, EMBED, named, f"{key.space}/{series}/{new[-1].number}")

    return write


def _read(connection: Connection, key: SpaceKey, series: str, applied: int) -> Iterator[Operation]:
    """Yield the operations behind a number; all were verified when they were written."""
    raw = list_heads(connection, key).get(series)
    for entry in decode_head(raw, b"").files if raw else ():
        if entry.last > applied:
            data = read_files(connection, key, series, [entry.name], 0).get(entry.name, b"")
            for line in data[: entry.size].splitlines():
                operation = parse_line(line, series)
                if operation.number > applied:
                    yield operation


def _make_drafts(operation: Operation, viewer: Viewer, scope: str, rescanner: Rescanner) -> Iterator[Draft]:
    """Yield what an operation of the log is in its author's journal."""
    project = (operation.payload or {}).get(PROJECT_KEY)
    copy = Copy(
        "", "", operation.machine, COLLEAGUE, trust=viewer.person, scope=scope,
        projects=(project,) if isinstance(project, str) else (),
    )  # fmt: skip
    accepted = copy.accept(operation)
    if accepted is None or accepted.payload is None:  # what was erased before it came here
        return
    payload = rescanner.redact_value(accepted.payload, NAMES)
    if "trust" in payload:
        payload["trust"] = USER
    yield Draft(accepted.kind, USER, payload, accepted.memory)
    if accepted.kind in MAKES_MEMORY:
        yield Draft(_EDGE, USER, {"kind": SHARED_WITH, "target": viewer.team}, accepted.memory)
