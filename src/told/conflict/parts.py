"""Tell whether a new statement ends a part of what an old one lists: "no longer Dublin, only Frankfurt"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from told.conflict.places import ARTICLES
from told.conflict.reading import EMPTY, PLACE, Reading, load_words
from told.search.tokens import PUNCTUATION, canonical_stem

_AND, _ONLY, _ENDED = load_words("listing"), load_words("only"), load_words("ended")
_NOW, _COPULAS, _HELPING = load_words("announcing"), load_words("copulas"), load_words("helping")
_NO_LONGER = tuple(tuple(one.split("_")) for one in sorted(load_words("no_longer")))
_BEFORE_ITEM = ARTICLES | PLACE | {"to", "by", "with"}
_LAST = frozenset(".!")


class Listing(NamedTuple):
    """A list of single words in a statement: "Dublin and Frankfurt"."""

    items: frozenset[str] = frozenset()
    before: tuple[str, ...] = ()  # the words before it
    after: tuple[str, ...] = ()


def read_list(old: Reading) -> Listing:
    """Return the list of a statement; an empty one if it has none."""
    tokens = _drop_end(old.tokens)
    for place, token in enumerate(tokens):
        end = place + 1
        while end < len(tokens) and tokens[end] in _BEFORE_ITEM:
            end += 1
        if token not in _AND or end >= len(tokens) or not _is_content(tokens[end]):
            continue
        items, start = {canonical_stem(tokens[end])}, place
        while start > 0 and _is_content(tokens[start - 1]):
            start -= 1
            items.add(canonical_stem(tokens[start]))
            if start == 0 or tokens[start - 1] != ",":
                break
            start -= 1
        if len(items) > 1:
            return Listing(frozenset(items), _stems(tokens[:start]), _stems(tokens[end + 1 :]))
    return Listing()


def restates_rest(old: Reading, new: Reading, rest: frozenset[str]) -> bool:
    """Tell whether a statement repeats an old one, word by word, with only the rest of its list."""
    clauses = _split(_drop_end(new.tokens))
    if len(clauses) != 2 or clauses[0][0] in _HELPING or "?" in new.raw:
        return False
    listing = read_list(old)
    dropped = listing.items - rest
    first, second = clauses
    if not _ONLY.isdisjoint(first):  # "Logs are now kept only in S3, Loki was retired"
        kept = [token for token in first if token not in _ONLY and token not in _NOW]
        ended = len(second) > 2 and second[-2] in _COPULAS and second[-1] in _ENDED
        return ended and _is_list(second[:-2], dropped) and _repeats(kept, listing, rest)
    denied = _remove_denial(first)  # "We no longer deploy to Dublin, only to Frankfurt"
    if not denied or second[0] not in _ONLY or not _repeats(denied, listing, dropped):
        return False
    has_connector = _stems(second[1:2]) == listing.before[-1:]
    named = second[2 if has_connector else 1 :]
    return _is_list(named, rest)


def denies_whole(old: Reading, new: Reading) -> bool:
    """Tell whether a statement repeats an old one, word by word, and denies it."""
    clauses = _split(_drop_end(new.tokens))
    if not clauses or clauses[0][0] in _HELPING or "?" in new.raw:
        return False
    return _stems(_remove_denial(clauses[0])) == _stems(_drop_end(old.tokens))


def _repeats(tokens: list[str], listing: Listing, items: frozenset[str]) -> bool:
    """Tell whether words are those of a statement with other items in its list."""
    start, end = len(listing.before), len(tokens) - len(listing.after)
    if not start or _stems(tokens[:start]) != listing.before or _stems(tokens[end:]) != listing.after:
        return False
    return _is_list(tokens[start:end], items)


def _is_list(tokens: list[str], items: frozenset[str]) -> bool:
    """Tell whether words name these items, each once, and nothing else."""
    named = [canonical_stem(token) for token in tokens if token not in _AND]
    return len(named) == len(items) and set(named) == items


def _remove_denial(tokens: list[str]) -> list[str]:
    """Return a clause without "no longer" or the like; nothing if it has none."""
    for words in _NO_LONGER:
        left = list(tokens)
        for word in words:
            if word not in left:
                break
            left.remove(word)
        else:
            return [token for token in left if token not in _HELPING]
    return []


def _split(tokens: Iterable[str]) -> list[list[str]]:
    clauses: list[list[str]] = [[]]
    for token in tokens:
        if token in PUNCTUATION:
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


def _drop_end(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tokens[:-1] if tokens and tokens[-1] in _LAST else tokens


def _stems(tokens: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(canonical_stem, tokens))


def _is_content(token: str) -> bool:
    return token not in EMPTY and token not in PUNCTUATION and token not in _AND
