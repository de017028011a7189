"""What `told list` and `told search` cost in a pipe, with and without the service, and at a terminal."""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import random
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable
from typing import Any

from benchmarks import CannotMeasureError, histories, measure, story, tools
from benchmarks.measure import Command
from benchmarks.tools import Peer
from benchmarks.words import Language
from told.service import control

SESSIONS, TURNS = 5_000, 58_000
PROJECT = "acme-api"
FLOOR = measure.BARE
_EVER = ("--days", "36500")
_SCREEN = struct.pack("HHHH", 60, 100, 0, 0)  # rows and columns of the terminal

HOW = (
    "CPU is user and system time of a fresh process in a project folder, plus what the service used for the "
    "answer; ms are medians, x is the multiple of `python -c pass` of the same environment and rounds. "
    "Half of the sessions are Copilot CLI's, half Claude Code's. auto-memory reads all of them, without its "
    "limits on age."
)


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--turns", type=int, default=0, help="how many turns the history has")
    parser.add_argument("--rounds", type=int, default=0, help="how often each command runs")
    parser.add_argument("--home", default="", help="where to keep the history for the next run")
    parser.add_argument("--alone", action="store_true", help="leave auto-memory out")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure all commands in all ways and return the figures."""
    turns = arguments.turns or (4_600 if arguments.quick else TURNS)
    rounds = max(7, arguments.rounds or (7 if arguments.quick else 15))
    peer = Peer("", "left out") if arguments.alone else tools.install_peer()
    with tempfile.TemporaryDirectory(prefix="told-bench-") as scratch:
        home = arguments.home or scratch
        if not os.path.exists(os.path.join(home, ".told", "sessions.db")):
            _make_history(home, turns)
        costs = _measure(home, rounds, peer)
    return {
        "benchmark": "commands", "machine": measure.machine(), "peer": peer.figures(), "turns": turns,
        "rounds": rounds, "commands": costs, "how": HOW,
    }  # fmt: skip


def _make_history(home: str, turns: int) -> None:
    print(f"making {turns:,} turns …", file=sys.stderr, flush=True)
    language, now = Language(1), int(time.time() * 1000)
    half = max(1, turns * SESSIONS // TURNS // 2)
    histories.copilot(home, half, turns // 2, now=now, language=language)
    histories.claude(home, half, turns - turns // 2, now=now, language=language)
    tools.index(home)
    measure.once(tools.told(home, "remember", "The cache lives in Redis"))  # search looks there as well


def _measure(home: str, rounds: int, peer: Peer) -> dict[str, Any]:
    folder = os.path.join(home, "src", PROJECT)
    words = {
        "list": ("list",),
        "search, a rare word": ("search", story.RARE_WORD, "--all-projects"),
        "search, two words": ("search", *story.TWO_WORDS.split()),
        "search, a question": ("search", story.QUESTION),
    }
    commands = {name: tools.told(home, *one, folder=folder) for name, one in words.items()}
    floor = next(iter(commands.values()))._replace(words=[sys.executable, "-c", "pass"])
    ways: dict[str, tuple[Callable[[Command], float], dict[str, Command]]] = {
        "pipe": (_in_pipe, {FLOOR: floor, **commands}),
        "terminal": (_at_terminal, commands),
    }
    if peer.folder:
        measure.once(tools.peer(peer, home, "session-recall-cc", "index"))
        ways["auto-memory"] = (_in_pipe, _peer_commands(peer, home, folder))
    service = _Service(home)
    service.stop()
    taken = _rounds(ways, rounds)
    service.start(floor)
    try:
        taken |= _rounds({"service": (service.measure, commands)}, rounds)
    finally:
        service.stop()
    bare = statistics.median(taken["pipe"][FLOOR])
    return {
        way: {
            name: {"cpu_ms": round(median * 1000, 1), "x": round(median / bare, 2)}
            for name, one in found.items()
            for median in [statistics.median(one)]
        }
        for way, found in taken.items()
    }


def _peer_commands(peer: Peer, home: str, folder: str) -> dict[str, Command]:
    words = {
        "list": ("list", "--json", *_EVER),
        "search, a rare word": ("search", story.RARE_WORD, "--repo", "all", "--json", *_EVER),
        "search, two words": ("search", story.TWO_WORDS, "--json", *_EVER),
        "search, a question": ("search", story.QUESTION, "--json", *_EVER),
    }
    return {
        name: tools.peer(peer, home, "session-recall", *one, folder=folder) for name, one in words.items()
    }


def _rounds(
    ways: dict[str, tuple[Callable[[Command], float], dict[str, Command]]], count: int
) -> dict[str, dict[str, list[float]]]:
    """Run every command in every way `count` times, each round in another order."""
    order = [(way, name) for way, (_, commands) in ways.items() for name in commands]
    taken: dict[str, dict[str, list[float]]] = {way: {} for way in ways}
    shuffler = random.Random(1)
    for round_ in range(count + 1):  # the first fills caches
        shuffler.shuffle(order)
        for way, name in order:
            take, commands = ways[way]
            cpu = take(commands[name])
            if round_:
                taken[way].setdefault(name, []).append(cpu)
    return taken


def _in_pipe(command: Command) -> float:
    ran = measure.once(command)
    if ran.code:
        raise CannotMeasureError(f"{command.words} ended with {ran.code}: {ran.errors.strip()[-300:]}")
    return ran.cpu


def _at_terminal(command: Command) -> float:
    """Run a command at a pseudo-terminal and return its CPU time in seconds."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, _SCREEN)
    environ = dict(command.environ) | {"TERM": "xterm-256color"}
    child = measure.spawn(command._replace(environ=environ), theirs, theirs)
    os.close(theirs)
    reader = threading.Thread(target=_drain, args=(ours,))
    reader.start()
    _, status, used = os.wait4(child, 0)
    reader.join()
    os.close(ours)
    if os.waitstatus_to_exitcode(status):
        raise CannotMeasureError(f"{command.words} ended with {os.waitstatus_to_exitcode(status)}.")
    return used.ru_utime + used.ru_stime


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 1 << 16):
            pass
    except OSError:  # Linux says so when the other end is closed
        return


class _Service:
    """The service of a history."""

    def __init__(self, home: str) -> None:
        self._home = os.path.join(home, ".told")

    def start(self, command: Command) -> None:
        """Start it in the environment of a command."""
        control.start(self._home, dict(command.environ) | {"TOLD_BACKGROUND": "on"})

    def stop(self) -> None:
        """Stop it."""
        control.stop(self._home)

    def measure(self, command: Command) -> float:
        """Return the CPU seconds of a command and of the service for it."""
        before = self._cpu_ms()
        cpu = _in_pipe(command)
        return cpu + (self._cpu_ms() - before) / 1000

    def _cpu_ms(self) -> float:
        pong = control.ping(self._home)
        if pong is None:
            raise CannotMeasureError("The service does not answer.")
        return pong.cpu_ms
