"""A pseudo-terminal with a program in it: types keys, and shows the screen as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SECONDS = 30.0
_TOKENS = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n\x08\x07])|([^\x1b\r\n\x08\x07]+)")
# The child takes the terminal as its own, so that Ctrl-C reaches it.
_START = "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);os.execv(sys.argv[1],sys.argv[1:])"


class Terminal:
    """One program at a terminal of some columns."""

    def __init__(
        self, words: list[str], environ: Mapping[str, str], cwd: str | Path, columns: int = 80
    ) -> None:
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._before = termios.tcgetattr(self._theirs)
        self.printed = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, sys.executable, "-m", "told", *words],
            env={"TERM": "xterm-256color", **environ}, cwd=cwd, stdin=self._theirs, stdout=self._theirs,
            stderr=self._theirs, start_new_session=True,
        )  # fmt: skip

    def wait_for(self, text: str) -> str:
        """Read until a text is on the screen; return the screen."""
        until = time.monotonic() + _SECONDS
        while text not in self.screen:
            assert time.monotonic() < until, f"{text!r} never came:\n{self.screen}"
            self._read()
        return self.screen

    def type(self, keys: str, text: str) -> str:
        """Type keys, and wait for a text that was not on the screen before."""
        assert text not in self.screen, f"{text!r} is already there:\n{self.screen}"
        os.write(self._ours, keys.encode())
        return self.wait_for(text)

    def press(self, keys: str) -> None:
        """Type keys without waiting."""
        os.write(self._ours, keys.encode())

    def finish(self) -> str:
        """Wait until the program ends; return the screen. The terminal must be as it was before."""
        until = time.monotonic() + _SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < until, self.screen
            self._read()
        self._read()
        assert termios.tcgetattr(self._theirs) == self._before
        return self.screen

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the terminal, also if the program hangs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._theirs)
        os.close(self._ours)

    def _read(self) -> None:
        if select.select([self._ours], [], [], 0.05)[0]:
            self.printed += os.read(self._ours, 65536).decode("utf-8", "replace")

    @property
    def screen(self) -> str:
        """Return what is on the screen and above it, without colours."""
        lines, row, column = [""], 0, 0
        for found in _TOKENS.finditer(self.printed):
            number, command, control, text = found.groups()
            if command == "A":
                row = max(0, row - int(number or 1))
            elif command == "J":
                lines = [*lines[:row], lines[row][:column]]
            elif command == "K":
                lines[row] = lines[row][:column]
            elif control == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif control == "\r":
                column = 0
            elif control == "\x08":
                column = max(0, column - 1)
            elif text:
                line = lines[row].ljust(column)
                lines[row] = line[:column] + text + line[column + len(text) :]
                column += len(text)
        return "\n".join(line.rstrip() for line in lines)
