"""A machine with the background service on it, and agents that ask it over the network."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.hook.desk import Desk, said_to_model, typed
from told.hook import service as starting
from told.serve import choice, control

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OWNER = "claude-code user"
PROMPT = "/told.hook/claude-code/prompt"
PATIENCE = 20.0  # seconds; a machine under load is no fault
_RUN = "from told.cli.serving import run;run(idle={idle},patience={patience})"


class Reply(NamedTuple):
    """What came back over the network."""

    code: int
    body: bytes
    headers: dict[str, str]

    @property
    def told(self) -> str:
        """What the model is given."""
        return said_to_model(json.loads(self.body)) if self.body else ""


class House(Desk):
    """A desk whose prompts are answered by the service."""

    @property
    def place(self) -> str:
        """The folder that is told's."""
        return str(self.told_home)

    @property
    def port(self) -> int:
        """Where the service listens."""
        return control.state(self.place).port

    @property
    def pid(self) -> int:
        """The process that listens; 0 if none does."""
        return control.state(self.place).pid

    @property
    def token(self) -> str:
        """What the service wants to see."""
        return choice.token_of(self.place)

    def choose(self) -> None:
        """Choose the service, as `told install --service` does."""
        choice.settle(self.place, choice.terms(self.place, control.is_free), [OWNER])

    def begin(self, idle: float = 1800, patience: float = PATIENCE, first: str = "") -> int:
        """Start the service, with more patience than agents have; run `first` before it."""
        if not self.port:
            self.choose()
        usual, starting._RUN = starting._RUN, first + _RUN.format(idle=idle, patience=patience)
        try:
            return control.start(self.place, self.environ).pid
        finally:
            starting._RUN = usual

    def post(
        self, body: Any, path: str = PROMPT, method: str = "POST", drop: tuple[str, ...] = (), **headers: str
    ) -> Reply:
        """Send a request as Claude Code does; `headers` replaces some of it, with `_` for `-`."""
        given = {
            "Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json",
            "Authorization": f"Bearer {self.token}",
        }  # fmt: skip
        given |= {name.replace("_", "-").title(): value for name, value in headers.items()}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Content-Length": str(len(raw))} | given).items():
            if name not in drop:
                connection.putheader(name, value)
        connection.endheaders(raw)
        said = connection.getresponse()
        reply = Reply(said.status, said.read(), {name.lower(): value for name, value in said.getheaders()})
        connection.close()
        return reply

    def head(self, path: str, length: str) -> bytes:
        """Return the head of a request that is let through, if its length is."""
        told = f"Host: localhost:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
        kind = f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        return f"POST {path} HTTP/1.1\r\n{told}{kind}".encode()

    def raw(self, data: bytes) -> bytes:
        """Send bytes, and return all that comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            said = b""
            while part := connection.recv(65536):
                said += part
        return said

    def say(self, text: str, session: str = "s-1") -> str:
        """Type a prompt; return what the service has the model be given with it."""
        reply = self.post(typed(self, text, session=session))
        assert reply.code in (200, 204), reply
        return reply.told

    def operations(self) -> str:
        """Return all that the journal says."""
        return "".join(path.read_text() for path in sorted((self.told_home / "journal").rglob("*.jsonl")))

    def own_files(self) -> set[str]:
        """Return the files of the service's."""
        return {name for name in os.listdir(self.place) if name.startswith("service")}

    def end(self) -> None:
        """Leave no process behind."""
        until(self._is_ended)

    def _is_ended(self) -> bool:
        pid = self.pid
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not pid


def until(is_so: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends, "it never happened"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Tell whether a process is there, and not only its remains."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def variables_of(pid: int) -> Mapping[str, str]:
    """Return the environment that a process was started with."""
    with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
        return dict(one.split("=", 1) for one in file.read().split("\0") if one)
