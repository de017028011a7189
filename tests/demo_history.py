"""The demo's history for tests: made once in a process, and asked without starting Python again."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import io
import os
import pty
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from demo.told import Scratch, _relay, _set_size
from tests.forked_program import Forked
from told.cli.main import main

_PROGRAM = "import os, sys; from told.cli.main import main; sys.exit(main(sys.argv[1:], dict(os.environ)))"
_SECONDS = 60.0


class Quick(Scratch):
    """The same history; told runs in this process, and at a terminal in a forked one."""

    def told(self, *words: str) -> subprocess.CompletedProcess[str]:
        said = io.StringIO()
        with (
            mock.patch.object(os, "nice", create=True),  # it would last beyond this test
            contextlib.chdir(self.cwd),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            code = main(words, self.environ)
        gc.enable()  # a command does without
        return subprocess.CompletedProcess(words, code, said.getvalue(), "")

    def told_at_terminal(
        self, *words: str, columns: int = 0, typed: Sequence[tuple[str, str]] = (), show: bool = True
    ) -> subprocess.CompletedProcess[str]:
        ours, theirs = pty.openpty()
        _set_size(theirs, columns)
        name = os.ttyname(theirs)
        process = Forked(_PROGRAM, words, self.environ, self.cwd, (name if typed else os.devnull, name, name))
        # What is printed ends when nobody has the terminal open any more.
        waiting = threading.Thread(target=_close_after, args=(process, theirs))
        waiting.start()
        try:
            printed = _relay(ours, list(typed), show=show)
        finally:
            waiting.join()
            os.close(ours)
        process.communicate(_SECONDS)
        text = printed.decode("utf-8", "replace").replace("\r\n", "\n")
        return subprocess.CompletedProcess(words, process.returncode, text, "")


def _close_after(process: Forked, terminal: int) -> None:
    try:
        process.wait(_SECONDS)
    finally:
        os.close(terminal)


class _Kept:
    """One imported history in a folder of its own, with a copy to go back to."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="told-demo-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self.scratch = Quick(str(self._folder / "live"))
        assert self.scratch.told("index").returncode == 0
        gc.collect()
        shutil.copytree(self._folder / "live", self._folder / "kept", symlinks=True)
        self.is_changed = False

    def go_back(self) -> None:
        gc.collect()  # a command leaves its connection to the end of the process
        shutil.rmtree(self._folder / "live")
        shutil.copytree(self._folder / "kept", self._folder / "live", symlinks=True)


@functools.cache
def _kept() -> _Kept:
    return _Kept()


def imported(*, changes: bool = False) -> Scratch:
    """Return the history as it was imported; say if it will be changed.

    The folder is the same in all tests of a process: told and the agents know files by their paths.
    """
    kept = _kept()
    if kept.is_changed:
        kept.go_back()
    kept.is_changed = changes
    return kept.scratch
