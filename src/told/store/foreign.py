"""Reads SQLite files that belong to other programs, without locking, changing or adding to them."""

from __future__ import annotations

import os
import time

import apsw

from told.guard.files import NotReadableError, open_regular, reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Protocol, Self

    class Needs(Protocol):
        """A table and the columns its reader cannot do without."""

        @property
        def table(self) -> str:
            """The table's name."""

        @property
        def columns(self) -> tuple[str, ...]:
            """The columns' names."""


# Seconds to wait before each new attempt while the owner is busy with its file.
BACKOFF = (0.05, 0.15, 0.45)

# One value longer than this is not something a person or an agent said.
_MAX_VALUE = 64 * 1024 * 1024

# A database larger than this is left alone rather than copied.
_MAX_COPY = 2 * 1024 * 1024 * 1024

_COPY_BLOCK = 1024 * 1024
_PARTS = ("", "-wal", "-journal")
_ENCODINGS = {2: "utf-16-le", 3: "utf-16-be"}
_URI_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")

_PASSING = (
    apsw.BusyError, apsw.LockedError, apsw.IOError, apsw.CorruptError, apsw.CantOpenError,
    apsw.ReadOnlyError, apsw.ProtocolError, apsw.NotADBError, apsw.SchemaChangeError,
)  # fmt: skip


# How often any query of this run had to be tried again.
RETRIES = 0


class ForeignError(Exception):
    """The database cannot be read; the text says why."""


class _ChangedError(Exception):
    """The owner wrote to the file while it was being read."""


