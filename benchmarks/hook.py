"""Measure every hook as installed, beside a bare Python and the hooks of other tools."""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import CannotMeasureError, brief, hook_banks, hook_peers, measure
from benchmarks.measure import Command, Ran
from benchmarks.wired import MOMENTS, PROMPT, Bank, Machine
from told.capture.statements import capture
from told.install.place import launch

_SIZES = (1_000, 10_000, 100_000)
TRUE, BARE, ISOLATED = "/bin/true", measure.BARE, measure.BARE_ISOLATED
TEACHES = "prompt that teaches"
NOTHING = "prompt, teaches nothing"
NOT_LEARNED = "· those that told learns nothing from"
_TOOLS = ("PreToolUse", "PostToolUse")
_LIMIT = 1.0  # seconds that agents wait for a prompt's answer
_SERVED, _IN_PROCESS = "with_the_service", "in_process"
# As multiples of the CPU of a bare isolated Python.
_GOALS = (
    (_SERVED, 10_000, NOTHING, 2.5), (_SERVED, 100_000, NOTHING, 3.3), (_SERVED, 10_000, TEACHES, 4.5),
    (_IN_PROCESS, 10_000, NOTHING, 20.0), (_IN_PROCESS, 100_000, NOTHING, 20.0),
)  # fmt: skip
_NOT_GIVEN = "not given; --agents-json takes what `python -m lab --json` printed"

HOW = (
    "Stores are generated as for the benchmark brief. For each, `told install --agent claude-code` runs in a "
    "scratch home, and the command that it wrote into settings.json runs as Claude Code runs it: the line in "
    "a shell, the agent's JSON on standard input, a session of its own each time. CPU is user and system "
    "time of the process and its children, from wait4; with the service, plus the CPU that the service "
    "spent on the call, by its own account. In process there is no service. All commands, the bare Pythons "
    "(the installed interpreter) and the hooks of other tools come in shuffled rounds, after one that is "
    "not counted. ms are medians, x multiples of python -I -S -c pass. The prompts that teach nothing are "
    "those of the benchmark brief, or of the project in --data; their mean is given first, and includes "
    "those that told mistakes for a statement, which are named; the mean of the others follows. A prompt "
    "that teaches says something new each time, on a copy of the store, which grows by it; kept is the "
    "share of the statements that are in the journal afterwards. Stop and end are those of a session with "
    "200 turns; at a stop with a new turn, and at a compaction, one was added just before. answered is the "
    "share of the calls that were answered with a text; late of those that took longer than a second. Other "
    "tools were installed by their own command into the same agent, in a home and a project of their own, "
    "with an empty store."
)


