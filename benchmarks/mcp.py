"""What an MCP server costs an agent: start, calls, memory and schemas, beside the servers of others."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, mcp_bank, mcp_peers, measure
from benchmarks.mcp_peers import Server
from benchmarks.mcp_talk import Talk
from told.text import count_tokens

TOLD, BARE = "told mcp", measure.BARE
_CALLS = 100
_MOST_X, _MOST_MB, _MOST_TOKENS = 3.0, 30.0, 1_000

HOW = (
    "A bare Python and every server are started in the same shuffled rounds, after one that is not counted. "
    "A server's start is the time from the start of its process until its tools are listed: initialize, "
    "initialized, tools/list, each sent when the one before was answered, over standard streams or, where a "
    "server has only that, over HTTP. CPU is the user and system time of the whole process, its end "
    "included, from wait4. ms are medians, x multiples of python -c pass. Then each server is started once "
    "more: every tool is called once (of agentmemory, those that need no further files), and one that only "
    "reads is called again as often as stated. Memory is VmRSS after the tools are listed and after all "
    "calls, and VmHWM at the end, which counts the pages of a database that were mapped while a call ran. "
    "Tokens are those of the list of tools as it comes over the wire, as compact JSON: characters by 4, and "
    "by told's own estimate, bytes by 3.5, which the goal is held against. told has a generated history and "
    "generated memories, or the history in --data; the others have an empty store. A server on the SDK does "
    "nothing but give back what it is given."
)


class Start(NamedTuple):
    """One start of a server, in seconds."""

    wall: float
    cpu: float


class Answered(NamedTuple):
    """What the first call of a tool came to."""

    first_ms: float
    answer_tokens: int
    why_not: str  # empty if it was answered well


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--rounds", type=int, default=0, help="how often each server is started")
    parser.add_argument("--alone", action="store_true", help="leave the other servers out")
    parser.add_argument("--peers", default="", help="the folder that other tools are installed into")
    parser.add_argument(
        "--source", action="append", default=[], metavar="NAME=FOLDER",
        help="install this tool from its source, where the package index does not have it",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure told's server beside the others."""
    count = arguments.rounds or (3 if arguments.quick else 20)
    calls = 10 if arguments.quick else _CALLS
    sources = dict(word.split("=", 1) for word in arguments.source if "=" in word)
    with tempfile.TemporaryDirectory(prefix="told-bench-") as folder:
        own = mcp_bank.served(folder, arguments.data, quick=arguments.quick)
        _say("installing other servers")
        peers = mcp_peers.none() if arguments.alone else mcp_peers.installed(arguments.peers, folder, sources)
        servers = {TOLD: own.server, **peers.servers}
        _say(f"starting {len(servers)} servers in {count} rounds")
        starts = _rounds(servers, count)
        _say("calling every tool")
        asked = {name: _asked(server, calls) for name, server in servers.items()}
    start = {name: _start(found, starts[BARE]) for name, found in starts.items()}
    return {
        "benchmark": "mcp",
        "machine": measure.machine(),
        "rounds": count,
        "calls": calls,
        "memories": own.memories,
        "sessions": own.sessions,
        "goals": _goals(start[TOLD], asked[TOLD]),
        "start": start,
        "call": {name: found["call"] for name, found in asked.items()},
        "memory": {name: found["memory"] for name, found in asked.items()},
        "schemas": {name: found["schemas"] for name, found in asked.items()},
        "tools_of_told": asked[TOLD]["tools"],
        "calls_that_failed": {
            f"{name} {tool}": why for name, found in asked.items() for tool, why in found["failures"].items()
        }
        or "none",
        "other_servers": peers.state,
        "how": HOW,
    }


def _rounds(servers: Mapping[str, Server], count: int) -> dict[str, list[Start]]:
    order = [BARE, *servers]
    shuffler = random.Random(1)
    starts: dict[str, list[Start]] = {name: [] for name in order}
    bare = servers[TOLD].command._replace(words=[sys.executable, "-c", "pass"])
    for counted in [False, *[True] * count]:
        shuffler.shuffle(order)
        for name in order:
            found = _once(servers[name]) if name in servers else _bare(bare)
            starts[name] += [found] if counted else []
    return starts


def _bare(command: measure.Command) -> Start:
    ran = measure.once(command)
    return Start(ran.wall, ran.cpu)


def _once(server: Server) -> Start:
    with Talk(server.command, server.url) as talk:
        talk.listed()
        wall = time.perf_counter() - talk.began
        return Start(wall, talk.end())


def _start(found: Sequence[Start], bare: Sequence[Start]) -> dict[str, float]:
    wall, cpu = (statistics.median(values) for values in zip(*found, strict=True))
    bare_wall, bare_cpu = (statistics.median(values) for values in zip(*bare, strict=True))
    least = min(one.wall for one in found)
    return {
        "listed_ms": round(wall * 1000, 1), "listed_min_ms": round(least * 1000, 1),
        "cpu_ms": round(cpu * 1000, 1), "listed_x": round(wall / bare_wall, 2),
        "listed_min_x": round(least / min(one.wall for one in bare), 2), "cpu_x": round(cpu / bare_cpu, 2),
    }  # fmt: skip


def _asked(server: Server, count: int) -> dict[str, Any]:
    """Call every tool of a server once, and the cheap one many times."""
    with Talk(server.command, server.url) as talk:
        listed = talk.listed()
        begun = talk.memory()
        answers = {name: _called(talk, name, given) for name, given in server.calls.items()}
        name, given = server.cheap
        took = [talk.call(name, given)[0] * 1000 for _ in range(count)]
        ended = talk.memory()
        instructions = talk.instructions
    wire = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return {
        "call": {
            "tool": name, "median_ms": round(statistics.median(took), 2), "min_ms": round(min(took), 2),
            "tools_called": len(answers), "failed": sum(bool(one.why_not) for one in answers.values()),
        },
        "memory": {"listed_mb": begun.now, "called_mb": ended.now, "peak_mb": ended.peak},
        "schemas": {
            "tools": len(listed), "characters": len(wire), "tokens_by_4": -(-len(wire) // 4),
            "tokens": count_tokens(wire), "instructions_tokens": count_tokens(instructions),
        },
        "tools": {
            tool: {"first_ms": one.first_ms, "answer_tokens": one.answer_tokens, "failed": bool(one.why_not)}
            for tool, one in answers.items()
        },
        "failures": {tool: one.why_not for tool, one in answers.items() if one.why_not},
    }  # fmt: skip


def _called(talk: Talk, name: str, given: Mapping[str, Any]) -> Answered:
    try:
        took, text, failed = talk.call(name, given)
    except CannotMeasureError as error:
        return Answered(0.0, 0, str(error)[:200])
    said = " ".join(text.split())[:200]
    return Answered(round(took * 1000, 1), count_tokens(text), (said or "no text") if failed else "")


def _goals(start: Mapping[str, float], asked: Mapping[str, Any]) -> dict[str, Any]:
    reached = {
        "tools listed, multiple": (start["listed_x"], _MOST_X),
        "memory after calls, MB": (asked["memory"]["called_mb"], _MOST_MB),
        "tokens of all schemas": (asked["schemas"]["tokens"], _MOST_TOKENS),
    }
    return {
        name: {"figure": figure, "goal": most, "reached": figure <= most}
        for name, (figure, most) in reached.items()
    }


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
