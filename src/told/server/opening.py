"""Find the server's database: that of the running server, one by its address, or the embedded one.

What a running server says of itself is in `server/server.json` of told's home, which it keeps locked.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from told.errors import BusyError, UsageError
from told.files import cannot_write, make_folder, write_private
from told.jsontext import dump_json, load_json
from told.server.embedded import EmbeddedPostgres
from told.store.database import acquire_lock
from told.store.postgres.database import Database, connect

FOLDER = "server"  # below told's home
CONNECTIONS = 16  # of a server process to its database
_STATE = "server.json"
_LOCK = "server"  # name of the lock that a running server keeps


@contextlib.contextmanager
def open_database(
    home: str, url: str = "", *, size: int = CONNECTIONS, restart: bool = False
) -> Iterator[Database]:
    """Open the database of a url or of the running server, else the embedded one for this block.

    Args:
        home: told's folder.
        url: Its connection string; empty for the running server's or the embedded one.
        size: The largest number of connections.
        restart: Start the embedded one again whenever it ends.
    """
    url = url or read_state(home).get("database", "")
    embedded = None if url else EmbeddedPostgres(os.path.join(home, FOLDER, "postgres"))
    try:
        if embedded:
            embedded.start()
            if restart:
                embedded.keep_running()
            url = embedded.url
        connect(url).close()  # says at once what is wrong; a pool would try again for a while
        database = Database(url, size=size)
        try:
            yield database
        finally:
            database.close()
    finally:
        if embedded:
            embedded.stop()


def read_state(home: str) -> dict[str, str]:
    """Return what a running server says of itself; empty if none runs."""
    try:
        with open(os.path.join(home, FOLDER, _STATE), encoding="utf-8") as file:
            found = load_json(file.read())
        os.kill(int(found["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    # Another process may have the id of a server that was killed.
    return {} if _is_unlocked(home) else {name: str(value) for name, value in found.items()}


def _is_unlocked(home: str) -> bool:
    """Tell whether no process has the lock that a running server keeps."""
    folder = os.path.join(home, FOLDER)
    if not os.path.exists(os.path.join(folder, f"{_LOCK}.lock")):
        return False  # an older version of told may run
    lock = acquire_lock(folder, _LOCK)
    if lock:
        os.close(lock)
    return bool(lock)  # 0: files cannot be locked here


@contextlib.contextmanager
def reserve_home(home: str) -> Iterator[None]:
    """Keep other servers from using a home for as long as the block runs.

    Raises:
        UsageError: one runs already.
        BusyError: one starts at this moment.
        MissingError: the home cannot be written.
    """
    folder = os.path.join(home, FOLDER)
    try:
        make_folder(folder)
    except OSError as error:
        raise cannot_write(folder, error) from None
    _refuse_second(home)
    lock = acquire_lock(folder, _LOCK, patient=True)
    if lock is None:
        _refuse_second(home)
        raise BusyError(f"Another server starts in {folder}. Retry in a moment.")
    try:
        with contextlib.suppress(OSError):
            os.remove(os.path.join(folder, _STATE))  # of a server that was killed
        yield
    finally:
        if lock:
            os.close(lock)


def _refuse_second(home: str) -> None:
    if state := read_state(home):
        raise UsageError(
            f"Already running on {state.get('host')}:{state.get('port')} (pid {state.get('pid')})."
            " `told server stop` ends it; a second server needs its own TOLD_HOME."
        )


@contextlib.contextmanager
def note_state(home: str, host: str, port: int, url: str) -> Iterator[None]:
    """Write what other commands need to know of this server, for as long as the block runs."""
    path = os.path.join(home, FOLDER, _STATE)
    make_folder(os.path.dirname(path))
    write_private(path, dump_json({"pid": os.getpid(), "host": host, "port": port, "database": url}).encode())
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.remove(path)
