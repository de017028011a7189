"""Machines of one user sync in each way that exists: a folder, a git remote, ssh, a team server."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.live import serving
from tests.server.site import make_site
from tests.soak import points
from tests.sync.machines import Machine
from told.sync.transports import Transport
from told.sync.transports.folder import FolderTransport
from told.sync.transports.git import GitTransport
from told.sync.transports.server import ServerTransport
from told.sync.transports.ssh import SshTransport

WAYS = ("folder", "git", "ssh", "server")
SERVE = (
    "import sys; from told.sync.transports.serve import serve;"
    "serve(sys.stdin.buffer, sys.stdout.buffer, *sys.argv[1:])"
)


def git(*words: str, cwd: Path) -> str:
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


class Way:
    """One way between machines."""

    def __init__(self, kind: str, root: Path) -> None:
        self.kind, self.root = kind, root
        self.url = self.token = ""
        (root / "place").mkdir()
        if kind == "git":
            git("init", "--bare", "-q", ".", cwd=root / "place")

    def open(self, machine: Machine) -> Transport:
        space, place = machine.identity.space, str(self.root / "place")
        if self.kind == "folder":
            return FolderTransport(place, space)
        if self.kind == "git":
            return GitTransport(place, space, os.path.join(machine.home, "cache"), environ=os.environ)
        if self.kind == "server":
            return ServerTransport(self.url, space, self.token)
        words = [sys.executable, "-c", SERVE, place, space]
        return SshTransport("desk", space, environ=os.environ, command=words)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Way]:
    made = Way(request.param, tmp_path)
    if made.kind != "server":
        yield made
        return
    site = make_site(request.getfixturevalue("postgres"), str(tmp_path))
    with serving(site) as made.url:
        made.token = site.tokens["max"]
        yield made


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[list[Machine]]:
    first = Machine(tmp_path / "m0")
    made = [first, *(Machine(tmp_path / f"m{n}", first.identity) for n in (1, 2))]
    yield made
    for one in made:
        one.close()


def sync(way: Way, machine: Machine) -> None:
    transport = way.open(machine)
    try:
        assert machine.sync(transport).problems == []
    finally:
        transport.close()


def test_three_machines_end_in_one_state(way: Way, machines: list[Machine]) -> None:
    rng = random.Random(3)
    names: list[str] = []
    for number in range(points(everyday=3, soak=300)):
        one = rng.choice(machines)
        one.time += 1000
        names.append(one.remember(f"Statement{number} zebra{number}."))
        known = [name for name in names if one.memories.get([name])]
        one.change("revise", rng.choice(known), text=f"Revised{number} zebra{number}.")
        if number % 3 == 2:
            sync(way, rng.choice(machines))
    for one in machines * 2:
        sync(way, one)
    machines[1].forget(names[0])
    for one in (*machines[1:], *machines, *machines):
        sync(way, one)
    assert len({one.state() for one in machines}) == 1
    assert len(machines[0].texts()) == len(names) - 1


def test_two_clones_of_a_repository_lose_nothing(tmp_path: Path, machines: list[Machine]) -> None:
    """Concurrent pushes, a force-push, deleted refs and a shallow clone."""
    bare = tmp_path / "origin.git"
    git("init", "--bare", "-q", "-b", "main", str(bare), cwd=tmp_path)
    for name, more in (("one", ()), ("two", ()), ("three", ("--depth=1",))):
        git("clone", "-q", *more, f"file://{bare}", name, cwd=tmp_path)
        if name == "one":
            work = tmp_path / name
            (work / "a.txt").write_text("code\n")
            git("add", ".", cwd=work)
            git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "code", cwd=work)
            git("push", "-q", "origin", "HEAD:main", cwd=work)

    def open_clone(machine: Machine, name: str) -> Transport:
        cache = os.path.join(machine.home, "cache")
        return GitTransport(
            "origin", machine.identity.space, cache, environ=os.environ, repo=str(tmp_path / name)
        )

    pairs = list(zip(machines, ("one", "two", "three"), strict=True))
    for number, (machine, name) in enumerate(pairs):
        machine.remember(f"Statement{number} zebra{number}.")
        assert machine.sync(open_clone(machine, name)).problems == []
    git("push", "-q", "--force", "origin", "HEAD:main", cwd=tmp_path / "two")  # somebody's own business
    refs = git("for-each-ref", "--format=%(refname)", "refs/told", cwd=bare).split()
    assert len(refs) == 3
    git("update-ref", "-d", refs[0], cwd=bare)  # somebody cleans up
    for machine, name in pairs * 2:
        machine.sync(open_clone(machine, name))
    assert [one.texts() for one in machines] == [[f"Statement{n} zebra{n}." for n in range(3)]] * 3
    assert len(git("for-each-ref", "refs/told", cwd=bare).splitlines()) == 3
    for _, name in pairs:
        assert git("status", "--porcelain", cwd=tmp_path / name) == ""
        assert "told" not in git("log", "--all", "--oneline", cwd=tmp_path / name)
