"""Open the session store; replace a damaged one."""

from __future__ import annotations

import os
import sys

import apsw

from told.errors import MissingError
from told.store.database import open_database
from told.store.sessions.schema import VERSION, migrate, read_version


def open_store(path: str, *, any_version: bool = False) -> apsw.Connection:
    """Open `sessions.db`; create, migrate or replace it if needed.

    Args:
        path: Where the database is.
        any_version: Start over even if a newer told made the database.

    Raises:
        MissingError: A newer told made the database.
    """
    connection = open_database(path, create=not os.path.exists(path))
    try:
        found = read_version(connection)  # read once: another told may be creating the store right now
        if found == VERSION:
            return connection
        if found < VERSION:
            open_database(path, create=True).close()
            if migrate(connection):
                return connection
        is_newer = found > VERSION
    except (apsw.NotADBError, apsw.CorruptError):
        is_newer = False
    connection.close()
    if is_newer and not any_version:
        raise MissingError("The store was made by a newer told. Update told, or run `told rebuild`.")
    set_store_aside(path)
    return open_store(path)


def set_store_aside(path: str) -> None:
    """Move a damaged database away; it is derived and will be rebuilt."""
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.replace(path + suffix, f"{path}.damaged{suffix}")
    os.replace(path, f"{path}.damaged")
    sys.stderr.write("told: The store was damaged; it is being rebuilt from the agents' files.\n")
