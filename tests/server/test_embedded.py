"""The embedded PostgreSQL after it, or the told that started it, was killed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from told.errors import ToldError
from told.server.context import Server, ServerSettings
from told.server.embedded import EmbeddedPostgres
from told.server.workers import WorkerCommand, Workers
from told.store.postgres.database import Database, Viewer, connect

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_KILLED_TOLD = """
import os, sys
from told.server.context import Server, ServerSettings
from told.server.embedded import EmbeddedPostgres
from told.server.workers import WorkerCommand, Workers
EmbeddedPostgres(sys.argv[1], settings=("fsync=off",)).start()
os._exit(9)
"""
_DEAF_WORKER = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").close()
time.sleep(60)
"""


def answers(server: EmbeddedPostgres) -> bool:
    """Tell whether a server takes connections."""
    try:
        connect(server.url).close()
    except ToldError:
        return False
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted as Linux does it")
def test_it_starts_again_after_kills(tmp_path: Path) -> None:
    folder = os.fspath(tmp_path)
    adopt = ctypes.CDLL(None).prctl
    adopt(_SUBREAPER, 1)  # as `systemd --user` does with the orphans of a session
    try:
        subprocess.run([sys.executable, "-c", _KILLED_TOLD, folder], check=False)
        server = EmbeddedPostgres(folder, settings=("fsync=off",))
        server.start()
    finally:
        adopt(_SUBREAPER, 0)
    server.keep_running()
    try:
        assert answers(server)
        killed = server.pid
        os.kill(killed, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while server.pid == killed or not answers(server):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        server.stop()
    assert not answers(server)


def test_workers_end_soon_without_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("told.server.workers._STOP_SECONDS", 0.1)
    monkeypatch.setattr("told.server.workers._RELEASE_SECONDS", 0.2)
    database = Database("postgresql://nobody@127.0.0.1:1/none")
    server = Server(database, ServerSettings("", b"k"), Viewer("t", ""))
    is_deaf = tmp_path / "deaf"
    words = [sys.executable, "-c", _DEAF_WORKER, os.fspath(is_deaf)]
    with Workers(server, WorkerCommand(words, os.environ), 1):
        while not is_deaf.exists():
            time.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() < began + 3
    database.close()
