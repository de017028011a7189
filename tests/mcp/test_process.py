"""`told mcp` as an agent starts it: it says nothing but answers, and is gone when its agent is."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.caller import call, greeting, lines, request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE = 20.0
STRAY = """
import os, sys
from told.cli import mcp
from told.mcp.tools import Answer

class Loud:
    def call(self, name, arguments, client):
        print("stray")
        os.write(1, b"strays\\n")
        assert os.read(0, 10) == b""
        return Answer("heard")

mcp.Tools = lambda environ: Loud()
sys.exit(mcp.mcp([], os.environ))
"""


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT")}
    own = {"HOME": str(tmp_path / "home"), "TOLD_HOME": str(tmp_path / "told"), "TOLD_BACKGROUND": "off"}
    return kept | own


class Started:
    """A process of `told mcp`."""

    def __init__(self, environ: Mapping[str, str], *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *(words or ("-m", "told", "mcp"))],
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: Any) -> None:
        """Send messages."""
        assert self.process.stdin is not None
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        """Return the next answer."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def ask(self, message: Any) -> dict[str, Any]:
        """Send a message and return its answer."""
        self.send(message)
        return self.next()

    def end(self) -> tuple[int, bytes, bytes]:
        """Send nothing more; return how it ended and what it still said."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@pytest.fixture
def started(surroundings: dict[str, str]) -> Iterator[Started]:
    made = Started(surroundings)
    yield made
    with made.process as process:
        process.kill()


def test_it_answers_and_ends_when_nothing_more_comes(started: Started) -> None:
    assert started.ask(greeting())["result"]["serverInfo"]["name"] == "told"
    assert len(started.ask(request("tools/list"))["result"]["tools"]) == 12
    assert started.end() == (0, b"", b"")


def test_nothing_is_written_to_disk_before_a_tool_is_called(
    started: Started, surroundings: dict[str, str]
) -> None:
    started.ask(greeting())
    started.ask(call("search"))
    assert started.end()[0] == 0
    assert not Path(surroundings["TOLD_HOME"]).exists()


@pytest.mark.skipif(os.name == "nt", reason="there a process is ended, not asked to")
def test_it_ends_without_a_word_when_it_is_told_to(started: Started) -> None:
    started.ask(greeting())
    started.process.send_signal(signal.SIGINT)  # that is meant for the agent
    started.ask(request("ping"))
    started.process.send_signal(signal.SIGTERM)
    assert started.end() == (0, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="there only a write tells")
def test_it_ends_when_nobody_reads_though_somebody_still_could_write(started: Started) -> None:
    started.ask(greeting())
    assert started.process.stdout is not None
    started.process.stdout.close()
    assert started.process.wait(PATIENCE) == 0


def test_it_ends_when_an_answer_can_not_be_written(started: Started) -> None:
    started.ask(greeting())
    assert started.process.stdout is not None
    started.process.stdout.close()
    assert started.process.stdin is not None
    with contextlib.suppress(OSError):
        for _ in range(100):
            os.write(started.process.stdin.fileno(), lines(request("tools/list")))
    assert started.process.wait(PATIENCE) == 0


def test_without_an_input_or_an_output_it_ends_at_once(surroundings: dict[str, str]) -> None:
    if os.name == "nt":
        pytest.skip("a shell's way to close them")
    for closed in ("<&-", ">&-", "<&- >&- 2>&-"):
        shell = f'exec "{sys.executable}" -m told mcp {closed}'
        done = subprocess.run(
            ["sh", "-c", shell],
            env=surroundings,
            input=b"",
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), closed


def test_what_is_printed_by_chance_never_gets_among_the_answers(surroundings: dict[str, str]) -> None:
    loud = Started(surroundings, "-c", STRAY)
    assert loud.ask(call("files"))["result"]["content"][0]["text"] == "heard"
    code, out, err = loud.end()
    assert (code, out) == (0, b"")
    assert b"strays" in err


def test_a_megabyte_is_answered_and_so_is_what_follows(started: Started) -> None:
    said = started.ask(call("remember", text="x" * 1_000_000))["result"]
    assert said["isError"]
    assert "give at most 100,000" in said["content"][0]["text"]
    assert started.ask(call("remember", text="x" * 5_000_000))["error"]["code"] == -32600
    assert started.ask(request("ping"))["result"] == {}


def test_arguments_are_refused(surroundings: dict[str, str]) -> None:
    code, out, err = Started(surroundings, "-m", "told", "mcp", "now").end()
    assert (code, out) == (2, b"")
    assert b"takes no arguments" in err
