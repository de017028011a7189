"""Open told's SQLite files: private and in WAL mode; read-only where nothing can be written."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence

import apsw

from told.errors import BusyError, MissingError
from told.files import cannot_write, open_private, open_regular
from told.store.database import UNWRITABLE, WAIT_MS, fetch, make_private_folder, set_mmap_size


def open_database(path: str, *, create: bool) -> apsw.Connection:
    """Open a database; read-only where the disk is read-only or full."""
    if create:
        make_private_folder(os.path.dirname(path))
        try:
            # SQLite gives `-wal` and `-shm` the same mode.
            os.close(open_private(path, os.O_RDWR))
        except OSError as error:
            raise cannot_write(path, error) from None
    elif not os.path.lexists(path):
        raise MissingError("told has not read any history yet. Run `told index`.")
    elif not stat.S_ISREG(os.lstat(path).st_mode):
        raise MissingError(f"{path} is not a regular file. Move it away.")
    connection = None
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(WAIT_MS)
        set_mmap_size(connection, 1 << 30)
        # Sorted rows must not need space in the folder for temporary files.
        connection.execute("PRAGMA temp_store=MEMORY")
        _read_first_page(connection)
    except UNWRITABLE:
        if connection is not None:
            connection.close()
        connection = _open_read_only(path)
    if create:
        _enable_wal(connection)
    return connection


def _read_first_page(connection: apsw.Connection) -> None:
    """Make SQLite notice now if it cannot write the log beside the file."""
    try:
        connection.execute("PRAGMA schema_version").fetchall()
    except (apsw.BusyError, apsw.NotADBError, apsw.CorruptError):
        return  # later queries raise it again


def _enable_wal(connection: apsw.Connection) -> None:
    """Switch to WAL mode; SQLite does not wait for other processes that do so."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while True:
        try:
            if not fetch(connection, "SELECT 1 FROM sqlite_schema LIMIT 1"):  # not in a file of others
                connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise BusyError from None
            time.sleep(0.01)
        else:
            return


def can_write(connection: apsw.Connection) -> bool:
    """Tell whether a database is a file that was not opened for reading only."""
    if not connection.filename or connection.readonly("main"):
        return False
    return not fetch(connection, "PRAGMA query_only")[0][0]


def _open_read_only(path: str) -> apsw.Connection:
    """Open a database without writing beside it: with its log if possible."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    has_log = os.path.exists(path + "-wal") and os.path.getsize(path + "-wal")
    for mode in ("mode=ro", _WITH_LOG, "immutable=1") if has_log else ("mode=ro", "immutable=1"):
        try:
            connection = _try_open(f"file:{quoted}?{mode}", with_log=mode == _WITH_LOG)
        except apsw.Error:
            continue
        return connection
    raise MissingError(f"told cannot read {path}. Check its permissions.")


_WITH_LOG = "mode=rw"  # for a log whose index is missing


def _try_open(uri: str, *, with_log: bool) -> apsw.Connection:
    access = apsw.SQLITE_OPEN_READWRITE if with_log else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(uri, flags=access | apsw.SQLITE_OPEN_URI)
    try:
        connection.execute("PRAGMA temp_store=MEMORY")
        if with_log:  # a connection that is alone keeps the log's index in memory
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.execute("PRAGMA query_only=ON")
    except apsw.Error:
        connection.close()
        raise
    return connection


def read_version(connection: apsw.Connection) -> int:
    """Return the schema version of a database; 0 if it is empty."""
    return int(fetch(connection, "PRAGMA user_version")[0][0])


def has_tables(connection: apsw.Connection, names: Sequence[str]) -> bool:
    """Tell whether a database has all of these tables."""
    marks = ", ".join("?" * len(names))
    sql = f"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ({marks})"
    return bool(fetch(connection, sql, names)[0][0] == len(names))


def set_foreign_aside(path: str, own_tables: Sequence[str]) -> str:
    """Rename a file that told did not make and return its new path; "" if told may replace it.

    An SQLite file with none of told's tables is somebody else's, and is never deleted. What is no SQLite
    file at all may be a damaged one of told's.
    """
    try:
        with open_regular(path, follow_links=False) as file:
            head = file.read(len(_HEADER))
        if not head:
            return ""
        if head != _HEADER:
            os.replace(path, f"{path}.damaged")
            return ""
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            names = {row[0] for row in fetch(connection, "SELECT name FROM sqlite_schema")}
        finally:
            connection.close()
    except (OSError, apsw.Error):
        return ""
    if not names or not names.isdisjoint(own_tables):
        return ""
    aside, number = f"{path}.not-told", 1
    while os.path.lexists(aside):
        number += 1
        aside = f"{path}.not-told-{number}"
    for suffix in ("-wal", "-shm", ""):
        if os.path.exists(path + suffix):
            os.replace(path + suffix, aside + suffix)
    return aside


_HEADER = b"SQLite format 3\0"
