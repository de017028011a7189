"""Finds words and sentences in a text, and marks by which a span of words is known again without them.

A mark is a keyed hash of the words in lower case, whatever stands between them.
"""

from __future__ import annotations

import re
from _blake2 import blake2s

from told.record import record
from told.search.unspaced import RANGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORGOTTEN = "[forgotten]"

_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES)
# A script without spaces has no words that a pattern could find: there each character is one.
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_END = re.compile(r"[.!?…]+(?=\s)|[。！？]+|\n+|[.!?…]+\Z")  # noqa: RUF001 - people write in these
_FIRST = 2  # letters of a mark that stand for its first word


@record
class Word:
    """A word and where it stands."""

    text: str
    start: int
    end: int


@record
class Mark:
    """Stands for a span of words."""

    mark: str
    words: int


def words_of(text: str) -> list[Word]:
    """Return the words of a text."""
    return [Word(found.group().casefold(), *found.span()) for found in _WORD.finditer(text)]


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end, without the signs between them."""
    found, at = [], 0
    for start, end in [*(sign.span() for sign in _END.finditer(text)), (len(text), len(text))]:
        inner = text[at:start]
        begin = at + len(inner) - len(inner.lstrip())
        if inner.strip():
            found.append((begin, begin + len(inner.strip())))
        at = end
    return found


class Marker:
    """Makes marks with told's own key, and finds spans that have them."""

    def __init__(self, key: bytes) -> None:
        self._key = key[:32]
        self._firsts: dict[str, str] = {}

    def mark(self, words: Sequence[str]) -> Mark:
        """Return the mark of some words."""
        whole = blake2s("\0".join(words).encode("utf-8", "replace"), key=self._key, digest_size=8)
        return Mark(self._first(words[0]) + whole.hexdigest(), len(words))

    def _first(self, word: str) -> str:
        """Return one byte for a word: it spares nearly all windows their hash, and tells nobody the word."""
        known = self._firsts.get(word)
        if known is None:
            hashed = blake2s(word.encode("utf-8", "replace"), key=self._key, digest_size=1, person=b"first")
            known = self._firsts[word] = hashed.hexdigest()
        return known

    def spans(self, text: str, marks: Iterable[Mark]) -> list[tuple[int, int, Mark]]:
        """Return where in a text spans with one of the marks begin and end."""
        wanted: dict[int, set[str]] = {}
        for one in marks:
            wanted.setdefault(one.words, set()).add(one.mark)
        found = words_of(text) if wanted else []
        spans = []
        for size, of_size in wanted.items():
            firsts = {mark[:_FIRST] for mark in of_size}
            for at in range(len(found) - size + 1 if size else 0):
                if self._first(found[at].text) in firsts:
                    mark = self.mark([word.text for word in found[at : at + size]])
                    if mark.mark in of_size:
                        spans.append((found[at].start, found[at + size - 1].end, mark))
        return spans


def without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without the sentences in which spans lie; a sign stands in the place of each."""
    cut: list[tuple[int, int]] = []
    sentences = sentences_of(text)
    for start, end in spans:
        touched = [one for one in sentences if one[0] < end and start < one[1]]
        if touched:
            cut.append((touched[0][0], touched[-1][1]))
    kept, at = [], 0
    for start, end in sorted(cut, key=lambda one: (one[0], -one[1])):
        if start >= at:
            kept += [text[at:start], FORGOTTEN]
        at = max(at, end)
    return "".join(kept) + text[at:]
