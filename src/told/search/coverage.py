"""How much of a question the user's own words in a turn cover: what is rare counts more."""

from __future__ import annotations

from math import log

from told.record import record
from told.search.word_forms import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ASCII_SIGNS = {code: " " for code in range(128) if not chr(code).isalnum()}


@record
class Coverage:
    """Which words of a question each turn has, and how much each of them tells."""

    telling: Mapping[str, float]  # by stem; together 1
    words: Mapping[int, frozenset[str]]  # stems, by turn

    def of(self, turns: Iterable[int]) -> float:
        """Return the share of a question that some turns cover together, from 0 to 1."""
        found = frozenset[str]().union(*(self.words.get(turn, ()) for turn in turns))
        return sum(self.telling[word] for word in found)


def coverage(texts: Mapping[int, str], frequencies: Mapping[str, int], total: int) -> Coverage:
    """Look for the words of a question in texts.

    Args:
        texts: What was asked, by turn.
        frequencies: In how many turns each quoted term of the question occurs.
        total: How many turns there are.
    """
    telling: dict[str, float] = {}
    for term, count in frequencies.items():
        word = term.strip('*"')
        if " " not in word:
            rarity = log(1 + (max(total, count) - count + 0.5) / (count + 0.5))
            telling[stem(word)] = max(rarity, telling.get(stem(word), 0.0))
    whole = sum(telling.values()) or 1.0
    stems: dict[str, str] = {}  # of each word that was seen; most are seen many times
    words = {}
    for turn, text in texts.items():
        said = set(_words(text.lower()))
        stems.update({word: stem(word) for word in said if word not in stems})
        words[turn] = frozenset(stems[word] for word in said) & telling.keys()
    return Coverage({word: figure / whole for word, figure in telling.items()}, words)


def _words(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_ASCII_SIGNS).split()
    return "".join(char if char.isalnum() else " " for char in text).split()
