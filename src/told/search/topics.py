"""Map words and phrases to topics."""

from __future__ import annotations

import json
import os
from functools import cache, lru_cache

from told.words import is_unspaced, split_words

# Ignored inside phrases: `roll it out` is `roll out`.
FILLERS = frozenset(
    ("the", "a", "an", "it", "this", "that", "these", "those", "my", "our", "your", "their", "some")
)
MAX_PHRASE = 3  # words
MIN_PREFIX = 3
EVERYDAY_SHARE = 0.75  # an everyday word only hints at its topics
_MAX_PREFIX = 16
_MIN_COMPOUND = 8  # letters
_MIN_COMPOUND_PART = 5
_SPREAD = 0.15  # a word of several topics says less about each
_REPEAT = 0.15
_IN_PHRASE = 0.7  # a word inside a phrase mostly means what the phrase does
_ENDINGS = ("ing", "ed", "er", "es", "s", "e")
_MIN_BASE = 3

# Written by `python -m training.topics`: topics joined by + of each word or phrase, and of each prefix.
with open(os.path.join(os.path.dirname(__file__), "data", "topics.json"), "rb") as _file:
    _TABLE = json.load(_file)
EXACT: dict[str, str] = _TABLE["words"]
PREFIXES: dict[str, str] = _TABLE["prefixes"]
EVERYDAY_WORDS = frozenset(_TABLE["everyday_words"])


@cache
def _list_unspaced() -> list[str]:
    return sorted(word for word in EXACT | PREFIXES if is_unspaced(word[0]))


def strip_ending(word: str) -> str:
    """Cut a word's ending, so that phrases match in other forms."""
    if not word.endswith(_ENDINGS):
        return word
    base = word[: -len(next(filter(word.endswith, _ENDINGS)))]
    return base if len(base) >= _MIN_BASE else word


def phrase_key(words: list[str]) -> str:
    """Return the key under which a phrase is listed."""
    return "_".join(map(strip_ending, words))


def find_topic_hints(text: str) -> list[tuple[float, tuple[str, ...]]]:
    """Return the topics of each word or phrase with a strength up to 1."""
    found: list[tuple[float, tuple[str, ...]]] = []
    words = [word for word in split_words(text) if word not in FILLERS]
    bases = [strip_ending(word) for word in words]
    phrase_end = 0
    for at, word in enumerate(words):
        for size in range(min(MAX_PHRASE, len(words) - at), 1, -1):
            joined = EXACT.get("_".join(bases[at : at + size]))
            if joined:
                names = tuple(joined.split("+"))
                found.append((len(names) ** -_SPREAD, names))
                phrase_end = max(phrase_end, at + size)
        names = _look_up(word)
        if names:
            strength = len(names) ** -_SPREAD * (_IN_PHRASE if at < phrase_end else 1.0)
            found.append((strength * EVERYDAY_SHARE if word in EVERYDAY_WORDS else strength, names))
    if not text.isascii():
        found += [(1.0, _list_topics(word)) for word in _list_unspaced() if word in text]
    return found


def find_topics(text: str) -> dict[str, float]:
    """Return the topics of a text, each with its strength."""
    found: dict[str, float] = {}
    for strength, names in find_topic_hints(text):
        for name in names:
            # A second word of the same topic adds a little, a third hardly anything.
            known = found.get(name, 0.0)
            found[name] = max(known, strength) + _REPEAT * min(known, strength)
    return found


@lru_cache(maxsize=20_000)
def _look_up(word: str) -> tuple[str, ...]:
    names = _list_topics(word) or (_list_topics(word[:-1]) if word.endswith("s") else ())
    if not names and word.endswith("'s"):
        return _look_up(word[:-2])
    if not names and word.isalpha():
        names = next(filter(None, map(_list_topics, _list_bases(word))), ())
    if names:
        return names
    for sign in "/._-":
        if sign in word:
            if sign == "-" and (joined := EXACT.get(phrase_key(word.split(sign)))):
                return tuple(joined.split("+"))
            parts = [name for part in word.split(sign) if part for name in _look_up(part)]
            return tuple(dict.fromkeys(parts))
    if len(word) > _MIN_COMPOUND and word.isalpha():
        for start in range(3, len(word) - _MIN_COMPOUND_PART + 1):
            names = _list_topics(word[start:], _MIN_COMPOUND_PART, _MIN_COMPOUND)
            if names:
                return names
    return ()


def _list_bases(word: str) -> list[str]:
    """Return what a word may be a form of: planned is plan, caching is cache."""
    base = strip_ending(word)
    if base == word:
        return []
    return [base, f"{base}e", base[:-1]] if base[-1] == base[-2] else [base, f"{base}e"]


def _list_topics(word: str, shortest: int = MIN_PREFIX, longest: int = _MAX_PREFIX) -> tuple[str, ...]:
    """Return the topics that list a word or a prefix of it."""
    prefixes = (word[:end] for end in range(shortest, min(len(word), longest) + 1))
    listed = filter(None, [EXACT.get(word), *map(PREFIXES.get, prefixes)])
    return tuple(dict.fromkeys(name for names in listed for name in names.split("+")))
