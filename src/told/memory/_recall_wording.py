"""How a prompt is worded: like one that needs nothing of what is remembered, or like one that may.

The weights were learned from prompts of both kinds by `python -m training.quiet`.
"""

from __future__ import annotations

from told.memory._recall_wording_weights import BIAS, QUIET, WEIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_WORDS = 24
_LONG = 9  # words


def is_quiet(words: Sequence[str], *, asks: bool) -> bool:
    """Tell whether a prompt is worded like one that needs nothing.

    Args:
        words: Of the prompt, in lower case.
        asks: Whether it ends with a question mark.
    """
    return BIAS + sum(map(_weight, set(wording(words, asks=asks)))) >= QUIET


def wording(words: Sequence[str], *, asks: bool) -> Iterator[str]:
    """Yield what there is to a prompt's wording: its words, neighbours, beginning, end and length."""
    some = [_plain(word) for word in words[:_MOST_WORDS]]
    yield f"={min(len(some), _LONG)}{'?' if asks else ''}"
    if not some:
        return
    yield f"^{some[0]}"
    yield f"{some[-1]}$"
    yield from some
    pairs = [f"{some[at]}_{some[at + 1]}" for at in range(len(some) - 1)]
    yield from pairs
    if pairs:
        yield f"^{pairs[0]}"


def _plain(word: str) -> str:
    return "0" if any(char.isdigit() for char in word) else word


def _weight(name: str) -> int:
    """Return the weight of a wording in hundredths; 0 if it says nothing."""
    of_letter = WEIGHTS.get(name[0], "")
    at = of_letter.find(f" {name} ")
    if at < 0:
        return 0
    start = at + len(name) + 2
    return int(of_letter[start : of_letter.index(" ", start)])
