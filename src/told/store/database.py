"""Open told's SQLite files: private, in WAL mode, one writer at a time; and their full-text indexes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import apsw

from told.errors import BusyError, MissingError
from told.files import create_private, describe_error, make_folder, write_private
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

SWEEP_LOCK, LEARN_LOCK, EMBED_LOCK = "sweep", "learn", "understand"

TOKENIZER = "porter unicode61 remove_diacritics 2"

LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def open_database(path: str, *, create: bool) -> apsw.Connection:
    """Open a database; read-only where the disk is."""
    if create:
        make_private_folder(os.path.dirname(path))
        try:
            # SQLite gives `-wal` and `-shm` the same mode.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise _cannot_write(path, error) from None
    elif not os.path.exists(path):
        raise MissingError("told has not read any history yet. Run `told index`.")
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(WAIT_MS)
        set_mmap_size(connection, 1 << 30)
        _read_first_page(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
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


def purge(connection: apsw.Connection, index: str) -> None:
    """Remove deleted bytes from the index, free pages and the log."""
    try:
        # Deleted words stay in the index, marked, until it is one segment.
        connection.execute(f"INSERT INTO {index}({index}) VALUES('optimize')")
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
        raise _cannot_write(path, error) from None


def _cannot_write(path: str, error: OSError) -> MissingError:
    where, why = error.filename or path, describe_error(error)
    return MissingError(f"told cannot write to {where} ({why}). Set TOLD_HOME to a folder it may use.")


def acquire_lock(home: str, name: str = SWEEP_LOCK) -> int | None:
    """Lock until the returned descriptor is closed; None if another process has it."""
    if fcntl is None:  # two sweeps do no harm: each checks the cursor it started from
        return 0
    try:
        descriptor = os.open(os.path.join(home, f"{name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def quote_phrase(words: str, *, prefix: bool = False) -> str:
    """Quote words for an FTS5 expression; with `prefix` the last may continue."""
    return f'"{words}"*' if prefix else f'"{words}"'


def unquote_phrase(phrase: str) -> str:
    """Return the words of a quoted phrase."""
    return phrase.strip('*"')


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
        for sql in ("PRAGMA user_version", "PRAGMA encoding", schema, f"SELECT * FROM {index}_config"):
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
        with open(path, "rb") as file:
            key = file.read(32)
        if len(key) == 32:
            return key
    except FileNotFoundError:
        pass
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({describe_error(error)}).") from None
    make_private_folder(home)
    return _create_key(path)


def _create_key(path: str) -> bytes:
    """Create the key file atomically; use another process's key if it was first."""
    key = os.urandom(32)
    try:
        try:
            create_private(path, key)
        except FileExistsError:
            if os.path.getsize(path) != len(key):
                write_private(path, key)
        with open(path, "rb") as file:
            return file.read(32) or key
    except OSError:
        return key  # read-only home: a key for this process only