class Foreign:
    """Another program's database, for the length of a `with` block.

    Attributes:
        retries: how often a query had to be tried again because the owner was busy with its file.
    """

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
        """Let go of the file, and of the private copy if there was one."""
        self._disconnect()
        if self._copy_folder:
            _remove(self._copy_folder)
            self._copy_folder = ""

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; none when the table is not there."""
        return set(self._table(table)[0])

    def rows(
        self, table: str, columns: Sequence[str], where: str = "", values: Sequence[Any] = (), order: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield rows of a table as they were at one moment; a column that is not there is None.

        Args:
            table: the table's name; nothing is yielded when it is not there.
            columns: the columns wanted; `rowid` may be one of them.
            where: a condition in SQL, always a constant of the caller's.
            values: what the condition's question marks stand for.
            order: an order in SQL, always a constant of the caller's.

        Raises:
            ForeignError: the database could not be read.
        """
        there, has_rowid = self._table(table)
        if not there:
            return
        terms = [
            _quoted(name) if name in there else "rowid" if name == "rowid" and has_rowid else "NULL"
            for name in columns
        ]
        rest = f" FROM {_quoted(table)}"
        rest += f" WHERE {where}" if where else ""
        rest += f" ORDER BY {order}" if order else ""
        try:
            found = self._query(f"SELECT {', '.join(terms)}{rest}", values)
        except UnicodeDecodeError:
            found = self._query_bytes(terms, rest, values)
        for row in found:
            yield dict(zip(columns, row, strict=True))

    def _query_bytes(self, terms: list[str], rest: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Ask again for text that is not valid UTF-8, as bytes, and mend it here."""
        as_bytes = [f"typeof({term}) = 'text', iif(typeof({term}) = 'text', CAST({term} AS BLOB), {term})"
                    for term in terms]  # fmt: skip
        return [
            tuple(self._mended(value) if is_text else value for is_text, value in _pairs(row))
            for row in self._query(f"SELECT {', '.join(as_bytes)}{rest}", values)
        ]

    def _mended(self, value: bytes) -> str:
        return value.decode(self._encoding, errors="replace")

    def _table(self, table: str) -> tuple[dict[str, None], bool]:
        """Return a real table's column names in order, and whether its rows have a rowid."""
        if table not in self._known:
            listed = self._query(
                "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main' AND type = 'table'", (table,)
            )
            names = self._query(
                "SELECT CAST(name AS BLOB) FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid",
                (table,),
            )
            there = {self._mended(name): None for (name,) in names} if listed else {}
            self._known[table] = there, bool(listed) and not listed[0][0]
        return self._known[table]

    def _query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        for delay in (*BACKOFF, None):
            try:
                return self._attempt(sql, values)
            except (_ChangedError, *_PASSING) as error:
                self._disconnect()
                if delay is None:
                    raise ForeignError(_why(error)) from None
                self.retries += 1
                global RETRIES  # noqa: PLW0603 - one count for the whole run, for `told health`
                RETRIES += 1
                time.sleep(delay)
            except (apsw.Error, MemoryError) as error:
                raise ForeignError(_why(error)) from None
        raise ForeignError("busy")

    def _attempt(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._mode == "immutable" and _state(self._path) != self._opened_at:
            self._disconnect()
        connection = self._connection or self._connect()
        try:
            found = connection.execute(sql, tuple(values)).fetchall()
        finally:
            if self._mode == "live":  # an open connection would keep the owner from tidying up its own files
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
            self._copy_folder = self._copy_folder or _copied(self._path)
            path, options = os.path.join(self._copy_folder, "copy.db"), ""
            flags = apsw.SQLITE_OPEN_READWRITE  # it is ours, and a journal in it has to be rolled back
        elif self._mode == "live":
            options = "?mode=ro&readonly_shm=1"  # so that not even the shared memory is written to
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
        except NotReadableError as error:
            raise ForeignError(str(error)) from None
        except OSError as error:
            raise ForeignError(reason(error)) from None
        if not header:
            raise ForeignError("empty")
        if len(header) < 100 or not header.startswith(b"SQLite format 3\x00"):
            raise ForeignError("not a database")
        return header

    def _mode_for(self, header: bytes) -> str:
        """Choose how to open: as the owner left it, through the owner's live log, or as a private copy."""
        if 2 in header[18:20]:
            if not _size(self._path + "-wal"):
                return "immutable"
            return "live" if _size(self._path + "-shm") else "copy"
        # Only a rollback that was not finished, or a change under way, has a journal with its magic in place.
        return "copy" if _is_hot(self._path + "-journal") else "immutable"


def missing(path: str, tables: Iterable[Needs]) -> list[str]:
    """Name each needed column that a database does not have, as `table.column`.

    Raises:
        ForeignError: the database could not be read.
    """
    with Foreign(path) as database:
        return [
            f"{needed.table}.{column}"
            for needed in tables
            for column in needed.columns
            if column not in database.columns(needed.table)
        ]


def _state(path: str) -> tuple[tuple[int, int, int], ...]:
    """Return what shows that a database or its log was written to."""
    found = []
    for part in _PARTS:
        try:
            status = os.stat(path + part)
        except OSError:
            found.append((0, 0, 0))
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _copied(path: str) -> str:
    """Copy a database and its log, as they are at one moment, into a folder only this user can enter."""
    from tempfile import mkdtemp

    before = _state(path)
    if sum(size for _, size, _ in before) > _MAX_COPY:
        raise ForeignError(f"larger than {_MAX_COPY // 1024**3} GB")
    folder = ""
    try:
        folder = mkdtemp(prefix="told-")
        for part, (_, size, _) in zip(_PARTS, before, strict=True):
            if size:
                _copy(path + part, os.path.join(folder, "copy.db" + part))
    except (NotReadableError, OSError) as error:
        _remove(folder)
        raise ForeignError(str(error) if isinstance(error, NotReadableError) else reason(error)) from None
    if _state(path) != before:
        _remove(folder)
        raise _ChangedError
    return folder


def _copy(source: str, target: str) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as copy, open_regular(source) as original:
        while block := original.read(_COPY_BLOCK):
            copy.write(block)


def _remove(folder: str) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _uri(path: str) -> str:
    if os.sep != "/":
        path = "/" + path.replace(os.sep, "/").lstrip("/")
    return "file://" + "".join(
        chr(byte) if byte in _URI_SAFE else f"%{byte:02X}" for byte in os.fsencode(path)
    )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _is_hot(journal: str) -> bool:
    try:
        with open_regular(journal) as file:
            return any(file.read(8))
    except (NotReadableError, OSError):
        return False


def _pairs(row: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    return zip(row[::2], row[1::2], strict=True)


def _why(error: BaseException) -> str:
    if isinstance(error, _ChangedError):
        return "kept changing while it was read"
    if isinstance(error, apsw.NotADBError):
        return "not a database"
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return "busy"
    if isinstance(error, apsw.CorruptError):
        return "damaged"
    return str(error) or type(error).__name__
