"""What a call of told costs on a developer's history, beside auto-memory on the same files."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, faults, histories, measure, story, tools
from benchmarks.measure import Command
from benchmarks.tools import Peer
from benchmarks.words import Language

SIZES = ((400, 4_600), (5_000, 58_000))
MILLION = 1_000_000
PROJECT = "acme-api"
_LEAN = story.Shape(sentences=(1, 4), calls=(0, 0), compacted=0.01)
_EVER = ("--days", "36500")

HOW = (
    "Half of the sessions are Copilot CLI's, half Claude Code's. Every figure is a fresh process in a "
    "project folder; all commands and a bare `python -c pass` of the same environment run in shuffled "
    "rounds after one that is not counted. CPU is user and system time of the process from wait4; ms "
    "are medians, x is the multiple of `python -c pass` in the same rounds. Tokens are bytes / 4. For "
    "the costs auto-memory has its backends and age limits switched to read everything; in the table "
    "of faults its age limits are the defaults. The faults are those already known of auto-memory, so "
    "the table is no fair sample of what either tool does well; faults 7 and parts of 13 and 14 have "
    "no command and are left out."
)


class Row(NamedTuple):
    """A command under the name it has in the report."""

    command: Command
    as_json: Command | None = None  # the same with JSON output, where that is another command


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--million", action="store_true", help="also search in a million turns (minutes)")
    parser.add_argument("--rounds", type=int, default=0, help="how often each command runs")
    parser.add_argument("--sessions", type=int, default=0, help="one size of this many sessions only")
    parser.add_argument("--turns", type=int, default=0, help="the turns of that one size")
    parser.add_argument("--alone", action="store_true", help="leave auto-memory and the table of faults out")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure all sizes and return the figures."""
    sizes = SIZES[:1] if arguments.quick else SIZES
    if arguments.sessions:
        sizes = ((arguments.sessions, max(arguments.sessions, arguments.turns)),)
    count = arguments.rounds or (7 if arguments.quick else 20)
    now = int(time.time() * 1000)
    peer = tools.Peer("", "left out") if arguments.alone else tools.install_peer()
    figures: dict[str, Any] = {"benchmark": "recall", "machine": measure.machine(), "peer": peer.figures()}
    figures["sizes"] = {
        f"{sessions:,} sessions, {turns:,} turns": _one_size(sessions, turns, now, count, peer)
        for sessions, turns in sizes
    }
    if arguments.million:
        figures["million"] = _million(now, count)
    figures["faults"] = [] if arguments.alone else faults.table(peer, now)
    figures["how"] = HOW
    return figures


