"""Keep the service's files: its folder, its locks, counts of problems, and undelivered briefs.

A session has one small file while its start brief is on the way: PENDING until the brief was delivered (then
it is deleted), READY with the text that could not be delivered, or LOST.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from told.errors import MissingError
from told.files import open_private, read_text, write_private
from told.hook.client import socket_paths
from told.store.database import public_id

PROCESS_NAME = "told-service"  # as `ps` shows it
LOCK = "service.lock"
PORT = "service.port"
_RUN = "run"
_LOCK_PAUSE = 0.01  # seconds


def run_folder(home: str) -> str:
    """Return the folder of the service's files."""
    return os.path.join(home, _RUN)


def run_file(home: str, name: str) -> str:
    """Return the path of one of the service's files."""
    return os.path.join(home, _RUN, name)


def make_private_folder(path: str) -> bool:
    """Create a folder with mode 0700; return whether it is private."""
    try:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
            return False
        if hasattr(os, "getuid") and found.st_mode & 0o077:
            os.chmod(path, 0o700)
    except OSError:
        return False
    return True


def make_run_folder(home: str) -> None:
    """Create the folder of the service's files in an existing home."""
    folder = run_folder(home)
    if not make_private_folder(folder):
        raise MissingError(f"told cannot use {folder}. It must be a folder that only you can access.")


def usable_socket_paths(home: str) -> Iterator[str]:
    """Yield where the service may bind its socket, creating each folder."""
    make_run_folder(home)
    for path in socket_paths(home):
        if make_private_folder(os.path.dirname(path)):
            yield path


def take_lock(home: str, name: str, tries: int) -> int | None:
    """Take a lock among threads and processes; None if another one keeps it."""
    descriptor = open_private(run_file(home, name), os.O_RDWR)
    for _ in range(tries):
        if try_lock(descriptor):
            return descriptor
        time.sleep(_LOCK_PAUSE)
    os.close(descriptor)
    return None


def try_lock(descriptor: int) -> bool:
    """Lock a file; return False if another process has it."""
    try:
        if os.name == "nt":
            import msvcrt  # noqa: PLC0415 - Windows only

            os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # behind the content, which others read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl  # noqa: PLC0415 - missing on Windows

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


LATE = "late"  # answered after the agent's time limit; the work was finished
MISSED = "missed"  # the agent was gone before the answer
FAILED = "failed"  # told could not answer
_KINDS = (LATE, MISSED, FAILED)
_COUNTS, _COUNTS_LOCK = "counts.json", "counts.lock"
_MOST_ROWS = 200
_LONGEST_REASON = 120


@dataclass(frozen=True, slots=True)
class Count:
    """Problems of one agent's hook for one event."""

    agent: str
    event: str
    late: int = 0
    missed: int = 0
    failed: int = 0
    at: int = 0  # of the last one, in ms since 1970
    reason: str = ""  # of the last one, without text from the call


def read_counts(home: str) -> list[Count]:
    """Return all counts, the latest problem first."""
    found = []
    for key, row in reversed(_read_counts(home).items()):
        agent, _, event = key.partition(" ")
        late, missed, failed, at = (_number(row.get(name)) for name in (*_KINDS, "at"))
        found.append(Count(agent, event, late, missed, failed, at, str(row.get("reason", ""))))
    return sorted(found, key=lambda one: -one.at)


def count_problem(home: str, agent: str, event: str, kind: str, reason: str) -> None:
    """Count one problem; ignore errors.

    `reason` is told's own words or the name of an exception, never text from the call.
    """
    if kind not in _KINDS or not (_is_name(agent) and _is_name(event)):
        return
    if not os.path.isdir(home) or not make_private_folder(run_folder(home)):
        return
    try:
        lock = take_lock(home, _COUNTS_LOCK, tries=100)
        if lock is None:
            return
        try:
            rows = _read_counts(home)
            key = f"{agent} {event}"
            row = rows.pop(key, {})
            row[kind] = _number(row.get(kind)) + 1
            row |= {"at": time.time_ns() // 1_000_000, "reason": " ".join(reason.split())[:_LONGEST_REASON]}
            rows = dict(list(rows.items())[-_MOST_ROWS + 1 :]) | {key: row}
            write_private(run_file(home, _COUNTS), json.dumps(rows).encode(), sync=False)
        finally:
            os.close(lock)
    except OSError:
        return


def _read_counts(home: str) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(read_text(run_file(home, _COUNTS)))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(key): row for key, row in found.items() if isinstance(row, dict)}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _is_name(word: str) -> bool:
    return 0 < len(word) <= 40 and word.isascii() and word.replace("-", "").isalnum()


PENDING, READY, LOST = "pending", "ready", "lost"
_MISSED = "missed"
_KEPT_SECONDS = 86_400
_PENDING_SECONDS = 30.0  # then the process that worked on it was killed
_PAUSE = 0.02
_LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class Missed:
    """A brief that was not delivered."""

    state: str
    at: float  # seconds since 1970
    source: str = ""  # why the session started: startup, resume, compact …
    text: str = ""  # of a READY brief


def make_key(agent: str, session: str) -> str:
    """Return the file name for a session; empty without a session."""
    readable = session.encode("utf-8", "replace").decode()
    return public_id("s", agent, readable, length=12) if session else ""


def put_missed(home: str, key: str, state: str, source: str = "", text: str = "") -> None:
    """Write the state of a session's brief, replacing an older one."""
    if key:
        _write_missed(home, key, Missed(state, time.time(), source if source.isalpha() else "", text))


def remove_missed(home: str, key: str) -> None:
    """Remove a brief that was delivered."""
    if key:
        _remove(_missed_path(home, key))


def take_missed(home: str, key: str, ends: float) -> Missed | None:
    """Return a session's missed brief, once; wait for a pending one.

    A brief that is LOST has to be made again.
    """
    while key:
        found = _read_missed(home, key)
        if found is None:
            return None
        age = time.time() - found.at
        if found.state == PENDING and 0 <= age < _PENDING_SECONDS:
            if time.monotonic() + _PAUSE > ends:
                return None  # it comes with the prompt after this one
            time.sleep(_PAUSE)
            continue
        if not _remove(_missed_path(home, key)) or not 0 <= age < _KEPT_SECONDS:
            return None  # another prompt took it, or it is outdated
        return found if found.text else Missed(LOST, found.at, found.source)
    return None


def clear_missed(home: str) -> None:
    """Delete old briefs."""
    folder = run_file(home, _MISSED)
    try:
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return
    for path in paths:
        try:
            age = time.time() - os.stat(path).st_mtime
        except OSError:
            continue
        if age >= _KEPT_SECONDS:
            _remove(path)


def _missed_path(home: str, key: str) -> str:
    return os.path.join(run_file(home, _MISSED), key)


def _write_missed(home: str, key: str, missed: Missed) -> None:
    if not os.path.isdir(home) or not make_private_folder(run_folder(home)):
        return
    try:
        if make_private_folder(run_file(home, _MISSED)):
            data = json.dumps(asdict(missed)).encode("utf-8", "replace")
            write_private(_missed_path(home, key), data, sync=False)
    except OSError:
        return  # full or read-only: the brief is lost, the agent continues


def _read_missed(home: str, key: str) -> Missed | None:
    try:
        found = json.loads(read_text(_missed_path(home, key), _LARGEST))
        return Missed(str(found["state"]), float(found["at"]), str(found["source"]), str(found["text"]))
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        _remove(_missed_path(home, key))
        return None


def _remove(path: str) -> bool:
    """Delete a file; return whether this call deleted it."""
    try:
        os.remove(path)
    except OSError:
        return False
    return True
