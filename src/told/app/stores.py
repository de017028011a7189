"""Open the session store; replace a damaged one."""

from __future__ import annotations

import os
import sys

import apsw

from told.errors import BusyError, DiskFullError, MissingError
from told.store.database import UNWRITABLE
from told.store.opening import can_write, open_database, read_version, set_foreign_aside
from told.store.sessions.forgets import is_behind, note_erased
from told.store.sessions.schema import TABLES, VERSION, is_current, migrate


def open_store(path: str, *, any_version: bool = False) -> apsw.Connection:
    """Open `sessions.db`; create, migrate or replace it if needed.

    Where it cannot be created or migrated, because the disk is full or read-only, an empty one in memory
    takes its place: memories need no sessions.

    Args:
        path: Where the database is.
        any_version: Start over even if a newer told made the database.

    Raises:
        MissingError: A newer told made the database, or a file is where told's folder should be.
    """
    home = os.path.dirname(path)
    try:
        connection = open_database(path, create=not os.path.lexists(path))
    except (*UNWRITABLE, DiskFullError, MissingError):
        return _open_empty(home)
    try:
        found = read_version(connection)  # read once: another told may be creating the store right now
        if is_current(connection):
            return _erase_forgotten(connection, home)
        if found < VERSION:
            open_database(path, create=True).close()
            if migrate(connection):
                if not found:
                    note_erased(connection, home)
                return _erase_forgotten(connection, home)
        is_newer = found > VERSION
    except (apsw.NotADBError, apsw.CorruptError):
        is_newer = False
    except (*UNWRITABLE, DiskFullError, MissingError):
        connection.close()
        return _open_empty(home)
    connection.close()
    if is_newer and not any_version:
        raise MissingError("The store was made by a newer told. Update told, or run `told rebuild`.")
    set_store_aside(path)
    return open_store(path)


def _erase_forgotten(connection: apsw.Connection, home: str) -> apsw.Connection:
    """Erase what was forgotten since an old copy of the store was made."""
    if not is_behind(connection, home):
        return connection
    if not can_write(connection):
        connection.close()
        return _open_empty(home)
    from told.memories.forget import erase_again  # noqa: PLC0415 - only an old copy needs it

    try:
        erase_again(home, connection)
    except (BusyError, *UNWRITABLE, DiskFullError, MissingError):
        sys.stderr.write("told: sessions.db is older than your last `told forget`. Run `told rebuild`.\n")
    return connection


def _open_empty(folder: str) -> apsw.Connection:
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise MissingError(f"{folder} is not a folder. Set TOLD_HOME to a folder it may use.")
    connection = apsw.Connection(":memory:")
    migrate(connection)
    return connection


def set_store_aside(path: str) -> None:
    """Move a damaged database away; it is derived and will be rebuilt."""
    if aside := set_foreign_aside(path, TABLES):
        sys.stderr.write(f"told: {path} was not told's database; it is {aside} now.\n")
        return
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.replace(path + suffix, f"{path}.damaged{suffix}")
    if os.path.exists(path):
        os.replace(path, f"{path}.damaged")
    sys.stderr.write("told: The store was damaged; it is being rebuilt from the agents' files.\n")
