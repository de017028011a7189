"""Match tool calls against locked rules: read rules, parse commands, compare."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load_table(name: str) -> dict[str, Any]:
    """Load a data file of the guard."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def load_words(name: str, *keys: str) -> frozenset[str]:
    """Load the words at a place of a data file, from all lists there."""
    found = load_table(name)
    for key in keys:
        found = found[key]
    return frozenset(_list_words(found))


def _list_words(found: Any) -> list[str]:
    if isinstance(found, str):
        return found.split()
    return [
        word for one in (found.values() if isinstance(found, dict) else found) for word in _list_words(one)
    ]
