"""Learn from sessions: what users said, what agents did and followed."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from told.pattern import lazy_pattern


@cache
def load_table() -> dict[str, Any]:
    """Load `words.toml`."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def load_words(name: str) -> frozenset[str]:
    """Load a list of words."""
    return frozenset(load_table()[name].split())


def alternation(words: str) -> str:
    """Return a regular expression that matches any of the words."""
    escaped = "|".join(map(re.escape, words.split()))
    return f"(?:{escaped})".replace("_", " ").replace(r"\*", r"\w*")


def compile_any_case(expression: str) -> re.Pattern[str]:
    """Compile a regular expression that ignores case."""
    return lazy_pattern(expression, re.IGNORECASE)


def load_alternation(name: str) -> str:
    """Load a list of words as a regular expression."""
    return alternation(load_table()[name])
