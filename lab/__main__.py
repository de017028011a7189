"""Runs the real agents: `python -m lab [--agent NAME …] [--scratch DIR] [--faults] [--json]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from lab import CannotRunError, across, faults, story, table, timing
from lab.agents import real_agents
from lab.agents.base import RealAgent
from lab.bench import Bench
from lab.machine import Machine
from lab.model import Model
from lab.npm import Shelf
from lab.result import Finding, Row

_CLAUDE = "claude-code"


def main(words: Sequence[str]) -> int:
    """Run what was asked for, and print it."""
    chosen = _arguments(words)
    agents = [agent for name, agent in real_agents().items() if not chosen.agent or name in chosen.agent]
    try:
        with Model(os.path.join(chosen.scratch, "requests")) as model:
            place = _Place(chosen.scratch, model)
            results = _faults(place) if chosen.faults else _stories(place, agents)
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 1
    if chosen.agent and not chosen.faults:
        table.write_rows(results["rows"])
    elif not chosen.faults:
        table.write(results["markdown"])
    print(json.dumps(results["data"], ensure_ascii=False) if chosen.json else results["plain"], flush=True)
    return 0 if results["works"] else 1


class _Place:
    """The scratch folder with its programs and machines."""

    def __init__(self, folder: str, model: Model) -> None:
        self._folder = folder
        self._model = model
        self._shelf = Shelf(os.path.join(folder, "programs"))

    def machine(self, name: str) -> Machine:
        return Machine(os.path.join(self._folder, "machines", name))

    def bench(self, agent: RealAgent, machine: Machine) -> Bench:
        return Bench(agent, machine, self._model, self._shelf)


def _stories(place: _Place, agents: Sequence[RealAgent]) -> dict[str, Any]:
    rows: list[Row] = []
    hooks: dict[str, Any] = {}
    for agent in agents:
        print(f"{agent.title} {agent.program.version} …", file=sys.stderr, flush=True)
        bench = place.bench(agent, place.machine(agent.name))
        rows.append(story.tell(bench))
        if agent.name == _CLAUDE:
            hooks = _hooks(place, agent)
    shared = place.machine("several")
    several = [place.bench(agent, shared) for agent in agents]
    reached: Mapping[str, Finding] = across.told_in_one(several) if len(several) > 1 else {}
    return {
        "works": all(row.works for row in rows) and all(one.works is not False for one in reached.values()),
        "rows": rows,
        "markdown": table.markdown(rows, reached),
        "plain": table.plain(rows, reached),
        "data": {
            "agents": [row.data() for row in rows],
            "across": {name: {"works": one.works, "note": one.note} for name, one in reached.items()},
            "hooks as Claude Code recorded them": hooks,
        },
    }


def _hooks(place: _Place, agent: RealAgent) -> dict[str, Any]:
    """Time told's hooks as Claude Code sees them, beside hooks that do nothing."""
    bench = place.bench(agent, place.machine("hooks"))
    nothing = {"hooks": [{"type": "command", "command": "/bin/true", "args": []}]}
    events = ("SessionStart", "UserPromptSubmit", "Stop")
    path = bench.machine.write_json(
        ".claude/settings.json", {"hooks": {event: [nothing] for event in events}}
    )
    prompts = [story.QUESTION, *(f"Say hello, for the {time}. time." for time in range(1, 20))]
    baseline = timing.watched(bench, prompts)
    os.remove(path)
    bench.machine.told("remember", story.FACT, "--kind", "fact")
    bench.machine.told("install", "--agent", agent.name, "--yes")
    return {"told": timing.watched(bench, prompts), "/bin/true": baseline}


def _faults(place: _Place) -> dict[str, Any]:
    bench = place.bench(real_agents()[_CLAUDE], place.machine("faults"))
    found = faults.survived(bench)
    findings = {name: faults.finding(result) for name, result in found.items()}
    return {
        "works": all(one.works is not False for one in findings.values()),
        "plain": "\n".join(f"told's folder {name}: {one.text}" for name, one in findings.items()),
        "data": {"faults": found},
    }


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab", description="Run the real agents against a scripted model.")
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        help="only this one, and its row of the table; may be given several times",
    )
    parser.add_argument(
        "--scratch", default=os.path.join(tempfile.gettempdir(), "agents-lab"), help="kept between runs"
    )
    parser.add_argument("--faults", action="store_true", help="break told's folder under Claude Code instead")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(words)
    unknown = set(chosen.agent) - set(real_agents())
    if unknown:
        parser.error(f"no agent {', '.join(sorted(unknown))}; choose from {', '.join(real_agents())}")
    return chosen


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
