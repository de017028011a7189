"""Reads the hand-written pairs and projects from which supersession is learned."""

from __future__ import annotations

import os
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))


class Pair(NamedTuple):
    """A stored statement, what was said later, and what the one is to the other."""

    label: str
    language: str
    old: str
    new: str
    older: str


class Met(NamedTuple):
    """Two statements of one project, the later of which ends the earlier or not."""

    project: int
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
        language, old, new, *older = (part.strip() for part in line.split(" | "))
        found.append(Pair(label, language, old, new, older[0] if older else ""))
    return found


def met() -> list[Met]:
    """Return every later statement of a project with each earlier one that still stands."""
    found: list[Met] = []
    project = 0
    standing: dict[str, str] = {}
    for line in _lines("supersede_projects.txt"):
        if line.startswith("["):
            project += 1
            standing = {}
            continue
        key, text = line.split(" ", 1)
        name, _, ends = key.partition(">")
        found += [Met(project, one == ends, old, text) for one, old in standing.items()]
        standing.pop(ends, None)
        standing[name] = text
    return found


def _lines(name: str) -> list[str]:
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]
