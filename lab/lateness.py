"""Hooks that gave up: on a busy machine that is why something is missing, and the table says so."""

from __future__ import annotations

import os
from dataclasses import replace

from lab.result import COMPACTION, OFFERED, PROMPT, START, WRITTEN, Finding, Row
from told.service.state import read_counts

_BY_HOOKS = (START, PROMPT, COMPACTION, WRITTEN, OFFERED)


def note(row: Row, told_home: str) -> None:
    """Say beside what is missing how many hooks ran out of time; it stays a fault of the run."""
    late, all_of_them = _counted(told_home)
    why = f"{late} of {all_of_them} hooks gave up, on a busy machine"
    row.also["hooks in time"] = Finding(None, why) if late else Finding(True)
    for name in _BY_HOOKS:
        found = row.findings.get(name)
        if late and found is not None and found.works is False:
            row.findings[name] = replace(found, note=f"{found.note} ({why})")


def _counted(told_home: str) -> tuple[int, int]:
    """Return how many hooks were late or missed, and how many calls were logged."""
    late = sum(one.late + one.missed for one in read_counts(told_home))
    try:
        with open(os.path.join(told_home, "hook.log"), encoding="utf-8") as file:
            return late, len(file.read().splitlines())
    except OSError:
        return late, late
