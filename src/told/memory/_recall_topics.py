"""Which topics a text is about: the bridge from the words of a prompt to the other words of a memory."""

# ruff: noqa: RUF001 - signs of many languages are the subject
from __future__ import annotations

from told.memory._recall_trades import TRADES
from told.memory._recall_work import WORK
from told.search.unspaced import is_unspaced

_TO_SPACE = {ord(char): " " for char in ',;:!?"()[]{}<>|*`~=@&^$“”„«»¿¡…\n\r\t\u3000。，、；：！？「」（）'}
_TO_SPACE |= {0x2019: "'", 0x2018: "'"}
_EDGES = "./'\\-_#%+"
_LONGEST_PHRASE = 3
_SHORTEST_PREFIX, _LONGEST_PREFIX = 2, 24
_MOST_WORDS = 400
_COMPOUND = 8  # letters of a word that may be a compound
_COMPOUND_PART = 5
_SPREAD = 0.35  # how much less a word says about each of several topics
_AGAIN = 0.15
_IN_PHRASE = 0.7  # a word that is part of a phrase means what the phrase does


def _table() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    exact: dict[str, tuple[str, ...]] = {}
    prefixes: dict[str, tuple[str, ...]] = {}
    spelled: dict[str, tuple[str, ...]] = {}
    for line in f"{WORK}\n{TRADES}".replace("\n  ", " ").splitlines():
        name, _, text = line.partition(": ")
        if not name:
            continue
        spelled[name] = tuple(text.split())
        for word in spelled[name]:
            table, key = (prefixes, word[:-1]) if word[-1] == "*" else (exact, word)
            known = table.get(key, ())
            if name not in known:
                table[key] = (*known, name)
    return exact, prefixes, spelled


_EXACT, _PREFIXES, WORDS = _table()
_PHRASE_STARTS = frozenset(word.partition("_")[0] for word in (*_EXACT, *_PREFIXES) if "_" in word)
_seen: dict[str, tuple[str, ...]] = {}
_MOST_SEEN = 20_000
_UNSPACED = tuple(word for word in (*_EXACT, *_PREFIXES) if is_unspaced(word[0]))


def spoken(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, without punctuation at their edges."""
    words = (word.strip(_EDGES) for word in text.lower().translate(_TO_SPACE).split()[:_MOST_WORDS])
    return [word for word in words if word]


def topics(text: str) -> dict[str, float]:
    """Return the topics of a text, each with how plainly it is named: 1.0 by a word that is only of it."""
    found: dict[str, float] = {}
    words = spoken(text)
    inside = 0  # up to which word a phrase reaches
    for at in range(len(words)):
        longest = min(_LONGEST_PHRASE, len(words) - at) if words[at] in _PHRASE_STARTS else 1
        for size in range(longest, 0, -1):
            names = _of_word(words[at]) if size == 1 else _listed("_".join(words[at : at + size]))
            strength = len(names) ** -_SPREAD if names else 0.0
            if size > 1 and names:
                inside = max(inside, at + size)
            elif at < inside:
                strength *= _IN_PHRASE
            for name in names:
                # A second word of the same topic makes it plainer, a third hardly.
                known = found.get(name, 0.0)
                found[name] = max(known, strength) + _AGAIN * min(known, strength)
    if not text.isascii():
        for word in _UNSPACED:
            if word in text:
                for name in _listed(word):
                    found[name] = 1.0
    return found


def _of_word(word: str) -> tuple[str, ...]:
    names = _seen.get(word)
    if names is None:
        if len(_seen) >= _MOST_SEEN:
            _seen.clear()
        names = _seen[word] = _looked_up(word)
    return names


def _looked_up(word: str) -> tuple[str, ...]:
    names = _listed(word) or (_listed(word[:-1]) if word.endswith("s") else ())
    if names:
        return names
    for mark in "/._-":
        if mark in word:
            parts = [name for part in word.split(mark) if part for name in _looked_up(part)]
            return tuple(dict.fromkeys(parts))
    if len(word) > _COMPOUND and word.isalpha():
        for start in range(3, len(word) - _COMPOUND_PART + 1):
            names = _listed(word[start:], _COMPOUND_PART)
            if names:
                return names
    return ()


def _listed(word: str, shortest: int = _SHORTEST_PREFIX) -> tuple[str, ...]:
    """Return the topics that list a word, or the beginning of it."""
    names = list(_EXACT.get(word, ()))
    for end in range(shortest, min(len(word), _LONGEST_PREFIX) + 1):
        names += _PREFIXES.get(word[:end], ())
    return tuple(dict.fromkeys(names))
