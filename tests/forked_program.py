"""Run programs in processes that are forked from one that has loaded told: starting Python is slow."""

from __future__ import annotations

import functools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import told
from tests.at_end import at_end

# The child of the server waits for the program and says how it ended; the server waits for nobody.
_SERVER = """
import gc, importlib, json, os, pkgutil, signal, sys, time, traceback
sys.path[:0] = json.loads(sys.argv[1])
import told.cli.main
for found in pkgutil.iter_modules(told.cli.__path__, "told.cli."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
gc.freeze()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin.buffer:
    call = json.loads(line)
    if os.fork():
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        with open(call["ended"], "wb", buffering=0) as ended:
            ended.write(b"%d\\n" % child)
            ended.write(b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        os._exit(0)
    os.setsid()
    for stream, name in enumerate(call["streams"]):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOCTTY, 0o600), stream)
    sys.stdin, sys.stdout, sys.stderr = (
        open(stream, mode, 1 if os.isatty(stream) else -1, "utf-8", "replace", closefd=False)
        for stream, mode in enumerate("rww")
    )
    os.chdir(call["cwd"])
    os.environ.clear()
    os.environ.update(call["environ"])
    time.tzset()
    sys.argv = ["-c", *call["words"]]
    exec(call["program"], {"__name__": "__main__"})
    break
"""


class Forked:
    """A running program, with what the tests need of `subprocess.Popen`."""

    def __init__(
        self,
        program: str,
        words: tuple[str, ...],
        environ: dict[str, str],
        cwd: str | Path,
        streams: tuple[str, ...] = (),
    ) -> None:
        """Start a program; its three streams are files, such as a terminal, or go nowhere but for errors."""
        self.returncode = 0
        self._folder = tempfile.mkdtemp()
        fifo, self._err = os.path.join(self._folder, "ended"), os.path.join(self._folder, "err")
        os.mkfifo(fifo)
        call = {"program": program, "words": words, "environ": environ, "cwd": str(cwd), "ended": fifo}
        call["streams"] = streams or (os.devnull, os.devnull, self._err)
        server = _server()
        assert server.stdin is not None
        server.stdin.write(json.dumps(call).encode() + b"\n")
        server.stdin.flush()
        self._ended = open(fifo, "rb", buffering=0)  # noqa: SIM115 - closed by communicate()
        self._said = b""
        self.pid = int(self._line(time.monotonic() + 60))

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._said:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._ended], [], [], left)[0]:
                raise subprocess.TimeoutExpired("told", left)
            self._said += self._ended.read(64) or b"gone\n"
        line, _, self._said = self._said.partition(b"\n")
        return line

    def wait(self, timeout: float) -> int:
        """Wait for the end; return the exit code."""
        if not self._ended.closed:
            self.returncode = int(self._line(time.monotonic() + timeout))
            self._ended.close()
        return self.returncode

    def communicate(self, timeout: float) -> tuple[bytes, bytes]:
        """Wait for the end; return an empty output and what was written to the error stream."""
        self.wait(timeout)
        err = Path(self._err).read_bytes() if os.path.exists(self._err) else b""
        shutil.rmtree(self._folder)
        return b"", err

    def send_signal(self, number: int) -> None:
        """Send a signal to a process that has not been waited for."""
        os.kill(self.pid, number)


@functools.cache
def _server() -> subprocess.Popen[bytes]:
    folders = [str(Path(told.__file__).parents[1])]
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, json.dumps(folders)], stdin=subprocess.PIPE, cwd="/"
    )
    at_end(server.communicate)
    return server


def prepare() -> None:
    """Start the process that the programs are forked from."""
    _server()
