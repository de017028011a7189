"""Put what people share over REST into the team's log: the server writes a series for each of them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nacl.signing import SigningKey

from told.errors import BusyError
from told.journal.append import SeriesEnd, encode_copies
from told.journal.copies import COLLEAGUE, Copy
from told.journal.erase import erase_lines
from told.journal.files import first_hash, parse_line, peek_line
from told.server.context import Server
from told.store.database import public_id
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.jobs import enqueue, is_waiting
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.people import add_audit, find_person
from told.store.postgres.purge import SERIES_TABLES, request_purge
from told.store.postgres.series import (
    SpaceKey,
    digest_of,
    find_team_space,
    list_heads,
    read_files,
    write_series,
)
from told.store.postgres.server_series import (
    ServerSeries,
    find_server_series,
    list_applied,
    list_shared,
    lock_server_series,
    rename_server_series,
)
from told.sync.heads import FileEntry, Head, decode_head, encode_head, sign_own
from told.sync.identity import Identity
from told.sync.outbox import SEGMENT_BYTES
from told.sync.team_outbox import ChangeFinder

PUBLISH = "publish"  # of items in the queue


def enqueue_publishing(connection: Connection, viewer: Viewer) -> None:
    """Queue a look at what a person shares."""
    enqueue(connection, viewer, PUBLISH, {}, secrets.token_hex(16))


def publish_memories(
    server: Server, viewer: Viewer, payload: dict[str, Any]  # noqa: ARG001 - it looks at all of them
) -> Callable[[Connection], None]:  # fmt: skip
    """Return what brings a person's series on the server up to what the person shares there."""

    def write(connection: Connection) -> None:
        if is_waiting(connection, viewer, PUBLISH):
            return  # the next one sees what this one would
        space = find_team_space(connection, viewer.team)
        shared = _list_own_word(connection, viewer, server.team.team_name) if space else {}
        if space and (shared or find_server_series(connection, viewer)):
            _Publisher(server, connection, viewer, space).publish(shared)

    return write


def is_from_log(viewer: Viewer, memory_id: str) -> bool:
    """Tell whether a memory of a person came from the person's machines."""
    return Copy("", "", "", COLLEAGUE, trust=viewer.person).is_local_id(memory_id)


def _list_own_word(connection: Connection, viewer: Viewer, team_name: str) -> dict[str, int]:
    """Return when a person shared what is the person's word and did not come from the log, by id."""
    shared = list_shared(connection, viewer, team_name)
    known = PostgresMemories(connection, viewer, only_own=True).get(shared)
    return {
        name: at
        for name, at in shared.items()
        if not is_from_log(viewer, name) and name in known and known[name].is_decided_by_user
    }


class _Publisher:
    """The series of one person, locked until the transaction ends."""

    def __init__(self, server: Server, connection: Connection, viewer: Viewer, space: str) -> None:
        self._server, self._connection, self._viewer = server, connection, viewer
        self._key = SpaceKey.of(viewer, space)
        self._own = lock_server_series(connection, viewer, _new_series())
        self._raw, self._head = self._read_head()

    def publish(self, shared: dict[str, int]) -> None:
        """Append and erase what changed, sign the head again if it did."""
        names, size = [one.name for one in self._head.files], sum(one.size for one in self._head.files)
        files = read_files(self._connection, self._key, self._own.series, names, size)
        operations = [
            parse_line(line, self._own.series) for data in files.values() for line in data.splitlines()
        ]
        memories = PostgresMemories(self._connection, self._viewer, only_own=True)
        changes = ChangeFinder(
            self._key.space, self._own.series, memories, projects=None, now=self._server.now(),
            redact=self._server.settings.redact,
        ).find(operations, shared)  # fmt: skip
        seen = list_applied(self._connection, self._key)
        is_same = not changes.operations and not changes.ended
        if is_same and (self._head.seen == seen or not self._raw):
            return
        new = dict(files)
        for name, data in encode_copies(changes.operations, _end_of(self._head, files), SEGMENT_BYTES):
            new[name] = new.get(name, b"") + data
        if changes.ended:
            new = {name: erase_lines(data, self._own.series, changes.ended) for name, data in new.items()}
        changed = {name: data for name, data in new.items() if files.get(name) != data}
        self._write(changed, self._sign(new, seen))
        if changes.ended:
            request_purge(self._connection, self._viewer, SERIES_TABLES)
        add_audit(
            self._connection, self._viewer, "", "sync.publish", f"{self._key.space}/{self._own.series}",
            operations=len(changes.operations), left_out=len(changes.problems),
        )  # fmt: skip

    def _read_head(self) -> tuple[bytes | None, Head]:
        raw = list_heads(self._connection, self._key).get(self._own.series)
        head = decode_head(raw, b"") if raw else None
        if head and head.key == _public(self._own):
            return raw, head
        # There is none yet, or it was deleted: clients may have read more of it than a new one would say.
        name = _new_series()
        rename_server_series(self._connection, self._viewer, name)
        self._own = self._own._replace(series=name)
        return None, self._empty_head()

    def _empty_head(self) -> Head:
        person = find_person(self._connection, self._viewer.team, self._viewer.person)
        return Head(
            self._key.space, self._own.series, 0, first_hash(self._own.series), (), _public(self._own),
            Identity(self._own.secret).public, voucher="", name=person.name if person else "",
            team=self._server.team.team_name,
        )  # fmt: skip

    def _sign(self, files: dict[str, bytes], seen: dict[str, int]) -> bytes:
        entries, number, own_hash = [], self._head.number, self._head.hash
        for name, data in sorted(files.items()):
            last = peek_line(data[:-1].rpartition(b"\n")[2])
            if last:
                number, own_hash = last
            entries.append(FileEntry(name, digest_of(data), number, len(data)))
        head = replace(
            self._empty_head(), number=number, hash=own_hash, files=tuple(entries), seen=seen,
            writer=self._own.series,
        )  # fmt: skip
        return encode_head(sign_own(head, Identity(self._own.secret), SigningKey(self._own.machine_key)), b"")

    def _write(self, files: dict[str, bytes], head: bytes) -> None:
        before = digest_of(self._raw) if self._raw else None
        if not write_series(
            self._connection, self._viewer, self._key.space, self._own.series, files, head=head, before=before
        ):
            raise BusyError("The series changed meanwhile.")


def _new_series() -> str:
    return public_id("", os.urandom(16).hex(), length=8)


def _public(own: ServerSeries) -> str:
    return SigningKey(own.machine_key).verify_key.encode().hex()


def _end_of(head: Head, files: dict[str, bytes]) -> SeriesEnd:
    last = head.files[-1].name if head.files else ""
    return SeriesEnd(last, len(files[last]) if last else 0, head.number, head.hash)
