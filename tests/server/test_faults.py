"""What breaks under the server: PostgreSQL, its workers, the connection between them, the disk."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from tests.server.queue_load import LIMITS, Load, Proxy, own_postgres, wait_until
from tests.server.queue_worker import command, open_server
from tests.server.site import make_site
from tests.soak import SOAK, points
from told.server.embedded import EmbeddedPostgres
from told.server.workers import Workers
from told.store.postgres.database import Database, Viewer
from told.store.postgres.jobs import Limits, count_states, enqueue

CHOICE = random.Random(7)


@pytest.fixture(scope="module")
def stable() -> Iterator[EmbeddedPostgres]:
    """Run a PostgreSQL that keeps its address when it starts again."""
    with own_postgres() as server:
        yield server


def report(what: str, **figures: object) -> None:
    """Print what was measured; seen with `pytest -s`."""
    print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in figures.items()))


def test_restarts_of_postgres_lose_and_double_nothing(fresh: EmbeddedPostgres) -> None:
    load, slowest = Load(fresh.url), 0.0
    restarts = points(everyday=1, soak=100)
    for _ in range(restarts):
        time.sleep(CHOICE.uniform(0.05, 0.6))
        fresh.stop(how=signal.SIGQUIT)
        time.sleep(CHOICE.choice((0, 0, 1.5)) * SOAK)
        fresh.start()
        slowest = max(slowest, load.slowest_return(time.monotonic()))
    outcome = load.finish()
    report("restarts of PostgreSQL", restarts=restarts, slowest_reconnect=f"{slowest:.2f} s", outcome=outcome)
    assert outcome.acknowledged > restarts
    assert (outcome.lost, outcome.doubled, outcome.states["dead"]) == (0, 0, 0)


def test_killed_workers_lose_and_double_nothing(fresh: EmbeddedPostgres) -> None:
    load = Load(fresh.url)
    kills = points(everyday=2, soak=100)
    for _ in range(kills):
        time.sleep(CHOICE.uniform(0.05, 0.5))
        wait_until(lambda: load.workers.pids)
        os.kill(CHOICE.choice(load.workers.pids), signal.SIGKILL)
    outcome = load.finish()
    report("kills of workers", kills=kills, outcome=outcome)
    assert outcome.acknowledged > kills
    assert (outcome.lost, outcome.doubled) == (0, 0)


@pytest.fixture
def fresh(stable: EmbeddedPostgres) -> EmbeddedPostgres:
    """Return a PostgreSQL with an empty queue."""
    database = Database(stable.url, size=1)
    with database.owning() as connection:
        connection.execute("TRUNCATE job, effect")
    database.close()
    return stable


def test_a_cut_connection_loses_and_doubles_nothing(fresh: EmbeddedPostgres) -> None:
    folder = unquote(fresh.url.partition("host=")[2])
    proxy = Proxy(folder)
    load = Load(fresh.url.replace(quote(folder, safe=""), quote(proxy.folder, safe="")))
    cuts, dropped, slowest = points(everyday=2, soak=50), 0, 0.0
    for _ in range(cuts):
        time.sleep(CHOICE.uniform(0.05, 0.4))
        dropped += proxy.cut()
        time.sleep(CHOICE.uniform(0, 0.5))
        proxy.mend()
        slowest = max(slowest, load.slowest_return(time.monotonic()))
    outcome = load.finish()
    proxy.close()
    report("cuts", cuts=cuts, dropped=dropped, slowest_reconnect=f"{slowest:.2f} s", outcome=outcome)
    assert dropped >= cuts
    assert (outcome.lost, outcome.doubled, outcome.states["dead"]) == (0, 0, 0)


def process(server: EmbeddedPostgres, kinds: list[str], limits: Limits) -> dict[str, int]:
    """Process items with two worker processes; return how many ended how."""
    made = open_server(server.url, 2)
    viewer = Viewer(made.team.team, "u1")
    with made.database.viewing(viewer) as connection:
        for n, kind in enumerate(kinds):
            enqueue(connection, viewer, kind, {"n": n}, str(n))

    def states() -> dict[str, int]:
        with made.database.owning() as connection:
            return count_states(connection, viewer.team)

    with Workers(made, command(server.url, limits), 2, limits):
        # In one look: between two, items may go back from running to ready.
        wait_until(
            lambda: not sum(count for state, count in states().items() if state in ("ready", "running"))
        )
    found = states()
    made.database.close()
    return found


def test_items_that_kill_or_hang_their_worker_end_dead_and_take_no_other_along(
    fresh: EmbeddedPostgres,
) -> None:
    limits = LIMITS._replace(attempts=2, lease_seconds=0.5)
    found = process(fresh, ["add", "crash", "add", "hang", "add"], limits)
    assert (found["done"], found["dead"]) == (3, 2)


def test_two_servers_share_one_queue(fresh: EmbeddedPostgres) -> None:
    load = Load(fresh.url, workers=1)
    other = open_server(fresh.url, 2)
    with Workers(other, command(fresh.url, LIMITS), 1, LIMITS):
        wait_until(lambda: sum(len(one.acknowledged) for one in load.clients) > 40)
        outcome = load.finish()
    other.database.close()
    assert (outcome.lost, outcome.doubled) == (0, 0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk for PostgreSQL."""
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=120m,mode=700", "none", tmp_path],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("only root can mount a small disk")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_full_disk_is_refused_and_loses_nothing(small_disk: Path) -> None:
    sizes = "max_wal_size=32MB", "min_wal_size=32MB"
    with own_postgres(*sizes, folder=os.fspath(small_disk)) as server:
        load = Load(server.url, payload=2_000)
        database = Database(server.url, size=2)
        ada = make_site(database, os.fspath(small_disk)).of("ada")
        wait_until(lambda: all(one.acknowledged for one in load.clients))
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(65536)):
                pass
        wait_until(lambda: all(one.refused for one in load.clients))
        answers = [ada.post("/api/v1/tokens", json={"person": f"p{n}"}) for n in range(80)]
        filler.unlink()
        load.slowest_return(time.monotonic())
        assert ada.post("/api/v1/tokens", json={"person": "later"}).status_code == 201
        outcome = load.finish()
        database.close()
    refused = {one.status_code: one.json()["detail"] for one in answers if one.status_code != 201}
    said = {text.partition("(")[0].strip() for client in load.clients for text in client.refused}
    report("disk full", refused=refused, said=said, outcome=outcome)
    assert set(refused) <= {503, 507}
    assert refused
    assert all(text.endswith((".", ")")) for text in refused.values())
    assert (outcome.lost, outcome.doubled, outcome.states["dead"]) == (0, 0, 0)
