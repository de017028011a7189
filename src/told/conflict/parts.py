"""Tell whether a new statement ends a part of what an old one lists: "no longer Dublin, only Frankfurt"."""

from __future__ import annotations

from collections.abc import Collection

from told.conflict.places import ARTICLES
from told.conflict.reading import EMPTY, PLACE, Reading, load_words
from told.search.tokens import PUNCTUATION, canonical_stem

_AND, _ONLY, _ENDED = load_words("listing"), load_words("only"), load_words("ended")
_NOW, _COPULAS, _HELPING = load_words("announcing"), load_words("copulas"), load_words("helping")
_NO_LONGER = tuple(one.split("_") for one in sorted(load_words("no_longer")))
_BEFORE_ITEM = ARTICLES | PLACE | {"to", "by", "with"}


def read_list(old: Reading) -> frozenset[str]:
    """Return the words that a statement lists: "Dublin and Frankfurt"; nothing if it has no list."""
    tokens = old.tokens
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
            return frozenset(items)
    return frozenset()


def restates_rest(old: Reading, new: Reading, rest: frozenset[str]) -> bool:
    """Tell whether a statement repeats an old one, word by word, with only the rest of its list."""
    clauses = _split(new)
    if len(clauses) != 2:
        return False
    items = read_list(old)
    (first, said), (second, named) = (_take_items(clause, items) for clause in clauses)
    frame = _take_items([one for one in old.tokens if one not in PUNCTUATION], items)[0]
    if not _ONLY.isdisjoint(first):  # "Logs are now kept only in S3, Loki was retired"
        kept = [one for one in first if one not in _ONLY and one not in _NOW]
        is_ended = len(second) == 2 and second[0] in _COPULAS and second[1] in _ENDED
        return is_ended and (said, named) == (sorted(rest), sorted(items - rest)) and kept == frame
    # "We no longer deploy to Dublin, only to Frankfurt"
    is_only = bool(second) and second[0] in _ONLY and (not second[1:] or second[1:] == frame[-1:])
    return is_only and (said, named) == (sorted(items - rest), sorted(rest)) and _drop_denial(first) == frame


def denies_whole(old: Reading, new: Reading) -> bool:
    """Tell whether a statement repeats an old one, word by word, and denies it."""
    clauses = _split(new)
    said = [_stem(one) for one in old.tokens if one not in PUNCTUATION]
    return bool(clauses) and list(map(_stem, _drop_denial(clauses[0]))) == said


def _split(new: Reading) -> list[list[str]]:
    """Return the words of each clause; nothing for a question."""
    clauses: list[list[str]] = [[]]
    for token in new.tokens:
        if token in PUNCTUATION:
            clauses.append([])
        else:
            clauses[-1].append(token)
    clauses = [clause for clause in clauses if clause]
    return [] if "?" in new.raw or (clauses and clauses[0][0] in _HELPING) else clauses


def _stem(token: str) -> str:
    return canonical_stem(token) if _is_content(token) and token not in _ENDED else token


def _take_items(words: Collection[str], items: frozenset[str]) -> tuple[list[str], list[str]]:
    """Split words into those around a list and the items that they name."""
    stems = [_stem(word) for word in words if word not in _AND]
    return [one for one in stems if one not in items], sorted(one for one in stems if one in items)


def _drop_denial(words: list[str]) -> list[str]:
    """Return a clause without "no longer" or the like; nothing if it has none."""
    for denial in _NO_LONGER:
        if all(word in words for word in denial):
            return [word for word in words if word not in denial and word not in _HELPING]
    return []


def _is_content(token: str) -> bool:
    return token not in EMPTY and token not in PUNCTUATION and token not in _AND
