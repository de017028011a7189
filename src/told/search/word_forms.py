"""Words in their other forms: what they have in common, and what a phrase is listed as."""

from __future__ import annotations

_ENDINGS = ("ing", "ed", "er", "es", "s", "e")
_SUFFIXES = (
    "ations", "ation", "ments", "ment", "ingen", "ungen", "ung", "ings", "ing", "ies", "ied", "ed", "es",
    "en", "er", "e", "s", "n",
)  # fmt: skip
_SHORTEST_BASE = 3
LONGEST_PHRASE = 3  # words
# They stand inside phrases and change nothing: `roll it out` is `roll out`.
FILLERS = frozenset(
    ("the", "a", "an", "it", "this", "that", "these", "those", "my", "our", "your", "their", "some")
)


def base_of(word: str) -> str:
    """Return a word without its ending, so that a phrase is known in other forms: charges is charg."""
    if not word.endswith(_ENDINGS):
        return word
    base = word[: -len(next(filter(word.endswith, _ENDINGS)))]
    return base if len(base) >= _SHORTEST_BASE else word


def phrase_of(words: list[str]) -> str:
    """Return what a phrase is listed as."""
    return "_".join(map(base_of, words))


def stem(word: str) -> str:
    """Return a crude stem, the same for most forms of a word."""
    if not word.isalpha() or len(word) < 4:
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:8]
