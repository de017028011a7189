"""How many items of the queue workers end in a second, beside the least that SQL needs for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from benchmarks.server.postgres import migrated_database
from told.server.jobs import LIMITS
from told.server.people import ensure_team
from told.store.postgres.database import Database, Viewer, connect
from told.store.postgres.jobs import enqueue

HOW = (
    "Worker processes empty a queue of items whose handler writes nothing, from a signal that all of them"
    f" wait for until the last one finds nothing. told leases {LIMITS.batch} items and ends them in a "
    "second transaction; floor: as many processes delete batches of that size, in one transaction, from a"
    " table without other indexes, by FOR UPDATE SKIP LOCKED. Added: by one client, a transaction for "
    "each item; floor: a plain INSERT. fsync and synchronous_commit are on."
)
FLOOR_TABLE = "CREATE TABLE floor(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload jsonb)"
_WORKERS = (1, 2, 4, 8)
_FILL = {
    "floor": "INSERT INTO floor(payload) SELECT '{\"n\": 1}' FROM generate_series(1, %s)",
    "told": "INSERT INTO job(team, kind, key, person, payload)"
    " SELECT team, 'none', 'key' || n, 'u1', '{\"n\": 1}' FROM team, generate_series(1, %s) AS n",
}
_EMPTY = {"floor": "TRUNCATE floor", "told": "TRUNCATE job"}


def measure(arguments: Namespace) -> dict[str, Any]:
    items, rounds = (4_000, 1) if arguments.quick else (20_000, 3)
    with migrated_database() as database:
        ensure_team(database, "acme")
        with connect(database.url) as connection:
            connection.execute(FLOOR_TABLE)
        found: dict[str, Any] = {"items": items, "rounds": rounds}
        for workers in _WORKERS:
            pairs = [
                (drain(database, "told", items, workers), drain(database, "floor", items, workers))
                for _ in range(rounds)
            ]
            told, floor = (sorted(rates)[rounds // 2] for rates in zip(*pairs, strict=True))
            found[f"{workers} workers"] = _beside(told, floor)
        found["added"] = _beside(*_measure_adding(database, items // 10))
    return found


def _beside(told: float, floor: float) -> dict[str, Any]:
    return {"told_s": round(told), "floor_s": round(floor), "share": round(told / floor, 2)}


def drain(database: Database, which: str, items: int, workers: int) -> float:
    """Return how many items per second processes take from a full queue."""
    with connect(database.url) as connection:
        connection.execute(_EMPTY[which])
        connection.execute(_FILL[which], (items,))
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")
    words = [sys.executable, "-m", "benchmarks.server.queue_process", which]
    environ = {**os.environ, "TOLD_DATABASE_URL": database.url}
    processes = [
        subprocess.Popen(
            [*words, str(index)], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for index in range(workers)
    ]
    for one in processes:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    began = time.perf_counter()
    for one in processes:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    done = sum(int(one.communicate()[0]) for one in processes)
    took = time.perf_counter() - began
    assert done == items, (done, items)
    return items / took


def _measure_adding(database: Database, items: int) -> tuple[float, float]:
    viewer = Viewer(ensure_team(database, "acme").team, "u1")

    def add(number: int) -> None:
        with database.viewing(viewer) as connection:
            assert enqueue(connection, viewer, "none", {"n": number}, f"added {number}")

    told = _rate(add, items)
    with connect(database.url) as connection:
        floor = _rate(
            lambda _: connection.execute("INSERT INTO floor(payload) VALUES ('{\"n\": 1}')").close(), items
        )
    return told, floor


def _rate(action: Callable[[int], None], times: int) -> float:
    began = time.perf_counter()
    for number in range(times):
        action(number)
    return times / (time.perf_counter() - began)
