"""Told in one agent, briefed in another: several agents on one machine."""

from __future__ import annotations

from collections.abc import Sequence

from lab import leftovers
from lab.bench import Bench
from lab.briefs import holding
from lab.result import START, Finding
from lab.story import CORRECTED, CORRECTION, OTHER


def told_in_one(benches: Sequence[Bench]) -> dict[str, Finding]:
    """Correct the first agent, then start every other; all of them share a machine.

    Returns:
        For each of the others whether it was briefed.
    """
    first, *others = benches
    names = [word for bench in benches for word in ("--agent", bench.agent.name)]
    first.machine.told("install", *names, "--yes")
    first.begin(CORRECTION)
    found: dict[str, Finding] = {}
    for bench in others:
        refused = bench.agent.refuses.get(START)
        if refused is not None:
            found[bench.agent.name] = Finding(None, refused)
            continue
        reached = holding(bench.begin(OTHER).turns[:1], CORRECTED)
        found[bench.agent.name] = Finding(bool(reached), "" if reached else "not briefed")
    first.machine.told("uninstall", "--yes")
    leftovers.end(first.machine.home)
    return found
