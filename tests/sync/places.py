"""Places where machines leave series, for the contract that every transport keeps."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tests.server.live import serving
from tests.server.site import Site
from tests.soak import points
from told.errors import BusyError, MissingError, ToldError
from told.sync.transports.folder import FolderTransport
from told.sync.transports.git import GitTransport
from told.sync.transports.server import ServerTransport
from told.sync.transports.ssh import SshTransport
from told.sync.transports.wire import send

SPACE = "team-7f3k"
PYTHON = sys.executable


class Connection(Protocol):
    """A transport with its end."""

    def heads(self) -> dict[str, bytes]: ...
    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]: ...
    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool: ...
    def close(self) -> None: ...


class Folder:
    """A shared folder."""

    away: type[ToldError] = BusyError
    kills, kill_within = points(everyday=4, soak=40), 0.01

    def __init__(self, tmp: Path) -> None:
        self.path = tmp / "drive" / "shared"
        self.path.parent.mkdir()
        self.space = self.path / "told-sync" / SPACE

    def connect(self, machine: str) -> Connection:
        return FolderTransport(str(self.path), SPACE)

    def script(self, machine: str) -> str:
        """Return Python that connects in another process."""
        return (
            "from told.sync.transports.folder import FolderTransport\n"
            f"place = FolderTransport({str(self.path)!r}, {SPACE!r})\n"
        )

    def add_junk(self) -> None:
        litter(self.space)

    def disconnect(self) -> None:
        self.path.parent.rename(self.path.parent.with_name("elsewhere"))


def litter(space: Path) -> None:
    """Put names into a folder that sync programs, systems and attackers leave there."""
    series = space / "aaaaaaaa"
    secret = space.parent.parent / "outside"
    secret.mkdir()
    for name in ("head", "000001.jsonl", "000009.jsonl"):
        (secret / name).write_bytes(b"outside")
    for name in (
        "head.sync-conflict-20260101-120000-ABCDEFG", "head (conflicted copy 2026-01-01)", ".head.swp",
        ".syncthing.head.tmp", "~syncthing~000001.jsonl.tmp", "000001.sync-conflict-1.jsonl", "desktop.ini",
    ):  # fmt: skip
        (series / name).write_bytes(b"junk")
    (series / "000009.jsonl").symlink_to(secret / "000009.jsonl")
    (series / "000008.jsonl").mkdir()
    os.mkfifo(series / "000007.jsonl")
    (series / "000006.jsonl").write_bytes(bytes(5_000_000))
    (space / "bbbbbbbb").symlink_to(secret)
    (space / "cccccccc").write_bytes(b"no folder")
    for name in ("dddddddd", "EEEEEEEE", "eeeeeeeee", ".stfolder"):
        (space / name).mkdir()
    (space / "EEEEEEEE" / "head").write_bytes(b"junk")
    (space / "ffffffff").mkdir()
    (space / "ffffffff" / "head").symlink_to(secret / "head")


class Git:
    """A bare repository that everybody pushes to."""

    away: type[ToldError] = MissingError
    kills, kill_within = points(everyday=4, soak=40), 0.06

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.path = tmp / "remote.git"
        git("init", "--quiet", "--bare", str(self.path))

    def connect(self, machine: str) -> Connection:
        return GitTransport(str(self.path), SPACE, str(self.tmp / machine), environ=os.environ)

    def script(self, machine: str) -> str:
        """Return Python that connects in another process."""
        return (
            "import os\nfrom told.sync.transports.git import GitTransport\n"
            f"place = GitTransport({str(self.path)!r}, {SPACE!r}, {str(self.tmp / machine)!r},"
            " environ=os.environ)\n"
        )

    def add_junk(self) -> None:
        """Push refs and files into the space that are none of told's."""
        blob = git("-C", self.path, "hash-object", "-w", "--stdin", data="junk")
        large = git("-C", self.path, "hash-object", "-w", "--stdin", data="x" * 5_000_000)
        ours = git("-C", self.path, "ls-tree", f"refs/told/{SPACE}/aaaaaaaa")
        empty = git("-C", self.path, "mktree")
        added = (
            f"100644 blob {large}\t000006.jsonl", f"040000 tree {empty}\t000008.jsonl",
            f"120000 blob {blob}\t000009.txt", f"100644 blob {blob}\tREADME.md",
        )  # fmt: skip
        tree = git("-C", self.path, "mktree", data="\n".join((ours, *added, "")))
        identity = ("-c", "user.name=x", "-c", "user.email=x")
        commit = git("-C", self.path, *identity, "commit-tree", "-m", "edited by hand", tree)
        refs = {
            "aaaaaaaa": commit, "bbbbbbbb": blob, "cccccccc": tree, "EEEEEEEE": commit, "eeeeeeeee": commit,
            "dddddddd/head": commit,
        }  # fmt: skip
        for name, target in refs.items():
            git("-C", self.path, "update-ref", f"refs/told/{SPACE}/{name}", target)
        without_head = git("-C", self.path, *identity, "commit-tree", "-m", "empty", empty)
        git("-C", self.path, "update-ref", f"refs/told/{SPACE}/cccccccc", without_head)

    def disconnect(self) -> None:
        self.path.rename(self.path.with_name("elsewhere"))


