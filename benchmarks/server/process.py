"""A server process, as `told server start` runs it, on the database of a benchmark."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_START_SECONDS = 60


class Served(NamedTuple):
    """A server that runs."""

    port: int
    pid: int

    def workers(self) -> list[int]:
        """Return the process ids of its workers."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii")
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        every = " ".join((one / "children").read_text(encoding="ascii") for one in threads)
        return sorted({int(one) for one in f"{children} {every}".split()})


@contextmanager
def serving(url: str, *, workers: int = 1) -> Iterator[Served]:
    """Run a server process on a database for a block."""
    with tempfile.TemporaryDirectory(prefix="told-") as home, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environ = {**os.environ, "HOME": home, "TOLD_HOME": home, "TOLD_DATABASE_URL": url}
        command = [
            sys.executable,
            "-m",
            "told",
            "server",
            "start",
            "--port",
            str(port),
            "--workers",
            str(workers),
        ]
        with open(os.path.join(home, "log"), "wb") as log:
            process = subprocess.Popen(command, env=environ, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_until_ready(process, port, os.path.join(home, "log"))
            yield Served(port, process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            client.request("GET", "/api/v1/health")
            assert client.getresponse().status == 200
        except OSError:
            assert process.poll() is None, Path(log).read_text(encoding="utf-8")
            assert time.monotonic() < deadline, Path(log).read_text(encoding="utf-8")
            time.sleep(0.1)
        else:
            return
        finally:
            client.close()


def memory_mb(pid: int) -> dict[str, float]:
    """Return what a process holds resident, and its proportional share of it."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return {"rss_mb": round(sizes["Rss"] / 1024, 1), "pss_mb": round(sizes["Pss"] / 1024, 1)}
