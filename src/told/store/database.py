"""Query told's SQLite files, one writer at a time; and their full-text indexes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import apsw

from told.errors import BusyError, MissingError
from told.files import (
    cannot_write,
    create_private,
    describe_error,
    make_folder,
    open_private,
    read_document,
    write_private,
)
from told.hashing import blake2s
from told.text import remove_placeholders

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
Values = Sequence[Any] | dict[str, Any]
Words = tuple[str, ...]

WAIT_MS = 5000  # for another process to finish a batch
BULK_WAIT_MS = 60_000  # on a busy machine a batch takes many seconds

SWEEP_LOCK, LEARN_LOCK, EMBED_LOCK, FORGET_LOCK = "sweep", "learn", "understand", "forget"
FORGETTING = "forgetting"  # exists in told's folder until a `told forget` has finished
FORGETS = "forgets"  # in told's folder: a number that changes with every `told forget`

TOKENIZER = "porter unicode61 remove_diacritics 2"

LETTERS = "abcdefghijklmnopqrstuvwxyz234567"

# Raised where the disk is full or read-only. A full one is an I/O error to SQLite that cannot make its log.
UNWRITABLE = (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError)


def set_mmap_size(connection: apsw.Connection, size: int) -> None:
    """Set how many bytes of the file may be mapped into memory."""
    connection.execute(f"PRAGMA mmap_size={size}")


def prepare_for_bulk(connection: apsw.Connection) -> None:
    """Use a 64 MB cache, no mapping and long waits for bulk writes."""
    # Mapped pages count as memory when all of the file is written through them.
    connection.set_busy_timeout(BULK_WAIT_MS)
    set_mmap_size(connection, 0)
    connection.execute("PRAGMA cache_size=-65536")


def fetch(connection: apsw.Connection, sql: str, values: Values = ()) -> list[Any]:
    """Run a query and return all rows as tuples."""
    return connection.execute(sql, values).fetchall()


class Queries:
    """Base of the classes that query one database."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _fetch(self, sql: str, values: Values = ()) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def _fetch_value(self, sql: str, values: Values = ()) -> Any:
        """Return the first value of the first row."""
        return self._fetch(sql, values)[0][0]

    def _fetch_column(self, sql: str, values: Values = ()) -> list[Any]:
        """Return the first value of every row."""
        return [row[0] for row in self._fetch(sql, values)]

    def _fetch_first(self, make: Callable[..., T], sql: str, values: Values = ()) -> T | None:
        """Return what `make` makes of the first row; None if there is none."""
        found = self._fetch(sql, values)
        return make(*found[0]) if found else None

    def _fetch_all(self, make: Callable[..., T], sql: str, values: Values = ()) -> list[T]:
        """Return what `make` makes of every row."""
        return [make(*row) for row in self._fetch(sql, values)]


def join_conditions(*conditions: tuple[str, Any]) -> tuple[str, list[Any]]:
    """Return SQL of the conditions with a value, each after AND, and the values."""
    used = [(condition, value) for condition, value in conditions if value]
    return "".join(f" AND {condition}" for condition, _ in used), [value for _, value in used]


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Run a block between `BEGIN IMMEDIATE` and `COMMIT`, or `ROLLBACK` after an error."""
    # The write lock is taken at once, so that nothing read inside can be stale.
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        raise BusyError from None
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def purge(connection: apsw.Connection, rebuild_index: Callable[[apsw.Connection], None]) -> None:
    """Remove deleted bytes from the index, free pages and the log."""
    try:
        # Only a new index has no deleted words: `optimize` may keep the marks that delete them, and
        # `secure-delete` keeps the beginnings of words that separate two pages.
        with transaction(connection):
            rebuild_index(connection)
        connection.execute("VACUUM")
        blocked = fetch(connection, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    except apsw.BusyError:
        raise BusyError from None
    if blocked:
        raise BusyError


def drop_database(path: str) -> None:
    """Remove a database and its logs."""
    for suffix in ("", "-wal", "-shm"):
        try:
            os.remove(path + suffix)
        except FileNotFoundError:
            continue
        except OSError as error:
            why = describe_error(error)
            raise MissingError(f"told cannot remove {path}{suffix} ({why}). Check its permissions.") from None


def make_private_folder(path: str) -> None:
    """Create a folder that only the user can access, if it is missing."""
    try:
        make_folder(path)
    except OSError as error:
        raise cannot_write(path, error) from None


def acquire_lock(home: str, name: str = SWEEP_LOCK, *, patient: bool = False) -> int | None:
    """Lock until the returned descriptor is closed; None if another process has it.

    `patient` waits for a command that works for a short time.
    """
    if fcntl is None:  # two sweeps do no harm: each checks the cursor it started from
        return 0
    try:
        descriptor = open_private(os.path.join(home, f"{name}.lock"), os.O_RDWR)
    except OSError:
        return None
    deadline = time.monotonic() + (WAIT_MS / 1000 if patient else 0)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.05)
        else:
            return descriptor


def format_bm25(index: str, weights: Sequence[float]) -> str:
    """Return the SQL that scores a row with a weight for each column."""
    return f"bm25({index}, {', '.join(str(float(weight)) for weight in weights)})"


class IndexedWriter(Queries):
    """Base of the writers whose index changes wait for the end of the transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._pending: list[tuple[int, bool, Words]] = []  # (row, whether words were added, words)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Start a transaction that also updates the full-text index."""
        with transaction(self._db):
            try:
                yield
            except BaseException:
                self.discard_pending()
                raise
            self.flush_words()

    def flush_words(self) -> None:
        """Apply the pending changes to the index."""
        raise NotImplementedError

    def discard_pending(self) -> None:
        """Drop the changes of a transaction that was rolled back."""
        self._pending.clear()

    def _flush_index(
        self, index: str, columns: Sequence[str]
    ) -> dict[int, tuple[Words | None, Words | None]]:
        """Write each row's words first removed and last added, and return them by row."""
        changes: dict[int, tuple[Words | None, Words | None]] = {}
        for row, adding, words in self._pending:
            removed, added = changes.get(row, (None, None))
            if adding:
                added = words
            else:
                # Words added in this transaction never reached the index.
                removed = words if added is None and removed is None else removed
                added = None
            changes[row] = (removed, added)
        names, marks = ", ".join(columns), ", ?" * len(columns)
        for row, (removed, added) in sorted(changes.items()):  # in order, so that a batch is one segment
            if removed is not None:
                sql = f"INSERT INTO {index}({index}, rowid, {names}) VALUES('delete', ?{marks})"
                self._db.execute(sql, (row, *removed))
            if added is not None:
                self._db.execute(f"INSERT INTO {index}(rowid, {names}) VALUES(?{marks})", (row, *added))
        self._pending.clear()
        return changes


