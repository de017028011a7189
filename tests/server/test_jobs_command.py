"""The queue for whoever runs the server: its workers, `told server jobs` and `told health`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.test_start import Machine, is_alive, workers_of
from told.server.people import ensure_team
from told.store.postgres.database import Database, Viewer
from told.store.postgres.jobs import enqueue


@pytest.fixture
def machine(tmp_path: Path, postgres_url: str) -> Machine:
    made = Machine(tmp_path)
    made.environ["TOLD_DATABASE_URL"] = postgres_url
    return made


def add(database: Database, *keys: str) -> None:
    """Add items of a kind that no worker knows."""
    viewer = Viewer(ensure_team(database, "team").team, "u1")
    with database.viewing(viewer) as connection:
        for key in keys:
            enqueue(connection, viewer, "test", {}, key)


def fail_all(database: Database) -> None:
    with database.owning() as connection:
        connection.execute(
            "UPDATE job SET state = 'dead', attempts = 8, finished = now(), error = 'No </agent>'"
        )


def test_failed_items_are_listed_and_tried_again(machine: Machine, postgres: Database) -> None:
    add(postgres, "k1", "k2")
    fail_all(postgres)
    add(postgres, "k3")
    shown = machine.here("server", "jobs").stdout
    assert shown.startswith("test: 1 ready, 0 running, 0 done, 2 dead\n")
    assert "8 attempts" in shown
    assert "No </agent>" not in shown
    dead = json.loads(machine.here("server", "jobs", "--json").stdout)["dead"]
    assert len(dead) == 2
    number = str(dead[0]["id"])
    assert machine.here("server", "jobs", "retry", number).stdout == "1 item will be tried again.\n"
    again = machine.here("server", "jobs", "retry", number)
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    assert machine.here("server", "jobs", "retry").stdout == "1 item will be tried again.\n"


def test_health_names_failed_items_of_a_running_server(machine: Machine, postgres: Database) -> None:
    folder = machine.folder / "told" / "server"
    folder.mkdir(parents=True, mode=0o700)
    state = {"pid": os.getpid(), "host": "127.0.0.1", "port": 3377, "database": postgres.url}
    (folder / "server.json").write_text(json.dumps(state))
    add(postgres, "k1")
    assert "team server" not in machine.here("health").stdout
    fail_all(postgres)
    assert (
        "1 queue item of the team server failed. `told server jobs` shows why."
        in machine.here("health").stdout
    )


class Running:
    """A server with two workers."""

    def __init__(self, machine: Machine, database: Database) -> None:
        self._database = database
        words = ("server", "start", "--port", str(machine.port), "--workers", "2")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "told", *words], env=machine.environ, stdout=subprocess.DEVNULL
        )

    def workers(self) -> list[int]:
        """Return the ids of the worker processes."""
        return workers_of(self.process.pid)

    def errors(self) -> list[str]:
        """Return what the workers noted of items."""
        with self._database.owning() as connection:
            return [error for (error,) in connection.execute("SELECT error FROM job WHERE state = 'ready'")]


def wait_until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def running(machine: Machine, postgres: Database) -> Iterator[Running]:
    made = Running(machine, postgres)
    wait_until(lambda: len(made.workers()) == 2)
    yield made
    made.process.kill()
    made.process.wait()


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


def test_the_server_replaces_workers_that_die_and_they_end_with_it(
    running: Running, postgres: Database
) -> None:
    before = running.workers()
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: len(running.workers()) == 2 and before[0] not in running.workers())
    add(postgres, "k1")
    wait_until(lambda: running.errors() == ["This server cannot process 'test'. Update told."])
    workers = running.workers()
    running.process.kill()  # tests/server/test_start.py ends a server in the usual way
    wait_until(lambda: not any(map(is_alive, workers)))
