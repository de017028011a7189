"""Process the queue: take items, run their handlers, and commit what these write with the items' end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from told.errors import BusyError, DiskFullError, ToldError
from told.server.context import Server
from told.store.postgres.database import Connection, Viewer, set_timeouts, view_as
from told.store.postgres.jobs import (
    Job,
    Limits,
    extend,
    fail,
    finish,
    give_back,
    lock_leased,
    release,
    take,
)
from told.text import clean

Write = Callable[[Connection], None]
# Does the slow part outside a transaction, and returns what writes the result as the item's person. If that
# runs twice, only one of its transactions is committed: the one that also ends the item.
Handler = Callable[[Server, Viewer, dict[str, Any]], Write]

LIMITS = Limits()
_IDLE_SECONDS = 0.2  # between two looks at an empty queue
_DOWN_SECONDS = 0.5  # between two attempts to reach the database
_FULL_SECONDS = 5.0  # before an item is tried again after the disk was full
_MAX_ERROR = 300  # characters
_Result = TypeVar("_Result")


class Worker:
    """Takes items from the queue of one team, one batch at a time."""

    def __init__(
        self, server: Server, name: str, handlers: Mapping[str, Handler], limits: Limits = LIMITS,
        slow: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        """Prepare to work.

        Args:
            server: The database and settings.
            name: Whose leases its items have; no other worker has this name.
            handlers: What processes the items of each kind.
            limits: How items are leased and retried.
            slow: Kinds that take longer than a lease, with the seconds that they may take.
        """
        self._server, self._name, self._handlers, self._limits = server, name, handlers, limits
        self._slow = slow or {}
        self._database, self._team = server.database, server.team.team
        self._stop = threading.Event()
        self._looked = 0.0  # when it last looked for items that were tried before

    def stop(self) -> None:
        """End `run` after the item that is processed now."""
        self._stop.set()

    def run(self) -> None:
        """Process items until `stop` is called."""
        was_interrupted = False
        while not self._stop.is_set():
            try:
                if was_interrupted:
                    with self._database.owning() as connection:
                        release(connection, self._team, [self._name], self._limits)
                    was_interrupted = False
                if not self.work():
                    self._stop.wait(_IDLE_SECONDS)
            except BusyError:
                was_interrupted = True
                self._stop.wait(_DOWN_SECONDS)

    def work(self) -> int:
        """Process the next new items, and now and then one that was tried before; return how many."""
        done = self._process(self._take(again=False))
        if done < self._limits.batch or time.monotonic() > self._looked + _IDLE_SECONDS:
            self._looked = time.monotonic()
            done += self._process(self._take(again=True))
        return done

    def _take(self, *, again: bool) -> list[Job]:
        with self._database.owning() as connection:
            return take(connection, self._team, self._name, self._limits, again=again)

    def _process(self, jobs: list[Job]) -> int:
        """Process items: slow ones one by one, after the others."""
        quick = [one for one in jobs if one.kind not in self._slow]
        for batch in (quick, *([one] for one in jobs if one.kind in self._slow)):
            self._process_batch(batch)
        return len(jobs)

    def _process_batch(self, jobs: list[Job]) -> None:
        try:
            prepared = self._prepare(jobs)
            for person in sorted({job.person for job, _ in prepared}):
                self._write(Viewer(self._team, person), [one for one in prepared if one[0].person == person])
        except DiskFullError:  # no fault of these items
            self._give_back(_FULL_SECONDS)
            self._stop.wait(_DOWN_SECONDS)
        if jobs and self._stop.is_set():
            self._give_back()

    def _prepare(self, jobs: list[Job]) -> list[tuple[Job, Write]]:
        """Run the handlers of items until the worker has to stop."""
        prepared: list[tuple[Job, Write]] = []
        renewed = time.monotonic()
        for job in jobs:
            if self._stop.is_set():
                break
            lease = self._slow.get(job.kind, self._limits.lease_seconds)
            if job.kind in self._slow or time.monotonic() > renewed + lease / 3:
                renewed = time.monotonic()
                with self._database.owning() as connection:
                    extend(connection, self._team, self._name, lease)
            write = self._attempt([job], partial(self._handle, job))
            if write:
                prepared.append((job, write))
        return prepared

    def _handle(self, job: Job) -> Write:
        handler = self._handlers.get(job.kind)
        if handler is None:
            raise ToldError(f"This server cannot process {job.kind!r}. Update told.")
        return handler(self._server, Viewer(self._team, job.person), job.payload)

    def _write(self, viewer: Viewer, prepared: Sequence[tuple[Job, Write]]) -> None:
        """Commit items of one person together, or one by one if that fails."""
        done = self._attempt([job for job, _ in prepared], partial(self._commit, viewer, prepared))
        if done is None and len(prepared) > 1:
            for one in prepared:
                self._write(viewer, [one])

    def _commit(self, viewer: Viewer, prepared: Sequence[tuple[Job, Write]]) -> int:
        with self._database.owning() as connection:
            # A worker that is stopped here would keep its items locked.
            set_timeouts(connection, self._limits.lease_seconds)
            view_as(connection, viewer)
            leased = lock_leased(connection, viewer, self._name, [job.id for job, _ in prepared])
            for job, write in prepared:
                if job.id in leased:
                    write(connection)
            finish(connection, viewer, sorted(leased))
            return len(leased)

    def _attempt(self, jobs: Sequence[Job], action: Callable[[], _Result]) -> _Result | None:
        """Return what an action returns; None if it failed, which is noted if it was of one item."""
        try:
            return action()
        except DiskFullError:
            raise
        except Exception as error:  # noqa: BLE001 - a bad item never stops the others
            if len(jobs) == 1:
                with self._database.owning() as connection:
                    line = next(iter(str(error).strip().splitlines()), "")
                    text = line if isinstance(error, ToldError) else f"{type(error).__name__}: {line}"
                    fail(
                        connection,
                        self._team,
                        self._name,
                        jobs[0],
                        error=clean(self._server.settings.redact(text))[:_MAX_ERROR],
                        limits=self._limits,
                    )
            return None

    def _give_back(self, wait_seconds: float = 0.0) -> None:
        with self._database.owning() as connection:
            give_back(connection, self._team, self._name, wait_seconds)
