"""Hooks that gave up: on a busy machine that is why something is missing, and the table says so."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.result import COMPACTION, OFFERED, PROMPT, START, WRITTEN, Finding

if TYPE_CHECKING:
    from lab.result import Row

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
    """Return how many hooks gave up, and how many there were."""
    try:
        with open(os.path.join(told_home, "hook.log"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0, 0
    return sum(line.endswith('"late":true}') for line in lines), len(lines)
