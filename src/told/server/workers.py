"""Run worker processes for the queue: restart those that die, and free what they had taken.

They are processes, because a worker that crashes, hangs or needs too much memory must not end the server; and
they look for work several times a second, because NOTIFY would make all commits that add items wait in line.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from told.errors import BusyError
from told.server.context import Server
from told.server.jobs import LIMITS, Worker
from told.store.postgres.jobs import Limits, prune, release

_LOOK_SECONDS = 0.1  # between two looks at the processes
_RELEASE_SECONDS = 1.0  # between two looks for expired leases
_PRUNE_SECONDS = 60.0
_SHORT_LIFE_SECONDS = 1.0  # a process that ended earlier is restarted later each time
_MOST_PAUSE_SECONDS = 3.0
_STOP_SECONDS = 1.5


class WorkerCommand(NamedTuple):
    """How a worker process is started; the name of the worker is added to its words."""

    words: Sequence[str]
    variables: Mapping[str, str]


class _Slot:
    """One worker process, and the next one when it ends."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.name = ""
        self.started = self.pause = 0.0

    def is_due(self, now: float) -> bool:
        return self.process is None and now >= self.started + self.pause

    def start(self, command: WorkerCommand, now: float) -> None:
        self.name = f"{platform.node()}-{secrets.token_hex(6)}"
        self.started = now
        self.process = subprocess.Popen(  # noqa: S603 - this program
            [*command.words, self.name], env=dict(command.variables), stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def signal(self, number: int) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Wait until the process ends; kill it, and return False, if it does not."""
        assert self.process
        try:
            self.process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        return True

    def note_end(self, now: float) -> bool:
        """Return whether the process has ended since the last look."""
        if self.process is None or self.process.poll() is None:
            return False
        self.close()
        is_short = now < self.started + _SHORT_LIFE_SECONDS
        self.pause = min(_MOST_PAUSE_SECONDS, self.pause * 2 or _LOOK_SECONDS) if is_short else 0.0
        return True

    def close(self) -> None:
        if self.process and self.process.stdin:
            self.process.stdin.close()
        self.process = None


class Workers:
    """The worker processes of one server; used in a `with` block."""

    def __init__(self, server: Server, command: WorkerCommand, count: int, limits: Limits = LIMITS) -> None:
        """Name what runs.

        Args:
            server: The database and settings.
            command: How to start a worker.
            count: How many processes.
            limits: How items are leased and retried.
        """
        self._server, self._command, self._limits = server, command, limits
        self._slots = [_Slot() for _ in range(count)]
        self._ended: set[str] = set()  # workers whose leases are still to be freed
        self._released = self._pruned = 0.0
        self._stop = threading.Event()
        self._lock = threading.Lock()  # of the slots
        self._thread = threading.Thread(target=self._watch, name="told workers", daemon=True)

    def __enter__(self) -> Self:
        if self._slots:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pids(self) -> list[int]:
        """Return the ids of the processes that run."""
        return [one.process.pid for one in self._slots if one.process and one.process.poll() is None]

    def stop(self) -> None:
        """Let the workers finish their current item, then end them."""
        with self._lock:
            self._stop.set()
            for one in self._slots:
                one.signal(signal.SIGTERM)
            deadline = time.monotonic() + _STOP_SECONDS
            for one in self._slots:
                if one.process and not one.wait(deadline - time.monotonic()):
                    self._ended.add(one.name)
                one.close()
        if self._ended:
            with contextlib.suppress(BusyError):
                self._release(wait_seconds=_RELEASE_SECONDS)

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            now = time.monotonic()
            with self._lock:
                self._restart(now)
            # Without the database, the leases are freed when it is back.
            with contextlib.suppress(BusyError):
                if now >= self._released + _RELEASE_SECONDS:
                    self._released = now
                    self._release()
                if now >= self._pruned + _PRUNE_SECONDS:
                    self._pruned = now
                    with self._server.database.owning() as connection:
                        prune(connection, self._server.team.team)

    def _restart(self, now: float) -> None:
        for one in self._slots:
            if one.note_end(now):
                self._ended.add(one.name)
                self._released = 0.0
            if one.is_due(now) and not self._stop.is_set():
                with contextlib.suppress(OSError):  # too many processes; later there is room for one more
                    one.start(self._command, now)

    def _release(self, wait_seconds: float = 10.0) -> None:
        ended = set(self._ended)
        with self._server.database.owning(wait_seconds=wait_seconds) as connection:
            late = release(connection, self._server.team.team, sorted(ended), self._limits)
        self._ended -= ended
        for one in self._slots:
            if one.name in late:  # it hangs
                one.signal(signal.SIGKILL)


def run_worker(worker: Worker) -> None:
    """Run a worker until SIGTERM, or until the server that started it is gone."""

    def end(*_: object) -> None:
        worker.stop()

    def wait_for_end() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        worker.stop()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    threading.Thread(target=wait_for_end, daemon=True).start()
    worker.run()
