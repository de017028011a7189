"""Words in their other forms: what a phrase is listed as, whatever stands inside it."""

from __future__ import annotations

_ENDINGS = ("ing", "ed", "er", "es", "s", "e")
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
