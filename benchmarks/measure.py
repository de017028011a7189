"""Measures what a command costs: CPU and wall time, and the most memory it held.

Machines are busy and differ, so figures are taken in shuffled rounds beside a bare Python of the same
environment and given as multiples of it.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

BARE = "python -c pass"
BARE_ISOLATED = "python -I -S -c pass"

# Linux counts the memory of the program that starts another one as the other one's peak, so a
# small one stands between: it moves to the folder, runs the command and writes down what it cost.
_LAUNCHER = """
import os, sys, time
report, folder, *command = sys.argv[1:]
os.chdir(folder)
began = time.perf_counter()
child = os.posix_spawn(command[0], command, os.environ)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - began
with open(report, "w") as file:
    print(used.ru_utime + used.ru_stime, wall, used.ru_maxrss, os.waitstatus_to_exitcode(status), file=file)
"""


class Command(NamedTuple):
    """A program with its arguments, its environment and the folder it runs in."""

    words: list[str]
    environ: Mapping[str, str]
    folder: str
    stdin: str = os.devnull  # the file that it reads


class Ran(NamedTuple):
    """What one run of a command cost, and what it said."""

    cpu: float  # seconds, user and system
    wall: float  # seconds
    code: int
    out: str
    errors: str
    peak_mb: float = 0.0


class Timing(NamedTuple):
    """The cost of a command over all rounds, in milliseconds and as multiples of a bare Python."""

    cpu_ms: float
    cpu_min_ms: float
    wall_ms: float
    wall_min_ms: float
    cpu_x: float
    wall_x: float

    def figures(self) -> dict[str, float]:
        """Return the figures, rounded for a report."""
        return {name: round(value, 2) for name, value in self._asdict().items()}


def once(command: Command) -> Ran:
    """Run a command to its end and say what it cost. Its memory is not measured."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = spawn(command, out.fileno(), errors.fileno())
        _, status, used = os.wait4(child, 0)
        wall = time.perf_counter() - began
        out.seek(0)
        errors.seek(0)
        return Ran(
            used.ru_utime + used.ru_stime,
            wall,
            os.waitstatus_to_exitcode(status),
            out.read().decode(errors="replace"),
            errors.read().decode(errors="replace"),
        )


def heavy(command: Command) -> Ran:
    """Run a long command once, with its peak memory, which the memory of this process does not touch."""
    with tempfile.NamedTemporaryFile("r") as report:
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, report.name, command.folder, *command.words]
        ran = once(command._replace(words=launcher))
        cpu, wall, peak, code = (float(word) for word in report.read().split() or ("0", "0", "0", "1"))
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Ran(cpu, wall, int(code), ran.out, ran.errors, round(peak / unit, 1))


def rounds(commands: Mapping[str, Command], count: int, seed: int = 1) -> dict[str, Timing]:
    """Run every command and two bare Pythons `count` times, each round in another order."""
    any_one = next(iter(commands.values()))
    everyone = {
        BARE: any_one._replace(words=[sys.executable, "-c", "pass"]),
        BARE_ISOLATED: any_one._replace(words=[sys.executable, "-I", "-S", "-c", "pass"]),
        **commands,
    }
    ran = shuffled(everyone, count, seed)
    cpu = statistics.median(run.cpu for run in ran[BARE])
    wall = statistics.median(run.wall for run in ran[BARE])
    return {name: timing(ran[name], cpu, wall) for name in everyone}


def shuffled(
    commands: Mapping[str, Command], count: int, seed: int = 1, before: Callable[[str], object] | None = None
) -> dict[str, list[Ran]]:
    """Run every command `count` times, each round in another order.

    Args:
        commands: By name.
        count: The number of rounds; one more before them fills caches and is not counted.
        seed: The same gives the same orders.
        before: Called with the name of a command right before each of its runs.
    """
    order = list(commands)
    shuffler = random.Random(seed)
    ran: dict[str, list[Ran]] = {name: [] for name in order}
    for counted in [False, *[True] * count]:
        if counted:
            shuffler.shuffle(order)
        for name in order:
            if before:
                before(name)
            found = once(commands[name])
            if counted:
                ran[name].append(found)
    return ran


def timing(ran: Sequence[Ran], bare_cpu: float, bare_wall: float) -> Timing:
    """Sum the runs of one command up, beside what a bare Python took."""
    cpu = statistics.median(run.cpu for run in ran)
    wall = statistics.median(run.wall for run in ran)
    return Timing(
        cpu * 1000,
        min(run.cpu for run in ran) * 1000,
        wall * 1000,
        min(run.wall for run in ran) * 1000,
        cpu / bare_cpu,
        wall / bare_wall,
    )


def tokens(text: str) -> int:
    """Estimate how many tokens a text costs a model: a quarter of its bytes."""
    return -(-len(text.encode()) // 4)


def machine() -> dict[str, Any]:
    """Describe what the figures were taken on, as far as it matters for comparing them."""
    load = os.getloadavg()[0]
    return {
        "cores": os.cpu_count() or 1,
        "load": round(load, 1),
        "python": sys.version.split()[0],
        "system": sys.platform,
    }


def spawn(command: Command, out: int, errors: int) -> int:
    """Start a command with these files for what it prints; return its process id."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, command.stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out, 1),
        (os.POSIX_SPAWN_DUP2, errors, 2),
    ]
    # A spawned child takes over the current folder; there is only one thread here that could mind.
    here = os.getcwd()
    os.chdir(command.folder)
    try:
        return os.posix_spawn(command.words[0], command.words, command.environ, file_actions=actions)
    finally:
        os.chdir(here)
