"""Clients that send items to a queue without a pause, while the worker processes work and things break."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.server.queue_worker import TABLE, command, open_server
from told.errors import BusyError
from told.server.context import Server
from told.server.embedded import EmbeddedPostgres
from told.server.workers import Workers
from told.store.postgres.database import Database, Viewer, connect
from told.store.postgres.jobs import Limits, count_states, enqueue
from told.store.postgres.migrate import migrate

LIMITS = Limits(batch=10, lease_seconds=20, attempts=20, wait_seconds=0.05)
_PATIENCE = 120  # seconds; only a queue that sticks takes longer
_CLIENTS = 2
_PAUSE = 0.002  # between two items of one client


@contextlib.contextmanager
def own_postgres(*settings: str, folder: str = "") -> Iterator[EmbeddedPostgres]:
    """Run a PostgreSQL of its own that keeps what it says it keeps."""
    # Its socket must keep its path when it starts again, so the path has to be short.
    made = folder or tempfile.mkdtemp(prefix="told-")
    server = EmbeddedPostgres(
        os.path.join(made, "pg"),
        settings=("fsync=on", "max_connections=40", "shared_buffers=32MB", *settings),
    )
    server.start()
    try:
        database = Database(server.url)
        migrate(database)
        database.close()
        with connect(server.url) as connection:
            connection.execute(TABLE)
        yield server
    finally:
        server.stop()
        shutil.rmtree(made, ignore_errors=True)


class Client:
    """Sends numbered items, each one until it is acknowledged."""

    def __init__(self, url: str, viewer: Viewer, first: int, payload: int) -> None:
        self._database, self._viewer, self._payload = Database(url, size=1), viewer, payload
        self._next, self._stop = first, threading.Event()
        self.acknowledged: list[int] = []
        self.times: list[float] = []  # of each acknowledgement
        self.refused: list[str] = []
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._stop.wait(_PAUSE):
            number = self._next
            payload = {"n": number, "text": random.Random(number).randbytes(self._payload).hex()}
            try:
                with self._database.viewing(self._viewer) as connection:
                    enqueue(connection, self._viewer, "add", payload, str(number))
            except BusyError as error:
                self.refused.append(str(error))
                continue
            self.acknowledged.append(number)
            self.times.append(time.monotonic())
            self._next += 1

    def was_acknowledged(self, since: float) -> bool:
        """Tell whether an item was acknowledged after a time."""
        return bool(self.times) and self.times[-1] > since

    def stop(self) -> None:
        """End after the current item."""
        self._stop.set()
        self.thread.join()
        self._database.close()


@dataclass
class Outcome:
    """What became of the items."""

    acknowledged: int
    lost: int
    doubled: int
    states: dict[str, int] = field(default_factory=dict)


class Load:
    """Clients and workers on one database."""

    def __init__(self, url: str, *, workers: int = 2, payload: int = 0, count: int = _CLIENTS) -> None:
        """Start them; the clients and workers use this address, and nothing else does."""
        self.server: Server = open_server(url, 4)
        viewer = Viewer(self.server.team.team, "u1")
        self.workers = Workers(self.server, command(url, LIMITS), workers, LIMITS)
        self.workers.__enter__()
        self.clients = [Client(url, viewer, index * 10**9, payload) for index in range(count)]
        for one in self.clients:
            one.thread.start()

    def slowest_return(self, since: float) -> float:
        """Wait until each client was acknowledged again; return how many seconds the slowest one took."""
        returned = []
        for one in self.clients:
            wait_until(partial(one.was_acknowledged, since))
            returned.append(next(at for at in one.times if at > since) - since)
        return max(returned)

    def finish(self) -> Outcome:
        """Stop the clients, let the workers finish, and count."""
        for one in self.clients:
            one.stop()
        wait_until(lambda: not self._count("ready", "running"))
        self.workers.stop()
        with self.server.database.owning() as connection:
            effects = [n for (n,) in connection.execute("SELECT n FROM effect")]
            states = count_states(connection, self.server.team.team)
        self.server.database.close()
        sent = {n for one in self.clients for n in one.acknowledged}
        assert states["done"] == len(set(effects))
        lost = len(sent - set(effects)) - states["dead"]
        return Outcome(len(sent), max(0, lost), len(effects) - len(set(effects)), states)

    def _count(self, *states: str) -> int:
        with contextlib.suppress(BusyError), self.server.database.owning() as connection:
            counts = count_states(connection, self.server.team.team)
            return sum(counts[one] for one in states)
        return 1


def wait_until(true: Callable[[], object]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it sticks"
        time.sleep(0.02)


class Proxy:
    """A Unix socket before PostgreSQL's, whose connections can be cut."""

    def __init__(self, target: str) -> None:
        """Listen in a folder of its own, for the socket in another folder."""
        self._target = os.path.join(target, ".s.PGSQL.5432")
        self.folder = tempfile.mkdtemp(prefix="told-")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(os.path.join(self.folder, ".s.PGSQL.5432"))
        self._listening.listen(64)
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            with self._lock:
                pair = near, far
                self._pairs.add(pair)
                is_cut = self._is_cut
            if is_cut:
                self._close(pair)
                continue
            far.connect(self._target)
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other, pair), daemon=True).start()

    def _carry(
        self, one: socket.socket, other: socket.socket, pair: tuple[socket.socket, socket.socket]
    ) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        self._close(pair)

    def _close(self, pair: tuple[socket.socket, socket.socket]) -> None:
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        with self._lock:
            self._pairs.discard(pair)

    def cut(self) -> int:
        """Drop all connections and accept none; return how many there were."""
        with self._lock:
            self._is_cut = True
            pairs = list(self._pairs)
        for pair in pairs:
            self._close(pair)
        return len(pairs)

    def mend(self) -> None:
        """Accept connections again."""
        with self._lock:
            self._is_cut = False

    def close(self) -> None:
        """End."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()
        shutil.rmtree(self.folder, ignore_errors=True)
