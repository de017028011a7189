"""Read the hand-written pairs and projects of statements that may replace each other."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    """A stored statement, a later one, and their relation."""

    label: str
    old: str
    new: str


class Met(NamedTuple):
    """Two statements of a project; the later may end the earlier."""

    ends: bool
    old: str
    new: str


def pairs() -> list[Pair]:
    """Return the labelled pairs."""
    found = []
    label = ""
    for line in _lines("supersede_pairs.txt"):
        if line.startswith("["):
            label = line.strip("[]")
            continue
        _, old, new, *_ = (part.strip() for part in line.split(" | "))
        found.append(Pair(label, old, new))
    return found


def met() -> list[Met]:
    """Return every statement of a project with each earlier active one."""
    found: list[Met] = []
    standing: dict[str, str] = {}
    for line in _lines("supersede_projects.txt"):
        if line.startswith("["):
            standing = {}
            continue
        key, text = line.split(" ", 1)
        name, _, ends = key.partition(">")
        found += [Met(one == ends, old, text) for one, old in standing.items()]
        standing.pop(ends, None)
        standing[name] = text
    return found


def _lines(name: str) -> list[str]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
