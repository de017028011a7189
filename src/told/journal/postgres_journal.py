"""The journal in PostgreSQL: one series for each person, with the hash chain of the files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from told.errors import UsageError
from told.journal.append import encode_payload
from told.journal.files import (
    FORGET,
    FORGET_CHECKPOINT,
    ID_LENGTH,
    MAKES_MEMORY,
    BadLineError,
    Damage,
    Draft,
    Operation,
    encode_head,
    encode_line,
    first_hash,
    hash_bytes,
    parse_line,
)
from told.journal.fold import family_of
from told.journal.put import put_notes, put_operations, refold_families
from told.jsontext import load_json
from told.store.database import public_id
from told.store.memories.protocol import Memories
from told.store.memories.records import USER
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.memories.queries import clean
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.operations import Operations, StoredOperation
from told.store.postgres.purge import MEMORY_TABLES, request_purge

# What only the author of a memory may do with it; other operations on a colleague's are left out.
_AUTHORS = frozenset((FORGET, "reject", "revise", "share", "unlock"))


class PostgresJournal:
    """The journal of one person in a team, in one transaction.

    Appending also updates the memories, so both are committed together: an operation is acknowledged by the
    end of its transaction.
    """

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        """Take the connection of a viewer's transaction."""
        self._connection, self._viewer = connection, viewer
        self._operations = Operations(connection, viewer)
        self._memories = PostgresMemories(connection, viewer, only_own=True)

    @property
    def home(self) -> str:
        """Empty: nothing of a team is kept in files."""
        return ""

    @property
    def machine(self) -> str:
        """The name of the person's series."""
        return self._operations.series

    @property
    def key(self) -> bytes:
        """The person's secret key for the marks of forgotten words."""
        if not self._operations.key:
            self._lock()
        return self._operations.key

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other writers of the same person out until the transaction ends."""
        self._lock()
        yield

    def append(
        self, drafts: Sequence[Draft], memories: Memories, *, now: int, sync: bool = True,  # noqa: ARG002
        at_home: bool = False,  # noqa: ARG002 - there are no projects' journals
    ) -> None:  # fmt: skip
        """Append operations and fold them; operations on a colleague's memory are left out.

        Raises:
            UsageError: the user asks for what only a colleague may do.
        """
        own = self._leave_out(drafts, memories)
        if not own:
            return
        number, previous = self._lock()
        rows, operations = [], []
        for part, draft in enumerate(own, 1):
            number += 1
            memory = draft.memory
            if not memory and draft.kind in MAKES_MEMORY:
                memory = public_id("m", self.machine, str(number), str(now))
            payload = encode_payload(draft, part, len(own), {})
            head = encode_head(number, max(0, now), draft.kind, clean(memory), draft.by)
            _, own_hash = encode_line(head, payload, previous)
            row = StoredOperation(
                number, max(0, now), draft.kind, clean(memory), draft.by, payload.decode(),
                hash_bytes(payload), previous, own_hash,
            )  # fmt: skip
            rows.append(row)
            operations.append(self._parse(row))
            previous = own_hash
        self._operations.append(rows, [set(map(family_of, one.touched)) for one in operations])
        self._apply(operations)

    def catch_up(self, memories: Memories) -> Memories:
        """Return the memories, which every append updates."""
        return memories

    def operations(self) -> list[Operation]:
        """Return the person's operations in their order."""
        return [self._parse(row) for row in self._operations.all()]

    def read_after(self, number: int, most: int) -> list[Operation]:
        """Return the person's first operations after a number in their order."""
        return [self._parse(row) for row in self._operations.after(number, most)]

    def find_by_memory(self, prefixes: Collection[str]) -> Iterator[Operation]:
        """Yield the operations on memories whose ids have one of the prefixes."""
        exact = frozenset(prefixes)
        found = map(self._parse, self._operations.of_families({one[:ID_LENGTH] for one in exact}))
        sizes = sorted({len(prefix) for prefix in exact})
        return (one for one in found if any(name[:size] in exact for name in one.touched for size in sizes))

    def find_by_kind(self, kinds: Collection[str]) -> Iterator[Operation]:
        """Yield the operations of some kinds."""
        return map(self._parse, self._operations.of_kinds(kinds))

    def find_edits(self, kinds: Collection[str], memory: str = "") -> list[tuple[str, Operation]]:  # noqa: ARG002
        """Return nothing: a person has one series here."""
        return []

    def erase(self, memories: Collection[str]) -> int:
        """Erase the payloads of all operations on some memories; return how many."""
        count = self._operations.erase(memories, (FORGET, FORGET_CHECKPOINT))
        self._refold(set(map(family_of, memories)))
        return count

    def purge(self, memories: Memories) -> None:  # noqa: ARG002
        """Let a worker remove the bytes of what was erased."""
        request_purge(self._connection, self._viewer, MEMORY_TABLES)

    def verify(self) -> list[Damage]:
        """List what does not continue the hash chain, or does not match its hash."""
        found = []
        number, previous = 0, first_hash(self.machine)
        for row in self._operations.all():
            number += 1
            if row.number != number or row.previous != previous:
                found.append(Damage(self.machine, row.number, "does not continue the operation before"))
            try:
                parse_line(_format_line(row), self.machine)
            except BadLineError as error:
                found.append(Damage(self.machine, row.number, str(error)))
            number, previous = row.number, row.hash
        return found

    def rebuild(self) -> None:
        """Derive the person's memories again from the operations."""
        self._lock()
        self._memories.writer.clear()
        self._apply(self.operations())

    def _lock(self) -> tuple[int, str]:
        return self._operations.lock(first_hash(self.machine))

    def _parse(self, row: StoredOperation) -> Operation:
        payload = None if row.payload is None else load_json(row.payload)
        return Operation(
            self.machine, row.number, row.at, row.kind, row.memory, row.by, payload, row.hash, row.previous,
            redacted=row.redacted is not None,
        )  # fmt: skip

    def _apply(self, operations: Sequence[Operation]) -> None:
        with self._memories.writer.transaction():
            self._refold(put_operations(self._memories, operations))
            for one in operations:
                put_notes(self._memories, one)

    def _refold(self, families: Collection[str]) -> None:
        if families:
            refold_families(self._memories, families, self.find_by_memory(families))

    def _leave_out(self, drafts: Sequence[Draft], memories: Memories) -> list[Draft]:
        """Return the drafts without those on colleagues' memories."""
        made = {draft.memory for draft in drafts if draft.kind in MAKES_MEMORY}
        named = {draft.memory for draft in drafts if draft.memory} - made
        foreign = memories.get(named).keys() - self._memories.get(named).keys() if named else set()
        for draft in drafts:
            if draft.memory in foreign and draft.kind in _AUTHORS and draft.by == USER:
                raise UsageError(f"{draft.memory} is a colleague's. Only its author can change it.")
        return [draft for draft in drafts if draft.memory not in foreign]


def _format_line(row: StoredOperation) -> bytes:
    """Return an operation as a line of a journal in files."""
    head = encode_head(row.number, row.at, row.kind, row.memory, row.by)
    payload = b"null" if row.payload is None else row.payload.encode()
    redacted = "" if row.redacted is None else f',"redacted":"{row.redacted}"'
    hashes = f',"payload_hash":"{row.payload_hash}","previous":"{row.previous}","hash":"{row.hash}"}}'
    return head + payload + redacted.encode() + hashes.encode()
