"""Find the server's database: that of the running server, one by its address, or the embedded one.

What a running server says of itself is in `server/server.json` of told's home.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from told.files import make_folder, write_private
from told.jsontext import dump_json, load_json
from told.server.embedded import EmbeddedPostgres
from told.store.postgres.database import Database, connect

FOLDER = "server"  # below told's home
CONNECTIONS = 16  # of a server process to its database
_STATE = "server.json"


@contextlib.contextmanager
def open_database(home: str, url: str = "", *, size: int = CONNECTIONS) -> Iterator[Database]:
    """Open the database of a url or of the running server, else the embedded one for this block."""
    url = url or read_state(home).get("database", "")
    embedded = None if url else EmbeddedPostgres(os.path.join(home, FOLDER, "postgres"))
    try:
        if embedded:
            embedded.start()
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
    return {name: str(value) for name, value in found.items()}


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
