"""`told server start` as a user runs it: a process, its token file, its socket, its end."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from told.cli.main import main


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Machine:
    """A home, and a server that may run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.token_file = folder / "token"
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
        self.environ = {
            **kept,
            "HOME": os.fspath(folder),
            "TOLD_HOME": os.fspath(folder / "told"),
            "TOLD_BACKGROUND": "off",
        }

    def told(
        self, *words: str, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        command = [sys.executable, "-m", "told", *words]
        environ = self.environ | variables
        return subprocess.run(command, env=environ, cwd=cwd, capture_output=True, text=True, check=False)

    def here(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in this process, which knows told already."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words), self.environ)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the server, and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "told",
            "server",
            "start",
            "--embedded",
            "--port",
            str(self.port),
            *words,
        ]
        process = subprocess.Popen(command, env=self.environ, stdout=subprocess.PIPE, text=True)
        while process.poll() is None:
            with contextlib.suppress(OSError):
                self.get("/api/health")
                return process
            time.sleep(0.05)
        raise AssertionError(process.stdout.read() if process.stdout else "")

    def get(self, path: str, token: str = "") -> Any:
        """Return the answer to a request."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        wanted = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(wanted, timeout=20) as answer:
            return json.load(answer)

    @property
    def token(self) -> str:
        """The token in the file."""
        return self.token_file.read_text().strip()


def workers_of(server: int) -> list[int]:
    """Return the ids of a server's worker processes; none where they are not listed in /proc."""
    path = Path(f"/proc/{server}/task")
    children = " ".join(one.read_text() for one in path.glob("*/children")).split()
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in children}
    return sorted(int(pid) for pid, words in lines.items() if b"worker" in words)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits for its parent to notice its end does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    made = Machine(tmp_path_factory.mktemp("server"))
    process = made.start("--token-file", os.fspath(made.token_file))
    yield made
    deadline = time.monotonic() + 60
    while sys.platform == "linux" and not workers_of(process.pid):  # they start after it answers
        assert time.monotonic() < deadline
        time.sleep(0.05)
    workers = workers_of(process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    assert not any(map(is_alive, workers))
    assert made.here("server", "status").returncode == 1
    assert not list((made.folder / "told" / "server").glob("*.json"))
    if process.stdout:
        process.stdout.close()


def test_it_answers_and_its_token_works(machine: Machine) -> None:
    health = machine.get("/api/health")
    assert health["status"] == health["db"]["status"] == "ok"
    assert machine.get("/api/v1/me", machine.token)["role"] == "admin"


def test_only_the_user_can_read_its_files(machine: Machine) -> None:
    home = machine.folder / "told"
    assert machine.token_file.stat().st_mode & 0o777 == 0o600
    assert (home / "server" / "told.sock").stat().st_mode & 0o777 == 0o600
    assert (home / "server").stat().st_mode & 0o777 == 0o700
    assert machine.folder.stat().st_mode & 0o077 == 0
    open_to_others = [
        path for path in home.rglob("*") if not path.is_symlink() and path.lstat().st_mode & 0o077
    ]
    assert [path for path in open_to_others if not path.is_socket()] == []


def test_the_socket_is_for_this_user_without_a_token(machine: Machine) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.fspath(machine.folder / "told" / "server" / "told.sock"))
        connection.sendall(b"GET /api/v1/me HTTP/1.1\r\nhost: told\r\nconnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"200 OK" in answer
    assert b'"name":"admin"' in answer


def test_people_are_managed_while_it_runs(machine: Machine) -> None:
    made = json.loads(machine.here("server", "token", "create", "ana", "--json").stdout)
    assert machine.get("/api/v1/me", made["secret"])["person"]["name"] == "ana"
    assert "ana member" in machine.here("server", "token", "list").stdout
    assert machine.here("server", "token", "revoke", made["token"]).returncode == 0
    again = machine.here("server", "token", "revoke", made["token"])
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    assert "running" in machine.here("server", "status", "--json").stdout
    refused = machine.here("server", "token", "create", "ana", "--role", "admin")
    assert (refused.returncode, "members role ana admin" in refused.stderr) == (2, True)
    assert "ana has the role admin now." in machine.here("server", "members", "role", "ana", "admin").stdout
    assert json.loads(machine.here("server", "members", "--json").stdout)["members"] == [
        {"name": "admin", "role": "admin"}, {"name": "ana", "role": "admin"},
    ]  # fmt: skip
    assert machine.here("server", "members", "remove", "ana").returncode == 0
    assert machine.here("server", "members").stdout == "admin · admin\n"
    last = machine.here("server", "members", "remove", "admin")
    assert (last.returncode, "only admin" in last.stderr) == (2, True)


def test_a_token_without_a_file_is_not_made(machine: Machine) -> None:
    before = json.loads(machine.here("server", "token", "list", "--json").stdout)["count"]
    again = machine.here("server", "token", "create", "eve", "--token-file", os.fspath(machine.token_file))
    assert again.returncode == 2
    assert json.loads(machine.here("server", "token", "list", "--json").stdout)["count"] == before


def test_a_second_server_of_the_same_home_changes_nothing(machine: Machine) -> None:
    for port in (machine.port, free_port()):
        again = machine.here("server", "start", "--embedded", "--port", str(port))
        assert (again.returncode, again.stderr.count("\n")) == (2, 1)
        assert f"Already running on 127.0.0.1:{machine.port}" in again.stderr
    assert machine.here("server", "status").returncode == 0
    assert (machine.folder / "told" / "server" / "told.sock").exists()


def test_a_token_that_cannot_be_written_is_not_made(machine: Machine) -> None:
    missing = os.fspath(machine.folder / "missing" / "token")
    refused = machine.here("server", "token", "create", "lost", "--token-file", missing)
    assert (refused.returncode, refused.stderr.count("\n")) == (4, 1)
    assert "lost" not in machine.here("server", "token", "list").stdout


def test_a_port_in_use_is_noticed_before_anything_is_made(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", machine.port))
        other.listen()
        refused = machine.here("server", "start", "--embedded", "--port", str(machine.port))
    assert refused.returncode == 3
    assert f"Port {machine.port}" in refused.stderr
    assert not (tmp_path / "told" / "server" / "postgres").exists()


def test_another_process_with_the_id_of_a_killed_server_is_none(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    folder = tmp_path / "told" / "server"
    folder.mkdir(parents=True)
    (folder / "server.lock").touch()
    state = {"pid": os.getpid(), "host": "127.0.0.1", "port": 1, "database": "postgresql://127.0.0.1:1/x"}
    (folder / "server.json").write_text(json.dumps(state))
    assert machine.here("server", "status").returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "TOLD_DATABASE_URL"),
        (("--embedded", "--host", "0.0.0.0"), "--certificate"),
        (("--embedded", "--host", "::"), "behind a proxy"),
        (("--embedded", "--certificate", "c.pem"), "both --certificate"),
        (("--embedded", "--port", "65536"), "not a port"),
        (("now",), "does not know"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    answer = Machine(tmp_path).here("server", "start", *words)
    assert answer.returncode == 2
    assert said in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_certificate_that_is_missing_is_one_sentence(tmp_path: Path) -> None:
    words = ("--certificate", "c.pem", "--certificate-key", "k.pem")
    answer = Machine(tmp_path).here("server", "start", "--embedded", *words)
    assert answer.returncode == 4
    assert "c.pem" in answer.stderr


@pytest.mark.parametrize(
    ("url", "code"),
    [("postgresql://nobody@127.0.0.1:1/none", 3), ("nonsense", 2), ("postgresql://a:se cret@h/x", 2)],
)
def test_a_wrong_database_is_one_sentence(tmp_path: Path, url: str, code: int) -> None:
    machine = Machine(tmp_path)
    machine.environ["TOLD_DATABASE_URL"] = url
    answer = machine.here("server", "start", "--port", str(machine.port))
    assert answer.returncode == code
    assert "PostgreSQL" in answer.stderr or "TOLD_DATABASE_URL" in answer.stderr
    assert "cret" not in answer.stderr
    assert "bug" not in answer.stderr
