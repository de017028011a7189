"""Run hook calls in two FIFO lanes, each call to its end."""

from __future__ import annotations

import os
import time
from queue import SimpleQueue
from threading import Event, Lock, Thread

import apsw

from told.agents.wiring import PROMPT, TOOL
from told.errors import BusyError
from told.hook.context import Runtime
from told.journal.apply import catch_up, open_memories
from told.service.calls import Answer, HookCall, answer_call, keep_undelivered
from told.service.state import FAILED, count_problem
from told.store.database import UNWRITABLE, set_mmap_size
from told.store.memories.read import UNREADABLE, SqliteMemories, memory_path
from told.store.opening import can_write

_QUICK = frozenset((PROMPT, TOOL))
_HURRY_MS, _PATIENT_MS = 50, 5000  # wait for a lock: for a brief, and for a command of the user's
_MOST = 200  # operations of other processes that a prompt may wait for


class Job:
    """A call to finish, whether or not the client still waits."""

    def __init__(self, hook: HookCall, ends: float) -> None:
        """Take the call and when the agent stops waiting."""
        self.hook = hook
        self.answer = Answer()
        self._ends = ends
        self._abandoned = False
        self._lock = Lock()
        self._done = Event()

    def ends(self) -> float:
        """Return when the agent stops waiting; 0 once it has."""
        return 0.0 if self._abandoned else self._ends

    def wait(self, seconds: float) -> bool:
        """Wait for the answer; return whether it is there."""
        return self._done.wait(max(0.0, seconds))

    def finish(self, answer: Answer) -> bool:
        """Store the answer; return whether somebody waits for it."""
        with self._lock:
            self.answer = answer
            self._done.set()
            return not self._abandoned

    def abandon(self) -> bool:
        """Stop waiting; return False if the answer is there already."""
        with self._lock:
            self._abandoned = not self._done.is_set()
            return self._abandoned


class _OpenMemories:
    """The open memories of one thread. Holds no lock between calls."""

    def __init__(self) -> None:
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None

    def open(self, home: str, *, hurry: bool = False) -> SqliteMemories:
        """Return the memories up to date with the journal, as `open_memories` does."""
        before = _identify_file(memory_path(home))
        if self._connection is None or before is None or before != self._file:
            return self._reopen(home, before, hurry=hurry)
        # A new object for each call: what it caches about single memories would only grow.
        memories = SqliteMemories(self._connection)
        self._connection.set_busy_timeout(_HURRY_MS if hurry else _PATIENT_MS)
        try:
            catch_up(home, memories, _MOST if hurry else -1)
        except BusyError:
            return memories  # what is already there is good enough for now
        except (*UNREADABLE, *UNWRITABLE):
            return self._reopen(home, before, hurry=hurry)
        return memories

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _reopen(self, home: str, before: tuple[int, int] | None, *, hurry: bool) -> SqliteMemories:
        self.close()  # first: closing another handle of the same file would drop its locks
        memories = open_memories(home, hurry=True)
        connection = memories.connection
        connection.set_busy_timeout(_HURRY_MS if hurry else _PATIENT_MS)
        set_mmap_size(connection, 0)  # a file that is truncated while mapped would kill the process
        if can_write(connection):  # not a copy in memory
            self._connection, self._file = connection, before
        return memories


def _identify_file(path: str) -> tuple[int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino


class _Lane:
    """One thread with its own connection to the memories."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._memories = _OpenMemories()
        self._busy_since = 0.0
        self.waiting = 0
        self._count = Lock()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, job: Job | None) -> None:
        """Queue a job; None ends the lane after all jobs before it."""
        with self._count:
            self.waiting += job is not None
        self._jobs.put(job)

    def join(self, seconds: float) -> None:
        """Wait until the lane has ended."""
        self._thread.join(max(0.0, seconds))

    def busy_seconds(self) -> float:
        """Return for how long the current job has been running."""
        since = self._busy_since
        return time.monotonic() - since if since else 0.0

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._busy_since = time.monotonic()
            try:
                self._run(job)
            except Exception as error:  # noqa: BLE001 - a failing job must not end the lane
                hook = job.hook
                count_problem(hook.home, hook.agent, hook.call.event, FAILED, type(error).__name__)
            finally:
                self._busy_since = 0.0
                with self._count:
                    self.waiting -= 1
        self._memories.close()

    def _run(self, job: Job) -> None:
        answer = Answer(failed=True)
        try:
            answer = answer_call(job.hook, Runtime(job.ends, self._memories.open))
        finally:
            is_taken = job.finish(answer)
        if answer.failed:
            self._memories.close()
        if not is_taken:
            keep_undelivered(job.hook, answer)


class Worker:
    """Two lanes: prompts and tool calls never wait for transcripts."""

    def __init__(self) -> None:
        """Start the lanes."""
        self._quick, self._slow = _Lane("told-quick"), _Lane("told-slow")

    def put(self, job: Job) -> None:
        """Queue a job."""
        (self._quick if job.hook.call.event in _QUICK else self._slow).put(job)

    @property
    def waiting(self) -> int:
        """How many jobs are not finished."""
        return self._quick.waiting + self._slow.waiting

    def busy_seconds(self) -> float:
        """Return for how long the oldest running job has been running."""
        return max(self._quick.busy_seconds(), self._slow.busy_seconds())

    def finish(self, seconds: float) -> None:
        """Finish all jobs, then close the memories."""
        ends = time.monotonic() + seconds
        for lane in (self._quick, self._slow):
            lane.put(None)
        for lane in (self._quick, self._slow):
            lane.join(ends - time.monotonic())
