"""A worker process with the handlers of the tests: `python -m tests.server.queue_worker NAME`."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from told.server.context import Server, ServerSettings
from told.server.jobs import Handler, Worker, Write
from told.server.people import ensure_team
from told.server.workers import WorkerCommand, run_worker
from told.store.postgres.database import Connection, Database, Viewer
from told.store.postgres.jobs import Limits

TABLE = (
    "CREATE TABLE effect(n bigint NOT NULL, person text NOT NULL); GRANT INSERT, SELECT ON effect TO told_app"
)


def add(_: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
    """Write one row, which a second run would double."""

    def write(connection: Connection) -> None:
        connection.execute("INSERT INTO effect(n, person) VALUES (%s, %s)", (payload["n"], viewer.person))

    return write


def fail(_: Server, __: Viewer, payload: dict[str, Any]) -> Write:
    """Fail before anything is written."""
    raise ValueError(payload.get("says", "no"))


def fail_late(_: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:
    """Fail after something was written."""

    def write(connection: Connection) -> None:
        add(_, viewer, payload)(connection)
        connection.execute("SELECT 1 / 0")

    return write


def crash(_: Server, __: Viewer, ___: dict[str, Any]) -> Write:
    """Kill the worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def hang(_: Server, __: Viewer, ___: dict[str, Any]) -> Write:
    """Never return."""
    while True:
        time.sleep(60)


HANDLERS: dict[str, Handler] = {
    "add": add,
    "fail": fail,
    "fail late": fail_late,
    "crash": crash,
    "hang": hang,
}


def command(url: str, limits: Limits) -> WorkerCommand:
    """Return how this module is started."""
    environ = {**os.environ, "TOLD_DATABASE_URL": url, "LIMITS": json.dumps(limits)}
    return WorkerCommand((sys.executable, "-m", "tests.server.queue_worker"), environ)


def open_server(url: str, size: int) -> Server:
    """Open a server on a database."""
    database = Database(url, size=size)
    settings = ServerSettings(os.fspath("/nonexistent"), b"k" * 32)
    return Server(database, settings, ensure_team(database, "acme"), time.time())


if __name__ == "__main__":
    limits = Limits(*json.loads(os.environ["LIMITS"]))
    run_worker(Worker(open_server(os.environ["TOLD_DATABASE_URL"], 2), sys.argv[1], HANDLERS, limits))
