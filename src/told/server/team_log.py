"""Check what is written to the plain log of the team, as every client would."""

from __future__ import annotations

import time
from collections.abc import Collection

from told.errors import UsageError
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.people import find_person
from told.store.postgres.series import SpaceKey, digest_of, list_digests, list_heads, read_files
from told.sync.heads import BadHeadError, Head, check_head, decode_head
from told.sync.pull import verify_files


def read_head(connection: Connection, viewer: Viewer, key: SpaceKey, series: str, raw: bytes) -> Head:
    """Return a head that a person is about to write, checked.

    Raises:
        UsageError: it is damaged, or not signed with this person's key.
    """
    person = find_person(connection, key.team, viewer.person)
    own = person.public_key if person else None
    try:
        head = decode_head(raw, b"")
        known = {name: _key_of(one, head.person) for name, one in list_heads(connection, key).items()}
        check_head(head, key.space, series, {name: one for name, one in known.items() if one})
    except BadHeadError as error:
        raise UsageError(f"Series {series} is refused: {error}.") from None
    if head.person != own:
        raise UsageError("This log is signed with another key than yours. Run `told sync server` again.")
    return head


def _key_of(raw: bytes, person: str) -> str:
    """Return the key of a machine if it is one of a person; the head was checked when it was written."""
    head = decode_head(raw, b"")
    return head.key if head.person == person else ""


def check_files(connection: Connection, key: SpaceKey, head: Head, written: Collection[str]) -> None:
    """Check that a series has what its head says, as clients do before they accept it.

    Args:
        connection: Of the person who writes.
        key: The space.
        head: The head, whose signatures were checked.
        written: The names of files that are new; others were checked before.

    Raises:
        UsageError: a file or an operation is missing, cut off or changed.
    """

    def read(name: str) -> bytes:
        return read_files(connection, key, head.series, [name], 0).get(name, b"")

    known = list_digests(connection, key, head.series)
    fetched = {}
    try:
        for one in head.files:
            if one.name in written or known.get(one.name) != one.digest:
                data = read(one.name)[: one.size]  # a file may have grown before its head was written
                if digest_of(data) != one.digest:
                    why = f"{one.name} is missing, cut off or was changed"
                    raise UsageError(f"Series {head.series} is refused: {why}.")
                fetched[one.name] = data
        verify_files(head, fetched, read, number=0, now=time.time_ns() // 1_000_000)
    except BadHeadError as error:
        raise UsageError(f"Series {head.series} is refused: {error}.") from None
