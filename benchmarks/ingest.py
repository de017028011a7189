"""How fast told reads Claude Code's transcripts in, beside the least that this can cost."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from typing import Any

from benchmarks import claude_files, histories, measure, story, tools
from benchmarks.floor import transcripts
from benchmarks.histories import Written
from benchmarks.measure import Command, Ran

_TINY = story.Shape(sentences=(1, 2), calls=(0, 1), output=(100, 400))
NEW_WORD = "wintergreenlantern"

HOW = (
    "Transcripts are generated with the kinds of lines that real ones have, in estimated shares (see "
    "mix_of_bytes), and read by `told index` into an empty folder, as one process; CPU is its user "
    "and system time, peak its largest resident memory. Both cold figures are single runs. The floor "
    "is one process in the same run that parses every line of the same files with json.loads and "
    "inserts the same texts into a bare FTS5 table (porter unicode61) through apsw, 5,000 rows a "
    "transaction. The sweep is `told index` again when no file has changed, in shuffled rounds with a "
    "bare Python. The archive is what told then writes in the background, by default, and learning is what "
    "it does there after that, here on words without meaning. The appended turn is searched for by the very "
    "next call, which learns nothing."
)


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--megabytes", type=float, default=0.0, help="how much to read in (default 1000)")
    parser.add_argument("--files", type=int, default=0, help="the files of the sweep (default 5000)")
    parser.add_argument("--rounds", type=int, default=0, help="how often the sweep runs")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a cold read, a sweep without changes, and one appended turn."""
    megabytes = arguments.megabytes or (50 if arguments.quick else 1000)
    files = arguments.files or (500 if arguments.quick else 5000)
    now = int(time.time() * 1000)
    figures: dict[str, Any] = {"benchmark": "ingest", "machine": measure.machine()}
    with tempfile.TemporaryDirectory(prefix="told-bench-") as home:
        figures |= _cold(home, megabytes, now)
    with tempfile.TemporaryDirectory(prefix="told-bench-") as home:
        figures["sweep"] = _sweep(home, files, now, arguments.rounds or (5 if arguments.quick else 15))
    figures["how"] = HOW
    return figures


def _cold(home: str, megabytes: float, now: int) -> dict[str, Any]:
    _say(f"generating {megabytes:,.0f} MB")
    began = time.perf_counter()
    written = histories.claude_bulk(home, megabytes, now=now)
    seconds = time.perf_counter() - began
    size = written.bytes / 1_000_000
    _say("measuring the floor")
    with tempfile.TemporaryDirectory(prefix="told-bench-") as other:
        words = [sys.executable, "-m", "benchmarks.floor", home, os.path.join(other, "floor.db")]
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environ = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
        floor = measure.heavy(Command(words, environ, root))
    assert floor.code == 0, floor.errors
    _say("indexing")
    cold, archive = tools.index_then_sweep(home)
    learned = tools.learn(home)
    return {
        "history": {
            "megabytes": round(size, 1),
            "files": written.sessions,
            "turns": written.turns,
            "generated_mb_s": round(size / seconds, 1),
        },
        "mix_of_bytes": _mix(home),
        "cold": {"told": _speed(cold, size), "floor": _speed(floor, size)},
        "archive_afterwards_cpu_s": round(archive.cpu, 2),
        "learning_afterwards_cpu_s": round(learned.cpu, 2),
        "told_x_floor_cpu": round(cold.cpu / floor.cpu, 2),
        "told_with_archive_x_floor_cpu": round((cold.cpu + archive.cpu) / floor.cpu, 2),
        "told_x_floor_wall": round(cold.wall / floor.wall, 2),
        "appended": _append(home, written),
    }


def _speed(ran: Ran, size: float) -> dict[str, float]:
    return {
        "cpu_s": round(ran.cpu, 2),
        "wall_s": round(ran.wall, 2),
        "mb_per_cpu_s": round(size / ran.cpu, 2),
        "mb_per_wall_s": round(size / ran.wall, 2),
        "peak_mb": ran.peak_mb,
    }


def _append(home: str, written: Written) -> dict[str, Any]:
    """Add a turn to the newest file and search for its word."""
    turn = story.Turn(
        int(time.time() * 1000), f"Call the next release {NEW_WORD}", "Noted, that is its name."
    )
    with open(written.newest, "a", encoding="utf-8") as file:
        file.write(claude_files.turn_lines(written.last, turn, random.Random(9)))
    ran = measure.once(tools.told(home, "search", NEW_WORD, "--all-projects", "--json"))
    # The answer repeats the query, so only the sentence around the word shows that it was found.
    return {
        "found": "next release" in ran.out,
        "code": ran.code,
        "cpu_ms": round(ran.cpu * 1000, 1),
        "wall_ms": round(ran.wall * 1000, 1),
    }


def _sweep(home: str, files: int, now: int, count: int) -> dict[str, Any]:
    _say(f"sweeping {files:,} files")
    histories.claude(home, files, files * 2, now=now, shape=_TINY)
    first = tools.index(home)
    timings = measure.rounds({"told index": tools.told(home, "index")}, count)
    bare, told = timings[measure.BARE], timings["told index"]
    return {
        "files": files,
        "first_cpu_s": round(first.cpu, 2),
        "cpu_ms": round(told.cpu_ms, 1),
        "cpu_ms_over_bare": round(told.cpu_ms - bare.cpu_ms, 1),
        "wall_ms": round(told.wall_ms, 1),
        "cpu_x": round(told.cpu_x, 2),
        "bare_cpu_ms": round(bare.cpu_ms, 1),
    }


def _mix(home: str) -> dict[str, float]:
    """Say how the bytes are shared among the kinds of lines, from the first few files."""
    shares: dict[str, int] = {}
    for path, _ in zip(transcripts(home), range(20), strict=False):
        with open(path, "rb") as file:
            for line in file:
                record = json.loads(line)
                kind = str(record["type"])
                if kind in ("user", "assistant"):
                    content = record["message"]["content"]
                    kind = "prompt" if isinstance(content, str) else str(content[0]["type"])
                shares[kind] = shares.get(kind, 0) + len(line)
    total = sum(shares.values())
    return {kind: round(size / total, 3) for kind, size in sorted(shares.items(), key=lambda item: -item[1])}


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
