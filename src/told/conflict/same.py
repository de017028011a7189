"""Tell whether statements say the same in the same words, or the opposite."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from told.conflict.places import ARTICLES
from told.conflict.reading import load_words
from told.conflict.statement import mark_values, read_whole, strip_lead
from told.conflict.subjects import find_difference
from told.pattern import lazy_pattern
from told.search.tokens import STOP_WORDS, canonical_stem, tokenize

_CLAUSE_END = lazy_pattern(r"[,;:.](?:\s|$)")
_MIN_SHARED = 2  # words that a denial must share
_LIMITING = load_words("limiting", "claims")
# Stop words elsewhere; here they reverse or limit a statement. Words of a group mean the same.
_OPERATORS = (
    dict.fromkeys(load_words("denying", "claims"), "not")
    | dict.fromkeys(load_words("insisting", "claims"), "always")
    | {word: word for word in _LIMITING}
)
# One of these may stand for another without a change in what is said.
_EXCHANGEABLE = ARTICLES | load_words("exchangeable")


def say_same(old: str, new: str) -> bool:
    """Tell whether two statements have the same words, but for articles, insistence and the like."""
    if " ".join(old.casefold().split()) == " ".join(new.casefold().split()):
        return True
    before, now = normalise_claim(old), normalise_claim(new)
    if before and before != now and sorted(_split(old)) == sorted(_split(new)):
        return _list_clauses(old) == _list_clauses(new)  # the same clauses in another order
    if not before or before != now or _exchanges_words(old, new):
        return False
    return not find_difference(read_whole(old), read_whole(new))  # plan A and plan I


def _list_clauses(text: str) -> list[tuple[str, ...]]:
    return sorted(filter(None, map(normalise_claim, _CLAUSE_END.split(text))))


def _exchanges_words(old: str, new: str) -> bool:
    """Tell whether one small word stands where the other statement has another: "to us", "to eu"."""
    ours, theirs = (
        [word for word in _split(one) if word in STOP_WORDS and word not in _EXCHANGEABLE]
        for one in (old, new)
    )
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return any(kind == "replace" for kind, *_ in matcher.get_opcodes())


def reverses(old: str, new: str) -> bool:
    """Tell whether a statement denies another one, or affirms what it denies.

    A shorter denial covers a longer statement: "never cache invoices" denies "cache invoices for an hour".
    """
    before, now = normalise_claim(old), normalise_claim(new)
    first, second = ([word for word in one if word != "not"] for one in (before, now))
    is_double = max(before.count("not"), now.count("not")) > 1  # "no endpoint without a login"
    if is_double or ("not" in before) == ("not" in now) or min(len(first), len(second)) < _MIN_SHARED:
        return False
    return first == second or (
        "not" in now and _is_subsequence(second, first) and _LIMITING.isdisjoint(first)
    )


def quote_covers(quote: str, text: str) -> bool:
    """Tell whether a statement says no more than a quote."""
    said, claimed = _find_operative_words(quote), _find_operative_words(text)
    return bool(claimed) and _is_subsequence(claimed, said) and ("not" in claimed) == ("not" in said)


@lru_cache(maxsize=1024)
def normalise_claim(text: str) -> tuple[str, ...]:
    """Return the words of a statement that matter, without its lead and insistence."""
    return tuple(word for word in _find_operative_words(mark_values(strip_lead(text))) if word != "always")


def _find_operative_words(text: str) -> tuple[str, ...]:
    return tuple(
        _OPERATORS.get(word) or canonical_stem(word)
        for word in _split(text)
        if word in _OPERATORS or word not in STOP_WORDS
    )


def _split(text: str) -> list[str]:
    words = (word.strip("`'\"()[]*") for word in tokenize(text.lower()))
    return [word for word in words if any(map(str.isalnum, word))]


def _is_subsequence(words: Sequence[str], others: Sequence[str]) -> bool:
    rest = iter(others)
    return all(word in rest for word in words)
