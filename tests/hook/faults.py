"""Ways in which told's folder can be of no use."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import resource
import shutil
import sys
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILES = (
    "memory.db", "sessions.db", "key", "places", "machine", "config.toml", "registry", "hook.log",
    "hook.trouble", "settings",    f"snapshot.{sys.implementation.cache_tag}",
)  # fmt: skip


def targets(home: Path) -> list[Path]:
    """Return every file that told keeps for its hooks, whether it is there or not."""
    inside = [path for name in ("journal", "shown") for path in (home / name).rglob("*") if path.is_file()]
    return [*(home / name for name in FILES), *inside]


def with_noise(home: Path) -> None:
    """Random bytes in the place of every file."""
    noise = random.Random(7)
    for path in targets(home):
        path.write_bytes(noise.randbytes(5000))
        path.with_name(f"{path.name}-wal").write_bytes(noise.randbytes(5000))


def with_damage(home: Path) -> None:
    """Some bytes changed in the middle of every file."""
    noise = random.Random(7)
    for path in targets(home):
        data = bytearray(path.read_bytes() if path.exists() else b"")
        for _ in range(min(len(data), 40)):
            data[noise.randrange(len(data))] = noise.randrange(256)
        path.write_bytes(data)


def with_half(home: Path) -> None:
    """Every file ends in its middle."""
    for path in targets(home):
        if path.exists():
            os.truncate(path, path.stat().st_size // 2)


def with_nothing(home: Path) -> None:
    """Every file is empty."""
    for path in targets(home):
        path.write_bytes(b"")


def with_pipes(home: Path) -> None:
    """A pipe that nobody writes to in the place of every file."""
    for path in targets(home):
        path.unlink(missing_ok=True)
        os.mkfifo(path)


def with_folders(home: Path) -> None:
    """A folder in the place of every file."""
    for path in targets(home):
        path.unlink(missing_ok=True)
        path.mkdir()


def with_files(home: Path) -> None:
    """A file in the place of every folder."""
    for name in ("journal", "shown"):
        shutil.rmtree(home / name, ignore_errors=True)
        (home / name).write_text("in the way")


def as_file(home: Path) -> None:
    """A file in the place of told's folder itself."""
    shutil.rmtree(home)
    home.write_text("in the way")


def as_loop(home: Path) -> None:
    """A link to itself in the place of told's folder."""
    shutil.rmtree(home)
    home.symlink_to(home)


def as_nowhere(home: Path) -> None:
    """A link to a place that cannot be written: not even root may."""
    shutil.rmtree(home)
    home.symlink_to("/proc/self/told")


def gone(home: Path) -> None:
    """No folder at all."""
    shutil.rmtree(home)


BROKEN: tuple[Callable[[Path], None], ...] = (
    with_noise, with_damage, with_half, with_nothing, with_pipes, with_folders, with_files, as_file, as_loop,
    as_nowhere, gone,
)  # fmt: skip


@contextlib.contextmanager
def held(home: Path) -> Iterator[None]:
    """Another program writes both databases and the journal, and takes its time."""
    connections = []
    for name in ("memory.db", "sessions.db"):
        connection = apsw.Connection(str(home / name))
        connection.execute("BEGIN EXCLUSIVE" if name == "sessions.db" else "BEGIN IMMEDIATE")
        connections.append(connection)
    locks = [os.open(path, os.O_RDWR) for path in (home / "journal").rglob("lock")]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    yield
    for lock in locks:
        os.close(lock)
    for connection in connections:
        connection.execute("ROLLBACK")
        connection.close()


@contextlib.contextmanager
def held_alone(home: Path) -> Iterator[None]:
    """Another program has both databases to itself: nobody else may even read them."""
    connections = []
    for name in ("memory.db", "sessions.db"):
        connection = apsw.Connection(str(home / name))
        connection.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE")
        connections.append(connection)
    yield
    for connection in connections:
        connection.close()


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow; Python ignores the signal for it, and gets an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