def count_indexed_rows(connection: apsw.Connection, index: str) -> int:
    """Read the index's own row count, which is faster than counting."""
    averages = fetch(connection, f"SELECT block FROM {index}_data WHERE id = 1")[0][0]
    total = 0
    for byte in averages:
        total = total << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return total


def make_tokenizer(connection: apsw.Connection) -> Callable[[str], list[str]]:
    """Return the index's tokenizer, which skips redaction placeholders."""
    name, *arguments = TOKENIZER.split()
    tokenizer = connection.fts5_tokenizer(name, arguments)

    def tokens(text: str) -> list[str]:
        found: list[str] = tokenizer(  # type: ignore[assignment]
            remove_placeholders(text).encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None,
            include_offsets=False, include_colocated=False,
        )  # fmt: skip
        return found

    return tokens


def check_layout(
    connection: apsw.Connection, migrate: Callable[[apsw.Connection], bool], index: str
) -> list[str]:
    """Report if tables, indexes, triggers or settings differ from a new database."""
    fresh = apsw.Connection(":memory:")
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    try:
        migrate(fresh)
        # The index sets its `version` when the first word is deleted.
        config = f"SELECT * FROM {index}_config WHERE k != 'version'"
        for sql in ("PRAGMA user_version", "PRAGMA encoding", schema, config):
            if fetch(connection, sql) != fetch(fresh, sql):
                return ["it is not laid out as told does it"]
    finally:
        fresh.close()
    return []


def check_structure(connection: apsw.Connection) -> list[str]:
    """Report what SQLite's integrity check finds."""
    # `quick_check` does not compare indexes with their tables.
    return [str(row[0]) for row in fetch(connection, "PRAGMA integrity_check(5)") if row[0] != "ok"]


def check_index(connection: apsw.Connection, index: str) -> list[str]:
    """Report if a full-text index differs from its table."""
    try:
        connection.execute(f"INSERT INTO {index}({index}, rank) VALUES('integrity-check', 1)")
    except (apsw.CorruptError, apsw.SQLError):
        return ["the full-text index does not fit"]
    return []


def run_checks(connection: apsw.Connection, *checks: Callable[[apsw.Connection], list[str]]) -> list[str]:
    """Return what checks find, each once; a check that cannot read the file is damage, too."""
    found: list[str] = []
    for check in checks:
        try:
            found += check(connection)
        except (apsw.Error, UnicodeDecodeError) as error:
            found.append(f"cannot be read: {error}")
    return list(dict.fromkeys(found))


def public_id(letter: str, *parts: str, length: int = 7) -> str:
    """Return an id made of a letter and a hash of the parts."""
    number = int.from_bytes(blake2s("\0".join(parts).encode(), digest_size=10).digest(), "big")
    return letter + spell_number(number, length)


def spell_number(number: int, length: int) -> str:
    """Spell the lower bits of a number with so many letters."""
    return "".join(LETTERS[(number >> 5 * place) & 31] for place in range(length))


def load_key(home: str) -> bytes:
    """Return the home's secret key; create it if it is missing."""
    path = os.path.join(home, "key")
    try:
        key = read_document(path)
        if len(key) == 32:
            return key
    except OSError as error:
        if os.path.lexists(path):
            raise MissingError(f"{path} cannot be read ({describe_error(error)}). Move it away.") from None
    return _create_key(path)


def _create_key(path: str) -> bytes:
    """Create the key file atomically; use another process's key if it was first."""
    key = os.urandom(32)
    try:
        make_folder(os.path.dirname(path))
        try:
            create_private(path, key)
        except FileExistsError:
            if os.path.getsize(path) != len(key):
                write_private(path, key)
        return read_document(path) or key
    except OSError:
        return key  # read-only home: a key for this process only
