"""Read other programs' SQLite files without locking or changing them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from shutil import copyfileobj, rmtree
from tempfile import mkdtemp
from typing import Any, Self
from urllib.parse import quote

import apsw

from told.files import NotReadableError, describe_error, open_private, open_regular

BACKOFF = (0.05, 0.15, 0.45)  # seconds before each retry
_MAX_VALUE = 64 * 1024 * 1024  # bytes
_MAX_COPY = 2 * 1024 * 1024 * 1024  # bytes; a larger database is not copied
_PARTS = ("", "-wal", "-journal")
_ENCODINGS = {2: "utf-16-le", 3: "utf-16-be"}
# Not ProtocolError: SQLite itself has retried for ten seconds then.
_TEMPORARY_ERRORS = (
    apsw.BusyError, apsw.LockedError, apsw.IOError, apsw.CorruptError, apsw.CantOpenError,
    apsw.ReadOnlyError, apsw.NotADBError, apsw.SchemaChangeError,
)  # fmt: skip

RETRIES = 0  # of all queries of this process


class ForeignError(Exception):
    """The database cannot be read; the text says why."""


class _ChangedError(Exception):
    """The owner wrote to the file during a query."""


class ForeignDatabase:
    """Another program's database, for the length of a `with` block."""

    def __init__(self, path: str) -> None:
        if "\0" in path:
            raise ForeignError("not a path")
        self.retries = 0
        self._path = os.path.realpath(path)
        self._connection: apsw.Connection | None = None
        self._opened_at: tuple[object, ...] = ()
        self._mode = ""
        self._encoding = "utf-8"
        self._copy_folder = ""
        self._known: dict[str, tuple[dict[str, None], bool]] = {}
        try:
            self._query("SELECT count(*) FROM sqlite_master", ())
        except ForeignError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and delete the private copy, if there is one."""
        self._disconnect()
        if self._copy_folder:
            rmtree(self._copy_folder, ignore_errors=True)
            self._copy_folder = ""

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; empty if it is missing."""
        return set(self._table(table)[0])

    def rows(
        self, table: str, columns: Sequence[str], where: str = "", values: Sequence[Any] = (), order: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield a consistent snapshot of a table's rows; missing columns are None.

        `where` and `order` are SQL constants of the caller.
        """
        there, has_rowid = self._table(table)
        if not there:
            return
        terms = [
            _quote_name(name) if name in there else "rowid" if name == "rowid" and has_rowid else "NULL"
            for name in columns
        ]
        rest = f" FROM {_quote_name(table)}"
        rest += f" WHERE {where}" if where else ""
        rest += f" ORDER BY {order}" if order else ""
        try:
            found = self._query(f"SELECT {', '.join(terms)}{rest}", values)
        except UnicodeDecodeError:
            found = self._query_bytes(terms, rest, values)
        for row in found:
            yield dict(zip(columns, row, strict=True))

    def _query_bytes(self, terms: list[str], rest: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Query invalid UTF-8 as bytes and decode it with replacements."""
        as_bytes = [f"typeof({term}) = 'text', iif(typeof({term}) = 'text', CAST({term} AS BLOB), {term})"
                    for term in terms]  # fmt: skip
        return [
            tuple(
                self._decode(value) if is_text else value
                for is_text, value in zip(row[::2], row[1::2], strict=True)
            )
            for row in self._query(f"SELECT {', '.join(as_bytes)}{rest}", values)
        ]

    def _decode(self, value: bytes) -> str:
        return value.decode(self._encoding, errors="replace")

    def _table(self, table: str) -> tuple[dict[str, None], bool]:
        """Return a table's columns in order, and whether it has a rowid."""
        if table not in self._known:
            listed = self._query(
                "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main' AND type = 'table'", (table,)
            )
            names = self._query(
                "SELECT CAST(name AS BLOB) FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid",
                (table,),
            )
            there = {self._decode(name): None for (name,) in names} if listed else {}
            self._known[table] = there, bool(listed) and not listed[0][0]
        return self._known[table]

    def _query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        for delay in (*BACKOFF, None):
            try:
                return self._attempt(sql, values)
            except (_ChangedError, *_TEMPORARY_ERRORS) as error:
                self._disconnect()
                if delay is None:
                    raise ForeignError(_explain(error)) from None
                self.retries += 1
                global RETRIES  # noqa: PLW0603 - counted for `told health`
                RETRIES += 1
                time.sleep(delay)
            except (apsw.Error, MemoryError) as error:
                raise ForeignError(_explain(error)) from None
        raise ForeignError("busy")

    def _attempt(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._mode == "immutable" and _state(self._path) != self._opened_at:
            self._disconnect()
        connection = self._connection or self._connect()
        try:
            found = connection.execute(sql, tuple(values)).fetchall()
        finally:
            if self._mode == "live":  # an open connection would block the owner's checkpoints
                self._disconnect()
        if self._mode == "immutable" and _state(self._path) != self._opened_at:
            raise _ChangedError
        return found

    def _connect(self) -> apsw.Connection:
        path, options, flags = self._path, "?mode=ro&immutable=1", apsw.SQLITE_OPEN_READONLY
        self._opened_at = _state(self._path)
        header = self._header()
        self._encoding = _ENCODINGS.get(header[59], "utf-8")
        self._mode = "copy" if self._copy_folder else self._mode_for(header)
        if self._mode == "copy":
            self._copy_folder = self._copy_folder or _copy_database(self._path)
            path, options = os.path.join(self._copy_folder, "copy.db"), ""
            flags = apsw.SQLITE_OPEN_READWRITE  # its journal has to be rolled back
        elif self._mode == "live":
            options = "?mode=ro&readonly_shm=1"  # do not write to the shared memory
        connection = apsw.Connection(_uri(path) + options, flags=flags | apsw.SQLITE_OPEN_URI)
        self._connection = connection
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        for pragma in ("query_only=1", "trusted_schema=0", "temp_store=2", "mmap_size=0"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close(True)
            self._connection = None

    def _header(self) -> bytes:
        try:
            with open_regular(self._path) as file:
                header = file.read(100)
        except (NotReadableError, OSError) as error:
            raise ForeignError(_explain(error)) from None
        if not header:
            raise ForeignError("empty")
        if len(header) < 100 or not header.startswith(b"SQLite format 3\x00"):
            raise ForeignError("not a database")
        return header

    def _mode_for(self, header: bytes) -> str:
        """Choose to read the closed file, the live log, or a private copy."""
        if 2 in header[18:20]:
            if not _size(self._path + "-wal"):
                return "immutable"
            return "live" if _size(self._path + "-shm") else "copy"
        # Only an unfinished transaction leaves a journal with its magic bytes.
        return "copy" if _has_magic(self._path + "-journal") else "immutable"


def _state(path: str) -> tuple[tuple[int, int, int], ...]:
    """Return inode, size and time of a database and its logs."""
    found = []
    for part in _PARTS:
        try:
            status = os.stat(path + part)
        except OSError:
            found.append((0, 0, 0))
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _copy_database(path: str) -> str:
    before = _state(path)
    if sum(size for _, size, _ in before) > _MAX_COPY:
        raise ForeignError(f"larger than {_MAX_COPY // 1024**3} GB")
    folder = ""
    try:
        folder = mkdtemp(prefix="told-")
        for part, (_, size, _) in zip(_PARTS, before, strict=True):
            if size:
                target = open_private(os.path.join(folder, "copy.db" + part), os.O_WRONLY | os.O_EXCL)
                with os.fdopen(target, "wb") as copy, open_regular(path + part) as original:
                    copyfileobj(original, copy)
    except (NotReadableError, OSError) as error:
        rmtree(folder, ignore_errors=True)
        raise ForeignError(_explain(error)) from None
    if _state(path) != before:
        rmtree(folder, ignore_errors=True)
        raise _ChangedError
    return folder


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _uri(path: str) -> str:
    if os.sep != "/":
        path = "/" + path.replace(os.sep, "/").lstrip("/")
    return "file://" + quote(os.fsencode(path))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _has_magic(journal: str) -> bool:
    try:
        with open_regular(journal) as file:
            return any(file.read(8))
    except (NotReadableError, OSError):
        return False


def _explain(error: BaseException) -> str:
    if isinstance(error, OSError):
        return describe_error(error)
    if isinstance(error, _ChangedError):
        return "kept changing while it was read"
    if isinstance(error, apsw.NotADBError):
        return "not a database"
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return "busy"
    if isinstance(error, apsw.CorruptError):
        return "damaged"
    return str(error) or type(error).__name__
