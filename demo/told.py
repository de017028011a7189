"""Runs the real `told` on a made-up history, in folders of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from demo.history import write_history
from demo.shop import SHOP


class Scratch:
    """A home folder with a made-up history, and a folder for told; both below one temporary folder."""

    def __init__(self, folder: str, now: int = 0) -> None:
        """Write the history, as old as it was at a moment in milliseconds; at this one if none is given."""
        self.home = os.path.join(os.path.realpath(folder), "home")
        self.cwd = os.path.join(self.home, SHOP.folder)
        self.paths = write_history(self.home, now or time.time_ns() // 1_000_000)
        # Nothing of the caller's own agents and settings, and no process that outlives the demo.
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
                if name in os.environ}  # fmt: skip
        self.environ = kept | {
            "HOME": self.home, "USERPROFILE": self.home, "TOLD_HOME": os.path.join(folder, "told"),
            "TOLD_BACKGROUND": "off", "PYTHONIOENCODING": "utf-8",
        }  # fmt: skip

    def told(self, *words: str, shown: bool = False) -> subprocess.CompletedProcess[str]:
        """Run `told` in the shop's folder; with `shown` it prints to the terminal itself."""
        return subprocess.run(  # noqa: S603 - the words are the demo's own
            [*_program(), *words], cwd=self.cwd, env=self.environ, stdin=subprocess.DEVNULL, check=False,
            stdout=None if shown else subprocess.PIPE, stderr=None if shown else subprocess.STDOUT,
            text=True, encoding="utf-8", timeout=60,
        )  # fmt: skip


def _program() -> list[str]:
    beside = os.path.join(os.path.dirname(sys.executable), "told")
    return [beside] if os.path.exists(beside) else [sys.executable, "-I", "-m", "told"]
