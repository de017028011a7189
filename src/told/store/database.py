"""Opens told's own SQLite files: private, in WAL mode, one writer at a time."""

from __future__ import annotations

import os
import time

import apsw

from told.errors import BusyError, MissingError
from told.store.small_files import make_one_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

# Long enough for another told to finish a batch, short enough for a person to wait.
WAIT_MS = 5000
# Who takes in a whole history waits for another that does: its batch is a second of work, and on a machine
# that is busy with other things that is many seconds.
BULK_WAIT_MS = 60_000


def open_database(path: str, *, create: bool) -> apsw.Connection:
    """Open a database for reading and writing; where the disk is read-only, for reading.

    Raises:
        MissingError: it is not there, or its folder cannot be written.
    """
    if create:
        make_private_folder(os.path.dirname(path))
        make_private_file(path)
    elif not os.path.exists(path):
        raise MissingError("told has not read any history yet. Run `told index`.")
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(WAIT_MS)
        set_mapping(connection, 1 << 30)
        _touch(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection = _open_read_only(path)
    if create:
        _use_log(connection)
    return connection


def _touch(connection: apsw.Connection) -> None:
    """Read a first byte, which is when SQLite notices that it cannot write the log beside the file."""
    try:
        connection.execute("PRAGMA schema_version").fetchall()
    except (apsw.BusyError, apsw.NotADBError, apsw.CorruptError):
        return  # whoever reads more sees it, too


def _use_log(connection: apsw.Connection) -> None:
    """Switch to WAL mode; SQLite does not wait by itself when several do so in the same moment."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise BusyError from None
            time.sleep(0.01)
        else:
            return


def _open_read_only(path: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    for mode in ("mode=ro", "immutable=1"):
        connection = apsw.Connection(f"file:{quoted}?{mode}", flags=flags)
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except apsw.Error:
            connection.close()
            continue
        return connection
    raise MissingError(f"told cannot read {path}. Check its permissions.")


def set_mapping(connection: apsw.Connection, size: int) -> None:
    """Say how many bytes of the file may be mapped into memory."""
    connection.execute(f"PRAGMA mmap_size={size}")


def prepare_for_bulk(connection: apsw.Connection) -> None:
    """Trade memory for speed where a whole history is written: a page cache of 64 MB and no mapping.

    Mapped pages are quick to search but count as memory when all of the file is written through them. And
    better late than not at all: another writer is waited for.
    """
    connection.set_busy_timeout(BULK_WAIT_MS)
    set_mapping(connection, 0)
    connection.execute("PRAGMA cache_size=-65536")


def rows(connection: apsw.Connection, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
    """Run a query and return all its rows, as tuples."""
    return connection.execute(sql, values).fetchall()


def purge(connection: apsw.Connection, index: str) -> None:
    """Leave no byte of what was removed, neither in a full-text index nor in free pages nor in the log.

    Raises:
        BusyError: another told is reading or writing.
    """
    try:
        # Words that were removed stay in the index, marked as gone, until all of it is one piece.
        connection.execute(f"INSERT INTO {index}({index}) VALUES('optimize')")
        connection.execute("VACUUM")
        blocked = rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    except apsw.BusyError:
        raise BusyError from None
    if blocked:
        raise BusyError


def drop_database(path: str) -> None:
    """Remove a database and its logs.

    Raises:
        MissingError: it cannot be removed; the message says why.
    """
    for suffix in ("", "-wal", "-shm"):
        try:
            os.remove(path + suffix)
        except FileNotFoundError:
            continue
        except OSError as error:
            why = (error.strerror or "it failed").lower()
            raise MissingError(f"told cannot remove {path}{suffix} ({why}). Check its permissions.") from None


def make_private_folder(path: str) -> None:
    """Make a folder that only the user may look into, if it is not there yet."""
    try:
        missing = []
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for folder in reversed(missing):
            make_one_folder(folder)
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(
            f"told cannot write to {error.filename or path} ({why}). Set TOLD_HOME to a folder it may use."
        ) from None


def make_private_file(path: str) -> None:
    """Make an empty file that only the user may read, if it is not there yet.

    SQLite gives its `-wal` and `-shm` the same permissions.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(
            f"told cannot write to {error.filename or path} ({why}). Set TOLD_HOME to a folder it may use."
        ) from None


class Transaction:
    """`BEGIN IMMEDIATE` … `COMMIT`, or `ROLLBACK` when an error leaves the block."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        """Take the write lock at once, so that nothing read inside can be stale."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            raise BusyError from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep everything or nothing."""
        try:
            if kind is None:
                self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
