"""Writes a list of words as a regular expression."""

from __future__ import annotations

import re


def any_of(words: str) -> str:
    """Return an expression for any of the words; `_` in a word is a space, `*` at its end any letters."""
    escaped = (re.escape(word) for word in words.split())
    return f"(?:{'|'.join(escaped)})".replace("_", " ").replace(r"\*", r"\w*")
