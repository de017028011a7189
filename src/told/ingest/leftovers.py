"""Remove what told's processes leave beside its stores, and note that forgetting has begun."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from told.errors import BusyError
from told.files import cannot_write, find_unfinished, remove_unfinished, write_private
from told.journal.registry import list_projects
from told.jsontext import dump_json, load_json
from told.store.database import (
    FORGET_LOCK,
    FORGETTING,
    LEARN_LOCK,
    SWEEP_LOCK,
    acquire_lock,
)

LOGS = ("hook.log", "hook.log.old", "hook.trouble")
_MISSED = os.path.join("run", "missed")  # briefs that no agent has got yet
_DAMAGED_COPY = ".db.damaged"
_LOCK_WAIT = 1.0  # seconds
SessionName = tuple[str, str]  # agent, the agent's id


def list_abandoned_files(home: str) -> list[str]:
    """List the unfinished files of killed processes in told's folder and its folders in projects."""
    return sorted(path for folder in _list_folders(home) for path in find_unfinished(folder))


def remove_abandoned_files(home: str) -> None:
    """Remove the unfinished files of killed processes."""
    for folder in _list_folders(home):
        with suppress(OSError):  # the next sweep tries again
            remove_unfinished(folder)


def remove_traces(home: str) -> None:
    """Remove all files that may contain anything that was said and that nothing else needs.

    Raises:
        OSError: one cannot be removed.
    """
    missed = os.path.join(home, _MISSED)
    names = os.listdir(missed) if os.path.isdir(missed) else []
    paths = [os.path.join(missed, name) for name in names]
    paths += [os.path.join(home, name) for name in (*LOGS, *list_damaged_copies(home))]
    for path in paths:
        with suppress(FileNotFoundError):
            os.remove(path)
    for folder in _list_folders(home):
        remove_unfinished(folder, at_once=True)
    for parent, _, names in os.walk(os.path.join(home, "archive")):
        for name in names:
            if not name.endswith((".jsonl.gz", ".jsonl")):
                os.remove(os.path.join(parent, name))


def list_damaged_copies(home: str) -> list[str]:
    """List the names of damaged databases that were set aside."""
    return sorted(name for name in os.listdir(home) if _DAMAGED_COPY in name)


def _list_folders(home: str) -> Iterator[str]:
    yield home
    yield from (project.folder for project in list_projects(home))


def wait_for_lock(home: str, name: str, seconds: float) -> int | None:
    """Wait for a lock; None if another process keeps it that long."""
    until = time.monotonic() + seconds
    while True:
        lock = acquire_lock(home, name)
        if lock is not None or time.monotonic() > until:
            return lock
        time.sleep(0.05)


def release_locks(locks: Iterable[int | None]) -> None:
    """Release locks that were taken."""
    for lock in locks:
        if lock:
            os.close(lock)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What a `told forget` erases; ids only."""

    memories: tuple[str, ...] = ()
    sessions: tuple[SessionName, ...] = ()  # that lose something


@contextmanager
def note_forgetting(home: str, wanted: Forgetting) -> Iterator[None]:
    """Note what is being forgotten until all of it is erased.

    The note stays after an error, and while another process imports or learns, which may write once more what
    it has read before: the next command then erases again.

    Raises:
        BusyError: another `told forget` is running.
        MissingError: the note cannot be written.
    """
    own = wait_for_lock(home, FORGET_LOCK, _LOCK_WAIT)
    if own is None:
        raise BusyError("Another `told forget` is running. Try again when it is done.")
    others = [wait_for_lock(home, name, _LOCK_WAIT) for name in (SWEEP_LOCK, LEARN_LOCK)]
    path = os.path.join(home, FORGETTING)
    try:
        earlier = read_forgetting(home)
        both = Forgetting(
            tuple(dict.fromkeys((*earlier.memories, *wanted.memories))),
            tuple(dict.fromkeys((*earlier.sessions, *wanted.sessions))),
        )
        try:
            write_private(path, dump_json({"memories": both.memories, "sessions": both.sessions}).encode())
        except OSError as error:
            raise cannot_write(path, error) from None
        yield
        if None not in others and earlier == Forgetting():
            os.remove(path)
    finally:
        release_locks([own, *others])


@contextmanager
def take_over_forgetting(home: str, *, sweeps: bool = False) -> Iterator[Forgetting | None]:
    """Give what an interrupted `told forget` has left to erase, and delete its note; None if it goes on.

    `sweeps`: this process has the lock of the sweep.
    """
    names = (FORGET_LOCK, LEARN_LOCK) if sweeps else (FORGET_LOCK, SWEEP_LOCK, LEARN_LOCK)
    locks = [acquire_lock(home, name) for name in names]
    try:
        if None in locks:
            yield None
            return
        yield read_forgetting(home)
        os.remove(os.path.join(home, FORGETTING))
    finally:
        release_locks(locks)


def read_forgetting(home: str) -> Forgetting:
    """Read the note of an interrupted `told forget`; it is empty if there is none."""
    try:
        with open(os.path.join(home, FORGETTING), encoding="utf-8", errors="replace") as file:
            found = load_json(file.read())
        sessions = tuple((str(agent), str(native)) for agent, native in found["sessions"])
        return Forgetting(tuple(map(str, found["memories"])), sessions)
    except (OSError, ValueError, TypeError, KeyError):
        return Forgetting()
