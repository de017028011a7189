"""Run the real `told` on a made-up history, in folders of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

from demo.history import write_history
from demo.shop import SHOP

_SECONDS = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class Scratch:
    """A home folder with a made-up history, and a folder for told; both below one temporary folder."""

    def __init__(self, folder: str, now: int = 0) -> None:
        """Write the history as of `now` in milliseconds; as of this moment if it is 0."""
        self.home = os.path.join(os.path.realpath(folder), "home")
        self.cwd = os.path.join(self.home, SHOP.folder)
        self.paths = write_history(self.home, now or time.time_ns() // 1_000_000)
        # Nothing of the caller's own agents and settings, and no process that outlives the demo.
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TERM")
                if name in os.environ}  # fmt: skip
        self.environ = kept | {
            "HOME": self.home, "USERPROFILE": self.home, "TOLD_HOME": os.path.join(folder, "told"),
            "TOLD_BACKGROUND": "off", "PYTHONIOENCODING": "utf-8",
        }  # fmt: skip

    def told(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `told` in the shop's folder and return what it prints."""
        return subprocess.run(  # noqa: S603 - the words are the demo's own
            [*_program(), *words], cwd=self.cwd, env=self.environ, stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", timeout=_SECONDS,
        )  # fmt: skip

    def told_at_terminal(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `told` at a pseudo-terminal as wide as this one; pass on and return what it prints."""
        import pty  # noqa: PLC0415 - not on Windows

        command = [*_program(), *words]
        ours, theirs = pty.openpty()
        try:
            _copy_size(sys.stdout.fileno(), theirs)
            process = subprocess.Popen(  # noqa: S603 - the words are the demo's own
                command,
                cwd=self.cwd,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
            )
            os.close(theirs)
            printed = _relay(ours)
            process.wait(_SECONDS)
        finally:
            os.close(ours)
        text = _ESCAPES.sub("", printed.decode("utf-8", "replace")).replace("\r\n", "\n")
        return subprocess.CompletedProcess(command, process.returncode, text, "")


def _relay(source: int) -> bytes:
    """Copy what arrives to standard output until the other side closes."""
    parts = []
    while True:
        try:
            part = os.read(source, 65536)
        except OSError:  # Linux reports the end of a pseudo-terminal as an error
            break
        if not part:
            break
        parts.append(part)
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
    return b"".join(parts)


def _copy_size(source: int, target: int) -> None:
    """Give one terminal the size of another."""
    import fcntl  # noqa: PLC0415 - not on Windows
    import termios  # noqa: PLC0415

    size = fcntl.ioctl(source, termios.TIOCGWINSZ, bytes(8))
    fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def _program() -> list[str]:
    beside = os.path.join(os.path.dirname(sys.executable), "told")
    return [beside] if os.path.exists(beside) else [sys.executable, "-I", "-m", "told"]