def _one_size(sessions: int, turns: int, now: int, count: int, peer: Peer) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="told-bench-") as home:
        _say(f"generating {sessions:,} sessions with {turns:,} turns")
        language = Language(1)
        half = sessions // 2
        histories.copilot(home, half, turns // 2, now=now, language=language)
        written = histories.claude(home, sessions - half, turns - turns // 2, now=now, language=language)
        _say("indexing")
        indexed = tools.index(home)
        measure.once(tools.told(home, "remember", "The cache lives in Redis"))  # search looks there as well
        rows = _told(home)
        if peer.folder:
            rows |= _peers(peer, home, written.last.id)
        _say(f"measuring {len(rows)} commands in {count} rounds")
        timings = measure.rounds({name: row.command for name, row in rows.items()}, count)
        costs = {name: timing.figures() | _output(rows.get(name)) for name, timing in timings.items()}
        return {
            "index": {
                "cpu_s": round(indexed.cpu, 2), "wall_s": round(indexed.wall, 2), "peak_mb": indexed.peak_mb,
            },
            "commands": costs,
        }  # fmt: skip


def _told(home: str) -> dict[str, Row]:
    folder = os.path.join(home, "src", PROJECT)
    listed = measure.once(tools.told(home, "list", "--all-projects", "--json", "--limit", "1"))
    try:
        newest = str(json.loads(listed.out)["sessions"][0]["id"])
    except (ValueError, KeyError, IndexError) as error:
        said = (listed.errors or listed.out).strip()[-300:]
        raise CannotMeasureError(f"`told list --json` shows no session: {said}") from error
    commands = {
        "list": ("list", "--limit", "5"),
        "files": ("files", "--limit", "10"),
        "search rare word": ("search", story.RARE_WORD, "--all-projects"),
        "search two words": ("search", story.TWO_WORDS, "--all-projects"),
        "search question": ("search", story.QUESTION, "--all-projects"),
        "search in project": ("search", story.QUESTION),
        "show": ("show", newest),
        "checkpoints": ("checkpoints",),
        "repos": ("repos",),
        "health": ("health",),
    }
    return {
        f"told {name}": Row(
            tools.told(home, *words, folder=folder), tools.told(home, *words, "--json", folder=folder)
        )
        for name, words in commands.items()
    }


def _peers(peer: Peer, home: str, claude_id: str) -> dict[str, Row]:
    folder = os.path.join(home, "src", PROJECT)
    measure.once(tools.peer(peer, home, "session-recall-cc", "index"))
    listed = measure.once(
        tools.peer(peer, home, "session-recall", "list", "--repo", "all", "--json", "--limit", "1", *_EVER)
    )
    try:
        copilot_id = str(json.loads(listed.out)["sessions"][0]["id_full"])
    except (ValueError, KeyError, IndexError):
        copilot_id = "0000"
    everywhere = ("--repo", "all", "--json", *_EVER)
    main = {
        "list": ("list", "--limit", "5", "--json", *_EVER),
        "files": ("files", "--limit", "10", "--json"),
        "search rare word": ("search", story.RARE_WORD, *everywhere),
        "search two words": ("search", story.TWO_WORDS, *everywhere),
        "search question": ("search", story.QUESTION, *everywhere),
        "show": ("show", copilot_id, "--json"),
        "checkpoints": ("checkpoints", "--json"),
        "repos": ("repos", "--json", *_EVER),
        "health": ("health", "--json"),
    }
    claude = {
        "list": ("list", "--limit", "5", *_EVER),
        "files": ("files", "--limit", "10"),
        "search rare word": ("search", story.RARE_WORD, *_EVER),
        "search two words": ("search", story.TWO_WORDS, *_EVER),
        "search question": ("search", story.QUESTION, *_EVER),
        "show": ("show", claude_id),
        "health": ("health",),
    }
    rows = {
        f"peer {name}": Row(tools.peer(peer, home, "session-recall", *words, folder=folder))
        for name, words in main.items()
    }
    return rows | {
        f"peer-cc {name}": Row(tools.peer(peer, home, "session-recall-cc", *words, folder=folder))
        for name, words in claude.items()
    }


def _output(row: Row | None) -> dict[str, Any]:
    """Say how large a command's answer is and how it ended."""
    if row is None:
        return {"tokens": 0, "tokens_json": 0, "code": 0}
    ran = measure.once(row.command)
    as_json = measure.once(row.as_json).out if row.as_json else ran.out
    return {"tokens": measure.tokens(ran.out), "tokens_json": measure.tokens(as_json), "code": ran.code}


def _million(now: int, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="told-bench-") as home:
        _say("generating a million turns")
        language = Language(5)
        sessions = MILLION // 24
        histories.copilot(
            home, sessions, MILLION // 2, now=now, shape=_LEAN, searchable=False, language=language
        )
        histories.claude(home, sessions, MILLION // 2, now=now, shape=_LEAN, language=language, framed=False)
        _say("indexing a million turns")
        indexed = tools.index(home)
        measure.once(tools.told(home, "remember", "The cache lives in Redis"))  # search looks there as well
        searches = {name: row for name, row in _told(home).items() if name.startswith("told search")}
        timings = measure.rounds({name: row.command for name, row in searches.items()}, count)
        costs = {name: timing.figures() | _output(searches.get(name)) for name, timing in timings.items()}
        index = {"cpu_s": round(indexed.cpu, 1), "wall_s": round(indexed.wall, 1), "peak_mb": indexed.peak_mb}
        return {"index": index, "commands": costs}


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
