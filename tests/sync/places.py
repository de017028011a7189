"""Places where machines leave series, for the contract that every transport keeps."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from told.errors import BusyError, ToldError
from told.sync.transports.folder import FolderTransport

SPACE = "team-7f3k"


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
    kills, kill_within = 12, 0.03

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


PYTHON = sys.executable
