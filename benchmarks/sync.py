"""Sync between two machines of one user, in each way, beside `rsync` and `git push` of the same bytes."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError
from benchmarks.server.postgres import migrated_database
from benchmarks.server.process import serving
from told.app.stores import open_store
from told.journal.append import append, new_memory_id
from told.journal.apply import catch_up, open_memories
from told.journal.files import Draft
from told.memories.sync import SyncStores, sync_space
from told.server.people import create_token, ensure_team
from told.store.database import load_key
from told.store.postgres.database import connect
from told.sync.identity import Identity, make_identity, set_identity
from told.sync.places import open_transport
from told.sync.server import save_token
from told.sync.spaces import Space, save_space
from told.sync.transports import Transport
from told.sync.transports.ssh import SshTransport

HOW = (
    "One machine has the operations in its journal: a fifth create memories, the others confirm and show "
    "them. first: from the journal to the place, encrypted; received: from the place into the other "
    "machine's memories. no change: median of a sync in which neither side has news, within the process of "
    "told; command: the same as `told sync`, with the start of Python. floor: `rsync -a` of the published "
    "files to another folder, by ssh's stand-in for ssh, and for git `git push` of the same files; first "
    "with everything, then with no change. The stand-in for ssh starts `told sync-serve` on this machine. "
    "server: a process of `told server start` on PostgreSQL; its floor is that of a folder."
)
_WAYS = ("folder", "git", "ssh", "server")


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--way", choices=_WAYS, help="only this way")


def run(arguments: Namespace) -> dict[str, Any]:
    if not shutil.which("rsync") or not shutil.which("git"):
        raise CannotMeasureError("This needs rsync and git. Install both.")
    many = 5_000 if arguments.quick else arguments.operations
    rounds = 3 if arguments.quick else arguments.rounds
    found: dict[str, Any] = {"operations": many}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = Machine(root / "source")
        fill(source, many)
        for way in [arguments.way] if arguments.way else _WAYS:
            found[way] = _measure(root, source, way, many, rounds)
    return found | {"how": HOW}


class Machine:
    """One machine of the user."""

    def __init__(self, home: Path, identity: Identity | None = None) -> None:
        home.mkdir(parents=True)
        self.home = str(home)
        if identity:
            set_identity(self.home, identity)
        self.identity = make_identity(self.home)
        self.key = load_key(self.home)
        self.connection = open_store(os.path.join(self.home, "sessions.db"))
        self.memories = open_memories(self.home)

    def space(self, place: str) -> Space:
        """Return the space of the user's machines."""
        return Space(self.identity.space, (place,), key=self.identity.space_key.hex())

    def sync(self, place: str, transport: Transport) -> None:
        """Exchange everything at a place."""
        stores = SyncStores(self.home, self.memories, self.connection, self.key, str, _now())
        result = sync_space(stores, self.space(place), place, transport)
        assert not result.problems, result.problems


