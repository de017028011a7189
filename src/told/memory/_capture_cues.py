"""Finds cue words in plain text: each cue says something about a sentence in any language."""

from __future__ import annotations

from told.memory import _capture_unspaced as unspaced
from told.memory import _capture_words as words
from told.memory._capture_plain import is_unspaced, plain, spellings
from told.snapshot import kept

__all__ = ("cues", "is_unspaced", "plain")


def _phrases() -> dict[str, frozenset[str]]:
    return {name: frozenset(spellings(text)) for name, text in words.CUES.items()}


def _stems() -> list[tuple[str, str]]:
    return [
        (f" {phrase[:-1]}", name)
        for name, text in words.CUES.items()
        if "*" in text
        for phrase in spellings(text)
        if phrase[-1] == "*"
    ]


_PHRASES = kept("told.memory._capture_cues:phrases", _phrases)
_STEMS = kept("told.memory._capture_cues:stems", _stems)
_LONGEST = 5  # words of a phrase
_UNSPACED = {name: tuple(text.split("|")) for name, text in unspaced.CUES.items()}


def cues(bare: str, *, with_unspaced: bool) -> set[str]:
    """Return the names of the cues in a text that `plain` made."""
    spoken = bare.split()
    said = set(spoken)
    for count in range(2, _LONGEST + 1):
        said.update(map(" ".join, zip(*(spoken[first:] for first in range(count)), strict=False)))
    found = {name for name, phrases in _PHRASES.items() if not phrases.isdisjoint(said)}
    found.update(name for stem, name in _STEMS if stem in bare)
    if with_unspaced:
        found |= {name for name, phrases in _UNSPACED.items() if any(phrase in bare for phrase in phrases)}
    return found
