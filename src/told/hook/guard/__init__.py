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
def load_words(table: str, name: str) -> frozenset[str]:
    """Load a list of words."""
    return frozenset(load_table(table)[name].split())