def fill(machine: Machine, many: int) -> None:
    """Write operations to a machine's journal."""
    names = [new_memory_id(seed=f"bench {number}") for number in range(many // 5)]
    drafts = [
        Draft("remember", "user", {
            "text": f"Service {number} listens on port {3000 + number % 5000} and logs to topic{number}.",
            "kind": "fact", "scope": f"project:github.com/acme/shop{number % 20}", "trust": "user",
        }, name)
        for number, name in enumerate(names)
    ]  # fmt: skip
    for number in range(many - len(names)):
        name = names[number % len(names)]
        drafts.append(
            Draft("confirm" if number % 2 else "show", "user", {"session": f"s{number % 50}"}, name)
        )
    for at in range(0, len(drafts), 2000):
        append(machine.home, drafts[at : at + 2000], now=_now(), sync=False)
    catch_up(machine.home, machine.memories)


def _measure(root: Path, source: Machine, way: str, many: int, rounds: int) -> dict[str, Any]:
    with _open_place(root / f"place-{way}", way) as place:
        return _measure_at(root, source, place, many, rounds)


class Place(NamedTuple):
    """Where machines exchange what they have."""

    way: str
    name: str
    connect: Callable[[Machine], Transport]
    count_bytes: Callable[[], int]  # that it keeps


@contextmanager
def _open_place(folder: Path, way: str) -> Iterator[Place]:
    """Make an empty place for a block."""
    folder.mkdir()
    place, token = f"{way if way != 'ssh' else 'folder'}:{folder}", ""

    def open_it(machine: Machine) -> Transport:
        if way == "ssh":
            words = [sys.executable, "-m", "told", "sync-serve", machine.identity.space]
            environ = {**os.environ, "TOLD_HOME": str(folder)}
            return SshTransport("desk", machine.identity.space, environ=environ, command=words)
        if way == "server":
            save_token(machine.home, place.partition(":")[2], token)
        return open_transport(machine.home, machine.space(place), place, os.environ)

    if way == "server":
        with migrated_database() as database, serving(database.url) as served:
            team = ensure_team(database, "acme").team
            token = create_token(database, team, "ada", role="member").secret
            place = f"server:http://127.0.0.1:{served.port}"
            yield Place(way, place, open_it, partial(_count_stored, database.url))
        return
    if way == "git":
        _run("git", "init", "--bare", "-q", str(folder))
    yield Place(
        way, place, open_it, lambda: sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
    )


def _count_stored(url: str) -> int:
    with connect(url) as connection:
        row = connection.execute("SELECT sum(length(data)) FROM series_file").fetchone()
    return int(row[0]) if row else 0


def _measure_at(root: Path, source: Machine, place: Place, many: int, rounds: int) -> dict[str, Any]:
    way = place.way

    def sync(machine: Machine) -> float:
        began = time.perf_counter()
        transport = place.connect(machine)
        machine.sync(place.name, transport)
        transport.close()
        return time.perf_counter() - began

    shutil.rmtree(os.path.join(source.home, "sync", source.identity.space), ignore_errors=True)
    sent = sync(source)
    target = Machine(root / f"target-{way}", source.identity)
    received = sync(target)
    sync(source)
    quiet = statistics.median(sync(source) for _ in range(rounds))
    published = root / f"published-{way}"
    _copy_published(source, published)
    size = place.count_bytes()
    first_floor, quiet_floor = _floor(way, published, root / f"floor-{way}", rounds)
    command = _time_command(source, place.name, rounds) if way != "ssh" else None
    return {
        "first_s": round(sent, 2), "operations_s": round(many / sent), "received_s": round(received, 2),
        "received_operations_s": round(many / received), "bytes_per_operation": round(size / many),
        "floor_first_s": round(first_floor, 2), "no_change_ms": round(quiet * 1000, 1),
        "floor_no_change_ms": round(quiet_floor * 1000, 1), "no_change_x": round(quiet / quiet_floor, 2),
        "command_ms": round(command * 1000) if command else None,
    }  # fmt: skip


def _copy_published(source: Machine, target: Path) -> None:
    """Copy the files of the source's series, as the floors carry them."""
    shutil.copytree(os.path.join(source.home, "sync", source.identity.space), target)


def _floor(way: str, published: Path, target: Path, rounds: int) -> tuple[float, float]:
    """Return how long the plain tool takes for all files, and without a change."""
    if way == "git":
        work = published
        _run("git", "init", "-q", ".", cwd=work)
        _run("git", "init", "--bare", "-q", str(target))

        def carry() -> None:
            _run("git", "push", "-q", str(target), "HEAD:refs/heads/main", cwd=work)

        began = time.perf_counter()
        _run("git", "add", "-A", cwd=work)
        _run("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "all", cwd=work)
        carry()
    else:
        stand_in = published.parent / "ssh.sh"
        stand_in.write_text('#!/bin/sh\nshift\nexec "$@"\n')
        stand_in.chmod(0o755)
        words = ["rsync", "-a"] + (["-e", str(stand_in)] if way == "ssh" else [])
        to = f"desk:{target}/" if way == "ssh" else f"{target}/"

        def carry() -> None:
            _run(*words, f"{published}/", to)

        began = time.perf_counter()
        carry()
    first = time.perf_counter() - began
    return first, statistics.median(_timed(carry) for _ in range(rounds))


def _time_command(source: Machine, place: str, rounds: int) -> float:
    save_space(source.home, source.space(place))
    words = [sys.executable, "-m", "told", "sync", "--quiet"]
    environ = {**os.environ, "TOLD_HOME": source.home, "HOME": source.home, "TOLD_BACKGROUND": "off"}
    return statistics.median(_timed(lambda: _run(*words, environ=environ)) for _ in range(rounds))


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _run(*words: str, cwd: Path | None = None, environ: dict[str, str] | None = None) -> None:
    done = subprocess.run(list(words), cwd=cwd, env=environ, capture_output=True, check=False)
    if done.returncode:
        raise CannotMeasureError(f"{words[0]} failed: {done.stderr.decode(errors='replace')[-300:]}")


def _now() -> int:
    return time.time_ns() // 1_000_000
