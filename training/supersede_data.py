"""Read the hand-written pairs and projects for training supersession."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

LABELS = ("replaces", "repeats", "refines", "contradicts_scope", "independent")
NOT_REPLACED = "both"  # any label but `replaces`
HERE = os.path.dirname(os.path.abspath(__file__))


class Pair(NamedTuple):
    """A stored statement, a later one, and their relation."""

    label: str
    language: str
    old: str
    new: str
    older: str


class Met(NamedTuple):
    """Two statements of a project; the later may end the earlier."""

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


def statement_pairs() -> list[Pair]:
    """Return pairs of stored statements: replaced, or both still true."""
    found = []
    label = ""
    for line in _lines("outdated_pairs.txt"):
        if line.startswith("["):
            label = "replaces" if line == "[over]" else NOT_REPLACED
            continue
        _, old, _, new = (part.strip() for part in line.split(" | "))
        found.append(Pair(label, "", old, new, ""))
    return found


def read_pairs() -> list[Pair]:
    """Return all written pairs."""
    return pairs() + statement_pairs()


def read_rows(path: str) -> list[Pair]:
    """Read pairs from JSON lines with old, new_message and label."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return [
        Pair(row["label"], row.get("lang", ""), row["old"], row["new_message"], row.get("older") or "")
        for row in rows
    ]


def met() -> list[Met]:
    """Return every statement of a project with each earlier active one."""
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
