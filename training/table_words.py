"""Choose the words that get a row besides the teacher's pieces."""

from __future__ import annotations

import collections
import os
from collections.abc import Container, Iterable

from told.search.vectors.table import NAME_BYTES, split_table_words

_HERE = os.path.dirname(os.path.abspath(__file__))
_FRACTION_READ = 800  # characters of a pair
MOST_NEW = 1200
_SHORTEST = 3
_OFTEN = 4  # texts


def meanings() -> dict[str, str]:
    """Return the words of `table_words.txt` with what they mean."""
    found = {}
    with open(os.path.join(_HERE, "table_words.txt"), encoding="utf-8") as file:
        for line in file:
            word, colon, meaning = line.strip().partition(": ")
            if colon and not line.startswith("#"):
                found[word] = meaning
    return found


def frequent(pairs: Iterable[tuple[str, str]], known: Container[str], most: int = MOST_NEW) -> list[str]:
    """Return words of the pairs that the teacher splits, frequent first."""
    counts = _counted(" ".join(pair)[:_FRACTION_READ] for pair in pairs)
    return [word for word in counts if word not in known][:most]


def repeated(texts: Iterable[str], known: Container[str]) -> list[str]:
    """Return words of several texts that the teacher splits, frequent first.

    Many are of other languages than the teacher's.
    """
    counts = _counted(texts)
    return [word for word, count in counts.items() if count >= _OFTEN and word not in known]


def _counted(texts: Iterable[str]) -> dict[str, int]:
    """Count the texts of each plain word, most frequent first."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update({word.lower() for word in split_table_words(text) if _is_plain(word)})
    return {word: counts[word] for word in sorted(counts, key=lambda word: (-counts[word], word))}


def _is_plain(word: str) -> bool:
    small = word.islower() or word[1:].islower()
    return word.isascii() and word.isalpha() and small and _SHORTEST <= len(word) < NAME_BYTES
