"""The real Claude Code with told's folder broken in every way: it must go on and answer."""

from __future__ import annotations

import os
import shutil

from lab import leftovers, timing
from lab.bench import Bench
from lab.breaking import FAULTS, CannotBreakError
from lab.machine import Machine
from lab.result import Finding
from lab.story import CORRECTION, FACT, QUESTION


def survived(bench: Bench) -> dict[str, dict[str, object]]:
    """Return for each fault whether the agent answered, and its longest hook in milliseconds."""
    found: dict[str, dict[str, object]] = {}
    machine = bench.machine
    machine.told("install", "--agent", bench.agent.name, "--yes")
    machine.told("remember", FACT, "--kind", "fact")
    whole = f"{machine.told_home}-whole"
    shutil.copytree(machine.told_home, whole)
    for name, broken in FAULTS.items():
        _put_back(machine, whole)
        shutil.rmtree(os.path.join(machine.home, ".claude", "projects"), ignore_errors=True)
        try:
            with broken(machine):
                found[name] = _gone_on(bench)
        except CannotBreakError as error:
            found[name] = {"answered": None, "note": str(error)}
    _put_back(machine, whole)
    machine.told("uninstall", "--yes")
    leftovers.end(machine.home)
    return found


def _gone_on(bench: Bench) -> dict[str, object]:
    first = bench.begin(CORRECTION)
    before = bench.model.count(bench.label)
    times = timing.watched(bench, [QUESTION])
    answered = first.answered and bench.model.count(bench.label) > before
    complaints = timing.complaints(bench.machine.home)
    longest = max((hook["longest_ms"] for hook in times.values()), default=0.0)
    note = "" if answered else first.said.err.strip()[-200:]
    return {
        "answered": answered, "longest_hook_ms": longest, "complaints": complaints,
        "given_up": timing.given_up(bench.machine.home), "note": note,
    }  # fmt: skip


def finding(result: dict[str, object]) -> Finding:
    """Return one result as it stands in a table."""
    answered = result["answered"]
    if answered is None:
        return Finding(None, str(result["note"]))
    quiet = not result.get("complaints")
    return Finding(bool(answered) and quiet, f"longest hook {result['longest_hook_ms']:.0f} ms")


def _put_back(machine: Machine, whole: str) -> None:
    if os.path.isfile(machine.told_home):
        os.remove(machine.told_home)
    shutil.rmtree(machine.told_home, ignore_errors=True)
    shutil.copytree(whole, machine.told_home)
