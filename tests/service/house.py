"""A home of its own with told's hook client and service, run as agents run them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

import told
from told.agents.wiring import Launch
from told.cli.main import main
from told.hook import client
from told.service import control

CLIENT = str(client.__file__)
PYTHON = os.path.realpath(sys.executable)
PATIENCE = 120.0  # seconds; a machine under load is slow, and a test that waits this long has failed


HURRY = {"TOLD_HOOK_SECONDS": "1"}  # for hooks that are to be late
REAL = {"TOLD_HOOK_SECONDS": ""}


class Said(NamedTuple):
    """What a hook gave back."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """What the model reads of it."""
        if not self.out:
            return ""
        found = json.loads(self.out)
        return str(found.get("hookSpecificOutput", found)["additionalContext"])


class House:
    """The machine of one user."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.user = root / "home"
        self.home = root / "told"
        self.project = root / "project"
        for folder in (self.user, self.home, self.project):
            folder.mkdir(parents=True)
        self.environ = {
            "HOME": str(self.user),
            "TOLD_HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "TOLD_SERVICE_IDLE": "300",
            "TOLD_HOOK_SECONDS": "100",  # a machine under load takes its time
        }

    def words(self, event: str, agent: str = "claude-code") -> tuple[str, ...]:
        """Return the program and arguments of a hook."""
        own = os.path.dirname(os.path.dirname(told.__file__))
        extra = tuple(folder for folder in folders() if folder != own)
        return Launch(PYTHON, CLIENT, extra).words(agent, event)

    def begin(self, event: str, agent: str = "claude-code", **environ: str) -> subprocess.Popen[bytes]:
        """Start a hook that waits for its call."""
        return subprocess.Popen(
            self.words(event, agent), env=self.environ | environ, cwd=self.project, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def send(self, event: str, payload: Any) -> subprocess.Popen[bytes]:
        """Start a hook and give it its call, without waiting for the answer."""
        process = self.begin(event)
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def call(self, event: str, payload: Any, agent: str = "claude-code", **environ: str) -> Said:
        """Run a hook and return what it said."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return end(self.begin(event, agent, **environ), raw)

    def prompt(self, text: str, session: str = "s-1", **environ: str) -> Said:
        """Type a prompt."""
        return self.call("prompt", self.typed(text, session), **environ)

    def start(self, session: str = "s-1", **environ: str) -> Said:
        """Start a session."""
        return self.call("start", self.started(session), **environ)

    def typed(self, text: str, session: str = "s-1") -> dict[str, Any]:
        """Return the payload of a prompt."""
        return self._payload("UserPromptSubmit", session) | {"prompt": text}

    def started(self, session: str = "s-1", source: str = "startup") -> dict[str, Any]:
        """Return the payload of a session's start."""
        return self._payload("SessionStart", session) | {"source": source}

    def _payload(self, name: str, session: str) -> dict[str, Any]:
        return {"session_id": session, "cwd": str(self.project), "hook_event_name": name}

    def serve(self) -> control.Pong:
        """Start the service, as a user does."""
        return control.start(str(self.home), self.environ)

    def pong(self) -> control.Pong | None:
        """Ask the service for a sign of life."""
        return control.ping(str(self.home))

    def stop(self) -> bool:
        """Stop the service."""
        return control.stop(str(self.home))

    def kill(self) -> bool:
        """Kill the service without a warning; return whether there was one."""
        pid = control.state(str(self.home)).pid
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return bool(pid)

    def is_empty(self) -> bool:
        """Kill what still runs; return whether there was nothing."""
        found = self.processes()
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not found

    def processes(self) -> list[int]:
        """Return the processes of services of this home."""
        return [pid for pid, words, home in _services() if home == str(self.home) and "told-service" in words]

    def texts(self) -> list[str]:
        """Return the statements that told remembers, with the ids of locked ones left out."""
        return [one["text"] for one in self.memories()]

    def memories(self) -> list[dict[str, Any]]:
        """Return the memories, as a command of the user's lists them."""
        words = ["memories", "--json", "--all-projects", "-n", "1000"]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            main(words, self.environ | {"TOLD_BACKGROUND": "off"})
        return list(json.loads(out.getvalue())["memories"]) if out.getvalue() else []


def folders() -> list[str]:
    """Return the folders that told and its dependencies are imported from."""
    found = [os.path.dirname(os.path.dirname(str(one.__file__))) for one in (told, apsw)]
    return list(dict.fromkeys(found))


def end(process: subprocess.Popen[bytes], raw: bytes) -> Said:
    """Give a hook its call and return what it said."""
    out, err = process.communicate(raw, timeout=PATIENCE)
    return Said(process.returncode, out.decode(), err.decode())


def until(true: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Wait until something is true; return whether it is."""
    ends = time.monotonic() + seconds
    while not true():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def _services() -> Iterator[tuple[int, str, str]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace")
                variables = Path(f"/proc/{name}/environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            home = next((one[10:] for one in variables if one.startswith("TOLD_HOME=")), "")
            yield int(name), words, home
