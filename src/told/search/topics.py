"""Which topics a text is about: the bridge from the words of a prompt to the other words of a memory."""

# ruff: noqa: RUF001 - signs of many languages are the subject
from __future__ import annotations

from told.search import topic_words
from told.search.word_forms import FILLERS, LONGEST_PHRASE, base_of, phrase_of

_TO_SPACE = {ord(char): " " for char in ',;:!?"()[]{}<>|*`~=@&^$“”„«»¿¡…\n\r\t\u3000。，、；：！？「」（）'}
_TO_SPACE |= {0x2019: "'", 0x2018: "'"}
_EDGES = "./'\\-_#%+"
ALIKE = 1  # letters; the table has words together that begin with the same ones
SHORTEST_BEGINNING, _LONGEST_BEGINNING = 3, 16
_MOST_WORDS = 400
_COMPOUND = 8  # letters of a word that may be a compound
_COMPOUND_PART = 5
_SPREAD = 0.15  # how much less a word says about each of several topics
_AGAIN = 0.15
LOOSE_SHARE = 0.75  # an everyday word only hints at its topics
_IN_PHRASE = 0.7  # a word that is part of a phrase means what the phrase does
_MOST_SEEN = 20_000


LOOSE = frozenset(topic_words.LOOSE.split())
_seen: dict[str, tuple[str, ...]] = {}
_bases_seen: dict[str, str] = {}


def spoken(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, without punctuation at their edges."""
    words = [word.strip(_EDGES) for word in text.lower().translate(_TO_SPACE).split()[:_MOST_WORDS]]
    return [word for word in words if word]


def hints(text: str) -> list[tuple[float, tuple[str, ...]]]:
    """Return what each word or phrase of a text says: its topics, and how plainly it names them, up to 1."""
    found: list[tuple[float, tuple[str, ...]]] = []
    words = [word for word in spoken(text) if word not in FILLERS]
    bases = [_bases_seen.get(word) or _base_seen(word) for word in words]
    inside = 0  # up to which word a phrase reaches
    for at, word in enumerate(words):
        base = bases[at]
        if f" {base}_" in topic_words.EXACT.get(base[:ALIKE], ""):
            for size in range(min(LONGEST_PHRASE, len(words) - at), 1, -1):
                joined = _exact("_".join(bases[at : at + size]))
                if joined:
                    names = tuple(joined.split("+"))
                    found.append((len(names) ** -_SPREAD, names))
                    inside = max(inside, at + size)
        seen = _seen.get(word)
        names = _of_word(word) if seen is None else seen
        if names:
            strength = len(names) ** -_SPREAD * (_IN_PHRASE if at < inside else 1.0)
            found.append((strength * LOOSE_SHARE if word in LOOSE else strength, names))
    if not text.isascii():
        found += [(1.0, _listed(word)) for word in topic_words.UNSPACED.split() if word in text]
    return found


def topics(text: str) -> dict[str, float]:
    """Return the topics of a text, each with how plainly it is named: 1.0 by a word that is only of it."""
    found: dict[str, float] = {}
    for strength, names in hints(text):
        for name in names:
            # A second word of the same topic makes it plainer, a third hardly.
            known = found.get(name, 0.0)
            found[name] = max(known, strength) + _AGAIN * min(known, strength)
    return found


def _base_seen(word: str) -> str:
    if len(_bases_seen) >= _MOST_SEEN:
        _bases_seen.clear()
    base = _bases_seen[word] = base_of(word)
    return base


def _of_word(word: str) -> tuple[str, ...]:
    if len(_seen) >= _MOST_SEEN:
        _seen.clear()
    names = _seen[word] = _looked_up(word)
    return names


def _looked_up(word: str) -> tuple[str, ...]:
    names = _listed(word) or (_listed(word[:-1]) if word.endswith("s") else ())
    if not names and word.endswith("'s"):
        return _looked_up(word[:-2])
    if not names and word.isalpha():
        names = next(filter(None, map(_listed, _bases(word))), ())
    if names:
        return names
    for mark in "/._-":
        if mark in word:
            if mark == "-" and (joined := _exact(phrase_of(word.split(mark)))):
                return tuple(joined.split("+"))
            parts = [name for part in word.split(mark) if part for name in _looked_up(part)]
            return tuple(dict.fromkeys(parts))
    if len(word) > _COMPOUND and word.isalpha():
        for start in range(3, len(word) - _COMPOUND_PART + 1):
            names = _listed(word[start:], _COMPOUND_PART, _COMPOUND)
            if names:
                return names
    return ()


def _bases(word: str) -> list[str]:
    """Return what a word may be a form of: planned is plan, caching is cache."""
    base = base_of(word)
    if base == word:
        return []
    return [base, f"{base}e", base[:-1]] if base[-1] == base[-2] else [base, f"{base}e"]


def _listed(
    word: str, shortest: int = SHORTEST_BEGINNING, longest: int = _LONGEST_BEGINNING
) -> tuple[str, ...]:
    """Return the topics that list a word, or the beginning of it."""
    found = _exact(word)
    listed = topic_words.BEGINNINGS.get(word[:ALIKE], "")
    if f" {word[:SHORTEST_BEGINNING]}" in listed:
        for end in range(shortest, min(len(word), longest) + 1):
            more = _entry(listed, word[:end])
            if more:
                found = f"{found}+{more}" if found else more
    return tuple(dict.fromkeys(found.split("+"))) if found else ()


def _exact(word: str) -> str:
    listed = topic_words.EXACT.get(word[:ALIKE])
    return _entry(listed, word) if listed else ""


def _entry(listed: str, word: str) -> str:
    """Return the topics of a word, joined by +, from a line of the table."""
    at = listed.find(f" {word}|")
    if at < 0:
        return ""
    start = at + len(word) + 2
    return listed[start : listed.index(" ", start)]
