"""One worker process of the queue benchmark: `python -m benchmarks.server.queue_process WHICH NAME`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from told.server.context import Server, ServerSettings
from told.server.jobs import LIMITS, Worker, Write
from told.server.people import ensure_team
from told.store.postgres.database import Database, connect, fetch_value

_FLOOR = (
    "DELETE FROM floor WHERE id = ANY(ARRAY(SELECT id FROM floor ORDER BY id LIMIT %s"
    " FOR UPDATE SKIP LOCKED)) RETURNING payload"
)


def do_nothing(*_: object) -> Write:
    return lambda _: None


def run(which: str, name: str) -> None:
    """Be one worker process: say that it is ready, wait, and print how many items it took."""
    url = os.environ["TOLD_DATABASE_URL"]
    if which == "told":
        database = Database(url, size=1)
        server = Server(database, ServerSettings("", b""), ensure_team(database, "acme"))
        work: Callable[[], int] = Worker(server, name, {"none": do_nothing}).work
    else:
        connection = connect(url)
        fetch_value(connection, "SELECT 1")

        def work() -> int:
            return connection.execute(_FLOOR, (LIMITS.batch,)).rowcount

    print("ready", flush=True)
    sys.stdin.readline()
    total = 0
    while done := work():
        total += done
    print(total, flush=True)


if __name__ == "__main__":
    run(*sys.argv[1:])
