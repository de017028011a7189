"""Talks to an MCP server as an agent does, over its standard streams or HTTP, and watches its process."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from benchmarks import CannotMeasureError
from benchmarks.measure import Command

PROTOCOL = "2025-06-18"
INITIALIZE = {
    "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
}  # fmt: skip
_PAUSE = 0.002  # seconds between two looks whether a server listens
_TO_START, _TO_ANSWER, _TO_END = 60, 60, 5  # seconds


class Memory(NamedTuple):
    """What a process holds, in MB."""

    now: float
    peak: float


def memory_of(pid: int) -> Memory:
    """Return what a process holds now, and held at most."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        found = dict(line.split(":", 1) for line in file if ":" in line)
    return Memory(*(round(int(found[name].split()[0]) / 1024, 1) for name in ("VmRSS", "VmHWM")))


class Talk:
    """One server, from the start of its process to the end."""

    def __init__(self, command: Command, url: str = "") -> None:
        """Start it.

        Args:
            command: The program of the server.
            url: Where it answers; empty for its standard streams.
        """
        self.began = time.perf_counter()
        self._errors = open(os.path.join(command.folder, ".errors"), "wb+")  # noqa: SIM115 - closed in `end`
        self._process = subprocess.Popen(
            command.words, cwd=command.folder, env=dict(command.environ), stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL if url else subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        self._url = urlsplit(url)
        self._session = ""
        self._ids = itertools.count(1)
        self.instructions = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def listed(self) -> list[dict[str, Any]]:
        """Introduce the client, and return the tools."""
        said = self._asked("initialize", INITIALIZE)
        self.instructions = str(said.get("instructions") or "")
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        found: list[dict[str, Any]] = self._asked("tools/list", {})["tools"]
        return found

    def call(self, name: str, arguments: Mapping[str, Any]) -> tuple[float, str, bool]:
        """Call a tool; return the seconds that it took, its text and whether that is an error."""
        began = time.perf_counter()
        said = self._asked("tools/call", {"name": name, "arguments": dict(arguments)})
        took = time.perf_counter() - began
        text = "\n".join(str(part.get("text", "")) for part in said["content"])
        return took, text, bool(said.get("isError"))

    def memory(self) -> Memory:
        """Return what its process holds now, and held at most."""
        return memory_of(self._process.pid)

    def end(self) -> float:
        """End it as an agent does; return the CPU seconds of its whole life."""
        if self._errors.closed:
            return 0.0
        if self._process.stdin:
            with contextlib.suppress(OSError):  # it may have ended by itself
                self._process.stdin.close()
        if self._url.netloc and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        seconds = self._waited()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()
        return seconds

    def _waited(self) -> float:
        ends = time.monotonic() + _TO_END
        while self._process.returncode is None:
            pid, status, used = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return used.ru_utime + used.ru_stime
            if time.monotonic() > ends:
                self._process.kill()
            time.sleep(_PAUSE)
        return 0.0

    def _asked(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        said = self._send(message)
        while said.get("id") != number:
            said = self._line()
        if "result" not in said:
            raise CannotMeasureError(f"{method}: {json.dumps(said.get('error'))[:300]}")
        found: dict[str, Any] = said["result"]
        return found

    def _send(self, message: Mapping[str, Any]) -> dict[str, Any]:
        raw = json.dumps(message).encode()
        if self._url.netloc:
            return self._posted(raw)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(raw + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        return {}

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        found: dict[str, Any] = json.loads(line)
        return found

    def _posted(self, raw: bytes) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._session:
            headers |= {"Mcp-Session-Id": self._session, "MCP-Protocol-Version": PROTOCOL}
        connection = self._connected()
        try:
            connection.request("POST", self._url.path, raw, headers)
            response = connection.getresponse()
            body = response.read().decode()
        finally:
            connection.close()
        self._session = response.headers.get("mcp-session-id", self._session)
        # A stream of events has its message after the word `data`.
        data = [line[5:] for line in body.splitlines() if line.startswith("data:")]
        found: dict[str, Any] = json.loads("".join(data) or body or "{}")
        return found

    def _connected(self) -> http.client.HTTPConnection:
        ends = time.monotonic() + _TO_START
        while time.monotonic() < ends and self._process.poll() is None:
            connection = http.client.HTTPConnection(
                self._url.hostname or "", self._url.port, timeout=_TO_ANSWER
            )
            try:
                connection.connect()
            except ConnectionRefusedError:
                time.sleep(_PAUSE)
            else:
                return connection
        raise self._ended()

    def _ended(self) -> CannotMeasureError:
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()[-200:]
        return CannotMeasureError(f"the server does not answer: {' '.join(said.split())}")
