"""Tell whether a `sessions.db` is an old copy that still has words which were forgotten since."""

from __future__ import annotations

import os

import apsw

from told.files import cannot_write, write_private
from told.store.database import FORGETS, fetch


def note_forget(home: str) -> None:
    """Note that something is being forgotten: no store is up to date until `note_erased`.

    Raises:
        MissingError: the note cannot be written.
    """
    path = os.path.join(home, FORGETS)
    number = (
        int.from_bytes(os.urandom(4)) >> 1 or 1
    )  # not a count: a restored home would count the same again
    try:
        write_private(path, str(number).encode())
    except OSError as error:
        raise cannot_write(path, error) from None


def is_behind(connection: apsw.Connection, home: str) -> bool:
    """Tell whether a store may have words that were forgotten."""
    return bool(fetch(connection, "PRAGMA application_id")[0][0] != _last_forget(home))


def note_erased(connection: apsw.Connection, home: str) -> None:
    """Note that a store has lost everything that was forgotten so far."""
    connection.execute(f"PRAGMA application_id={_last_forget(home)}")


def _last_forget(home: str) -> int:
    try:
        with open(os.path.join(home, FORGETS), "rb") as file:
            return int(file.read(20)) & 0x7FFFFFFF
    except (OSError, ValueError):
        return 0
