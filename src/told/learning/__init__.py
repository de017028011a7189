"""Learn from sessions: what users said, what agents did and followed."""

from __future__ import annotations

import re
from functools import partial

from told import tables
from told.pattern import lazy_pattern

TABLE = tables.load_table(__file__, "words")
load_words = partial(tables.load_words, __file__, "words")


def alternation(words: str) -> str:
    """Return a regular expression that matches any of the words."""
    escaped = "|".join(map(re.escape, words.split()))
    return f"(?:{escaped})".replace("_", " ").replace(r"\*", r"\w*")


def compile_any_case(expression: str) -> re.Pattern[str]:
    """Compile a regular expression that ignores case."""
    return lazy_pattern(expression, re.IGNORECASE)


def load_alternation(name: str) -> str:
    """Load a list of words as a regular expression."""
    return alternation(TABLE[name])