class Ssh:
    """Another machine, with a program in the place of ssh that runs told here."""

    away: type[ToldError] = BusyError
    kills, kill_within = points(everyday=4, soak=40), 0.01

    def __init__(self, tmp: Path) -> None:
        self.tmp = tmp
        self.hub = tmp / "host" / "sync" / "hub"
        self.ssh = tmp / "ssh"
        self.answer_with(f'echo $$ >> "{tmp}/pids"\nexec "{PYTHON}" -c \'{self.serve()}\'')

    def serve(self) -> str:
        return (
            "import sys; from told.sync.transports.serve import serve; "
            f'serve(sys.stdin.buffer, sys.stdout.buffer, "{self.hub}", "{SPACE}")'
        )

    def answer_with(self, script: str) -> None:
        """Let the host do something else at the next connection."""
        new = self.ssh.with_suffix(".new")  # a running script must not change
        new.write_text(f"#!/bin/sh\n{script}\n")
        new.chmod(0o755)
        new.rename(self.ssh)

    def connect(self, machine: str, seconds: float = 60.0) -> Connection:
        return SshTransport("host", SPACE, environ=os.environ, command=[str(self.ssh)], seconds=seconds)

    def script(self, machine: str) -> str:
        """Return Python that connects in another process."""
        return (
            "import os\nfrom told.sync.transports.ssh import SshTransport\n"
            f"place = SshTransport('host', {SPACE!r}, environ=os.environ, command=[{str(self.ssh)!r}])\n"
        )

    def add_junk(self) -> None:
        litter(self.hub / "told-sync" / SPACE)

    def disconnect(self) -> None:
        self.answer_with("echo ssh: connect to host host port 22: No route to host >&2; exit 255")
        for process in (self.tmp / "pids").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)


class Team:
    """A team server on a real database."""

    away: type[ToldError] = BusyError
    kills, kill_within = points(everyday=4, soak=40), 0.01

    def __init__(self, site: Site) -> None:
        self.site = site
        self._running = contextlib.ExitStack()
        self.url = self._running.enter_context(serving(site))

    def connect(self, machine: str) -> Connection:
        return ServerTransport(self.url, SPACE, self.site.tokens["max"])

    def script(self, machine: str) -> str:
        """Return Python that connects in another process."""
        return (
            "from told.sync.transports.server import ServerTransport\n"
            f"place = ServerTransport({self.url!r}, {SPACE!r}, {self.site.tokens['max']!r})\n"
        )

    def add_junk(self) -> None:
        """Let others of the team, and a broken client, write beside the space."""
        other = ServerTransport(self.url, "team-7f3", self.site.tokens["max"])
        with contextlib.closing(other):
            assert other.write("bbbbbbbb", {}, b"x", before=None)
        unfinished = io.BytesIO()  # files of a client that never sent its head
        header = {"names": ["000001.jsonl"], "deleted": [], "before": None, "has_head": False}
        send(unfinished, header, [b"x"])
        path = f"/api/v1/sync/{SPACE}/cccccccc"
        assert self.site.of("max").put(path, content=unfinished.getvalue()).status_code == 200

    def disconnect(self) -> None:
        self._running.close()


def git(*words: str | Path, data: str = "") -> str:
    """Run git; return its output."""
    done = subprocess.run(["git", *map(str, words)], input=data.encode(), capture_output=True, check=True)
    return done.stdout.decode("latin-1").strip()
