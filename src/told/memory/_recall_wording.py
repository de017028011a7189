"""How a prompt is worded: like one that needs nothing of what is remembered, or like one that may.

The weights were learned from prompts of both kinds by `python -m training.quiet`.
"""

from __future__ import annotations

from told.memory._recall_wording_weights import BIAS, QUIET, WEIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MOST_WORDS = 24
_LONG = 9  # words
_MANY = 3


def is_quiet(words: Sequence[str], *, asks: bool) -> bool:
    """Tell whether a prompt is worded like one that needs nothing.

    Args:
        words: Of the prompt, in lower case.
        asks: Whether it ends with a question mark.
    """
    some = plain(words)
    weights = {name: _weight(name) for name in wording(some, asks=asks)}
    beside = _weight(strange(some, lambda word: weights[word] is not None)) or 0
    return BIAS + beside + sum([weight or 0 for weight in weights.values()]) >= QUIET


def plain(words: Sequence[str]) -> list[str]:
    """Return the words that count, all numbers alike."""
    return ["0" if any(map(str.isdigit, word)) else word for word in words[:_MOST_WORDS]]


def wording(some: Sequence[str], *, asks: bool) -> Iterator[str]:
    """Yield what there is to a prompt's wording: its words, neighbours, beginning, end and length."""
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


def strange(some: Sequence[str], is_known: Callable[[str], bool]) -> str:
    """Return how many words quiet prompts do not have: they are a matter of the prompt's own."""
    return f"~{min(_MANY, sum(not is_known(word) for word in some))}"


def _weight(name: str) -> int | None:
    """Return the weight of a wording in hundredths; None if it is not known."""
    of_letter = WEIGHTS.get(name[0], "")
    at = of_letter.find(f" {name} ")
    if at < 0:
        return None
    start = at + len(name) + 2
    return int(of_letter[start : of_letter.index(" ", start)])