def options(parser: argparse.ArgumentParser) -> None:
    """Add what only this benchmark takes."""
    parser.add_argument("--rounds", type=int, default=0, help="how often each hook is called")
    parser.add_argument("--sizes", default="", help="numbers of memories, with commas between them")
    parser.add_argument("--peers", default="", help="the folder that other tools are installed into")
    parser.add_argument("--alone", action="store_true", help="leave the other tools out")
    parser.add_argument("--agents-json", default="", help="what `python -m lab --json` printed")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure all hooks at each size."""
    recorded = _recorded(arguments.agents_json)
    count = arguments.rounds or (5 if arguments.quick else 15)
    given = [int(size) for size in arguments.sizes.split(",") if size]
    sizes = given or list(_SIZES[:2] if arguments.quick else _SIZES)
    with tempfile.TemporaryDirectory(prefix="told-bench-") as folder:
        banks = [hook_banks.generated(size, brief.PROMPTS) for size in sizes]
        banks += hook_banks.from_data(arguments.data, brief.PROMPTS) if arguments.data else []
        machines = [_machine(os.path.join(folder, str(at)), bank) for at, bank in enumerate(banks)]
        peers = hook_peers.none() if arguments.alone else hook_peers.installed(arguments.peers, folder)
        commands = _bare(machines[0]) | peers.commands
        owner: dict[str, tuple[Machine, str]] = {}
        for machine in machines:
            for name, command in _hooks(machine).items():
                commands[f"{machine.bank.label} {name}"] = command
                owner[f"{machine.bank.label} {name}"] = machine, name
        _say(f"measuring {len(commands)} commands in {count} rounds")
        ran = measure.shuffled(commands, count, before=lambda name: _prepare(owner.get(name)))
        bare = measure.timing(ran[ISOLATED], 1.0, 1.0)
        rows = {name: _row(found, bare) for name, found in ran.items()}
        by_size = {machine.bank.label: _of_size(machine, rows) for machine in machines}
        served = {machine.bank.label: _measure_served(machine, count, bare) for machine in machines}
        wired = machines[0].hooks
    return {
        "benchmark": "hook",
        "machine": measure.machine(),
        "rounds": count,
        "installed": _shorten(wired[PROMPT][0][-1]),
        "goals": _goals({_SERVED: served, _IN_PROCESS: by_size}),
        "bare": {name: rows[name] for name in (TRUE, ISOLATED, BARE)},
        _SERVED: served,
        _IN_PROCESS: by_size,
        "tool_calls": _tool_calls(wired),
        "recorded_by_claude_code": recorded,
        "other_tools": peers.figures(rows),
        "how": HOW,
    }


def _machine(folder: str, bank: Bank) -> Machine:
    _say(f"making {bank.label}")
    return Machine(folder, bank)


def _hooks(machine: Machine) -> dict[str, Command]:
    names = (*machine.bank.prompts, TEACHES, *MOMENTS)
    return {name: machine.command(name, teaching=name == TEACHES) for name in names}


def _prepare(found: tuple[Machine, str] | None) -> None:
    if found:
        found[0].prepare(found[1])


def _bare(machine: Machine) -> dict[str, Command]:
    like = machine.command(TEACHES)._replace(stdin=os.devnull)
    python = launch().interpreter
    return {
        TRUE: like._replace(words=["/bin/true"]),
        ISOLATED: like._replace(words=[python, "-I", "-S", "-c", "pass"]),
        BARE: like._replace(words=[python, "-c", "pass"]),
    }


def _row(ran: Sequence[Ran], bare: measure.Timing) -> dict[str, Any]:
    found = measure.timing(ran, bare.cpu_ms / 1000, bare.wall_ms / 1000).figures()
    return found | {
        "answered": round(sum(bool(one.out.strip()) for one in ran) / len(ran), 2),
        "late": round(sum(one.wall > _LIMIT for one in ran) / len(ran), 2),
        "failed": sum(bool(one.code) for one in ran),
    }


def _measure_served(machine: Machine, count: int, bare: measure.Timing) -> dict[str, Any]:
    """Measure the prompts of a machine while its services run."""
    names = [*machine.bank.prompts, TEACHES]
    ran: dict[str, list[Ran]] = {name: [] for name in names}
    service: dict[str, list[float]] = {name: [] for name in names}
    machine.taught.clear()
    machine.serve()
    shuffler = random.Random(1)
    try:
        ping_ms = statistics.median(_ping_cost(machine) for _ in range(10))
        for is_counted in [False, *[True] * count]:
            shuffler.shuffle(names)
            for name in names:
                is_teaching = name == TEACHES
                command = machine.command(name, teaching=is_teaching, served=True)
                machine.prepare(name)
                before = machine.ping(teaching=is_teaching)
                once = measure.once(command)
                after = machine.ping(teaching=is_teaching)
                if is_counted:
                    ran[name].append(once)
                    service[name].append(max(0.0, after.cpu_ms - before.cpu_ms - ping_ms))
        rss = {"rss_mb": machine.ping().rss_mb, "rss_mb_after_teaching": machine.ping(teaching=True).rss_mb}
        kept = round(machine.kept(), 2)
    finally:
        machine.stop()
    rows = {name: _served_row(ran[name], service[name], bare) for name in names}
    return {
        "hooks": {
            NOTHING: _mean([rows[name] for name in machine.bank.prompts]),
            **{f"· {name}": rows[name] for name in machine.bank.prompts},
            TEACHES: rows[TEACHES],
        },
        "kept": kept, **rss, "trouble": machine.trouble(),
    }  # fmt: skip


def _served_row(ran: Sequence[Ran], service: Sequence[float], bare: measure.Timing) -> dict[str, Any]:
    client = statistics.median(one.cpu for one in ran) * 1000
    row = _row(ran, bare)
    served = statistics.median(service)
    return {
        "cpu_ms": round(client + served, 2), "client_ms": round(client, 2), "service_ms": round(served, 2),
        "cpu_x": round((client + served) / bare.cpu_ms, 2),
        **{name: row[name] for name in ("wall_ms", "wall_x", "answered", "late", "failed")},
    }  # fmt: skip


def _ping_cost(machine: Machine) -> float:
    first, second = machine.ping().cpu_ms, machine.ping().cpu_ms
    return second - first


def _of_size(machine: Machine, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    own = {
        name: dict(rows[f"{machine.bank.label} {name}"])
        for name in (*machine.bank.prompts, TEACHES, *MOMENTS)
    }
    learned = [name for name, said in machine.bank.prompts.items() if capture(said)]
    others = [own[name] for name in machine.bank.prompts if name not in learned]
    prompts = {f"· {name}": own[name] for name in machine.bank.prompts}
    hooks = {
        NOTHING: _mean([own[name] for name in machine.bank.prompts]), **prompts,
        **({NOT_LEARNED: _mean(others)} if learned and others else {}),
        **{name: own[name] for name in (TEACHES, *MOMENTS)},
    }  # fmt: skip
    return {
        "hooks": hooks,
        "kept": round(machine.kept(), 2),
        "learned_from_after_all": ", ".join(learned) or "none",
        "trouble": machine.trouble(),
    }


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: round(sum(row[key] for row in rows) / len(rows), 2) for key in rows[0]}


def _goals(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    found = {}
    for way, size, name, most in _GOALS:
        by_size = figures[way]
        label = hook_banks.label_of(size)
        if label in by_size:
            reached = by_size[label]["hooks"][name]["cpu_x"]
            key = f"{way.replace('_', ' ')}, {size:,}: {name}"
            found[key] = {"cpu_x": reached, "goal_x": most, "reached": reached <= most}
    return found


def _tool_calls(wired: Mapping[str, object]) -> dict[str, Any]:
    own = [event for event in _TOOLS if event in wired]
    return {"hooks_installed": len(own), **({} if own else {"cpu_ms": 0, "wall_ms": 0})}


def _recorded(path: str) -> Any:
    if not path:
        return _NOT_GIVEN
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["hooks as Claude Code recorded them"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotMeasureError(f"{path} is not what `python -m lab --json` printed: {error}") from error


def _shorten(line: str) -> str:
    return " ".join(word if len(word) < 80 else f"{word[:30]}…{word[-40:]}" for word in line.split())


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
