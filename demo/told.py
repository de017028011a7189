"""Run the real `told` on a made-up history, in folders of its own."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Sequence

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

    def told_at_terminal(
        self, *words: str, columns: int = 0, typed: Sequence[tuple[str, str]] = (), show: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run `told` at a pseudo-terminal and return what it prints, with its escape sequences.

        Args:
            words: The command.
            columns: The width of the terminal; 0 for that of this one.
            typed: What to type, each after the text that has to appear first.
            show: Pass on what it prints.
        """
        import pty  # noqa: PLC0415 - not on Windows

        command = [*_program(), *words]
        ours, theirs = pty.openpty()
        _set_size(theirs, columns)
        try:
            process = subprocess.Popen(  # noqa: S603 - the words are the demo's own
                command, cwd=self.cwd, env=self.environ, stdin=theirs if typed else subprocess.DEVNULL,
                stdout=theirs, stderr=theirs, start_new_session=True,
            )  # fmt: skip
            os.close(theirs)
            printed = _relay(ours, list(typed), show=show)
            process.wait(_SECONDS)
        finally:
            os.close(ours)
        text = printed.decode("utf-8", "replace").replace("\r\n", "\n")
        return subprocess.CompletedProcess(command, process.returncode, text, "")


def remove_escapes(text: str) -> str:
    """Return what a terminal printed without colours and cursor movements."""
    return _ESCAPES.sub("", text)


def _relay(terminal: int, typed: list[tuple[str, str]], *, show: bool) -> bytes:
    """Read until the other side closes; type what is due when its sign has appeared."""
    printed, seen = b"", 0
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a pseudo-terminal as an error
            break
        if not part:
            break
        printed += part
        if show:
            sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
        while typed and typed[0][0].encode() in printed[seen:]:
            sign, keys = typed.pop(0)
            seen = printed.index(sign.encode(), seen) + len(sign.encode())
            os.write(terminal, keys.encode())
    return printed


def _set_size(terminal: int, columns: int) -> None:
    """Give a terminal a width, or the size of this one."""
    import fcntl  # noqa: PLC0415 - not on Windows
    import termios  # noqa: PLC0415

    size = struct.pack("HHHH", 50, columns, 0, 0)
    if not columns:
        size = fcntl.ioctl(sys.stdout.fileno(), termios.TIOCGWINSZ, bytes(8))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


def _program() -> list[str]:
    beside = os.path.join(os.path.dirname(sys.executable), "told")
    return [beside] if os.path.exists(beside) else [sys.executable, "-I", "-m", "told"]
