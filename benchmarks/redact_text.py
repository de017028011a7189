"""The texts on which the speed of redaction is measured; labelled rows are too few for that."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import told
from benchmarks import histories
from benchmarks.floor import transcripts

_NOW = 1_794_000_000_000


def from_sessions(megabytes: float) -> list[str]:
    """Return what was said, called and answered by tools in invented sessions."""
    found: list[str] = []
    size, seed = 0, 0
    while size < megabytes * 1_000_000:
        seed += 1
        with tempfile.TemporaryDirectory() as home:
            histories.claude_bulk(home, megabytes, now=_NOW, seed=seed)
            for text in _all_texts(home):
                found.append(text)
                size += len(text)
                if size >= megabytes * 1_000_000:
                    break
    return found


def from_source() -> list[str]:
    """Return the source code of told."""
    found = []
    for folder, folders, names in os.walk(os.path.dirname(told.__file__)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    found.append(file.read())
    return found


def _all_texts(home: str) -> Iterator[str]:
    for path in transcripts(home):
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield from _texts(json.loads(line).get("message"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if " " in value:
            yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
