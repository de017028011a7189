"""told as a process that is killed, or that dies by itself at a chosen step."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import told
from tests.cli.machine import NOW, Machine
from tests.forked_program import Forked
from told.journal.files import Operation
from told.journal.read import read_operations

# Runs told with the clock of the tests. With DIE_AT it dies at the so-many-th time that it hands something to
# the system: just before, just after, or half-way through what it writes, behind the first of several lines.
# DIE_ON counts the calls of one function only.
CHILD = f"""
import os, signal, sys, time
sys.path.insert(0, {str(Path(told.__file__).parents[1])!r})
time.time_ns = lambda: {int(NOW.timestamp())} * 10**9
left = int(os.environ.pop("DIE_AT", "0"))
how = os.environ.pop("DIE_HOW", "")
only = os.environ.pop("DIE_ON", "")
calls = 0
def watched(name):
    real = getattr(os, name)
    def call(*given, **named):
        global calls
        calls += 1
        if calls != left:
            return real(*given, **named)
        if how == "after":
            real(*given, **named)
        if how == "torn":
            first = given[1].find(b"\\n") + 1
            real(given[0], given[1][: first + 8 if first < len(given[1]) else first // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(os, name, call)
if left:
    more = ("fsync", "fdatasync", "replace", "rename", "link", "ftruncate", "unlink", "remove")
    for name in (only,) if only else ("write", *(more if how != "torn" else ())):
        watched(name)
from told.cli.main import main
sys.exit(main(sys.argv[1:], dict(os.environ)))
"""


def start(machine: Machine, *words: str, **environ: str) -> Forked:
    return Forked(CHILD, words, machine.environ | environ, machine.home / "work/shop")


def run(machine: Machine, *words: str, **environ: str) -> int:
    """Run a command to its end, whatever that is; return its exit code."""
    child = start(machine, *words, **environ)
    _, err = child.communicate(timeout=120)
    assert b"Traceback" not in err, err.decode()
    return child.returncode


def kill_after(child: Forked, seconds: float) -> int:
    """Kill a process after some time; return its exit code."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    child.communicate(timeout=120)
    return child.returncode


def sound(machine: Machine) -> None:
    """Check that told works as if nothing had happened, with no step to repair it."""
    answer = machine.told("health", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = [
        one for one in read_operations(str(machine.told_home / "journal")) if not isinstance(one, Operation)
    ]
    assert {one.what.split(" at ")[0] for one in found} <= {"cut off"}
