"""Takes secrets out of text before the first byte of it is stored."""

from __future__ import annotations

from _blake2 import blake2s

from told.guard._redact_normal import View, edits
from told.guard._redact_search import Search
from told.guard.text import clean
from told.settings import Redaction
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    # start, end, the rank of the rule, how deep it was found (less is deeper), the rule's name, the value
    _Found = tuple[int, int, int, int, str, str]

_PLACEHOLDER = pattern(r"\[secret:[a-z0-9-]{1,40}+:[0-9a-f]{4}\]")
_DISGUISED = 3  # how many disguises a secret may wear over each other
_ROUNDS = 6  # what is taken out may let a rule see more of the rest
_AROUND = 2_000  # characters around a placeholder in which rules may see something else than before
_GAP = "\n\0\n\0\n"  # no secret goes over this
_LEFT_OVER = 4  # letters and digits beside a placeholder that are worth a placeholder of their own
_USUAL = Redaction()


class Redactor:
    """Replaces secrets by placeholders such as `[secret:github-token:4f2a]`.

    The last part is a keyed hash: the same secret has the same placeholder, and nobody can guess it back.
    """

    def __init__(self, key: bytes, wish: Redaction = _USUAL) -> None:
        """Take the key of the hash, and what the user wishes.

        Raises:
            UsageError: one of the user's own rules is of no use.
        """
        self._key = key
        self._wish = wish
        self._own: list[tuple[str, re.Pattern[str]]] = []
        if wish.rules:
            from told.guard.own_rules import compiled

            self._own = [(rule.name, compiled(rule)) for rule in wish.rules]

    def redact(self, text: str) -> str:
        """Return the text, cleaned, with a placeholder for each secret and each `<private>` part."""
        text = clean(text)
        search = Search(_plain(text))
        if b"private" in search.lower:
            from told.guard._redact_normal_private import without_private

            public = without_private(text, search.text)
            if public != text:
                text, search = public, Search(_plain(public))
        if not self._wish.enabled:
            return text
        spans = _merged(text, self._found(search, 0))
        for _ in range(_ROUNDS):
            if not spans:
                break
            text, places = self._replaced(text, spans)
            spans = _merged(text, self._found_near(text, places))
        return text

    def _replaced(self, text: str, spans: list[_Found]) -> tuple[str, list[int]]:
        """Return the text with placeholders, and where those are."""
        kept: list[str] = []
        places: list[int] = []
        at = length = 0
        for start, end, _, _, name, value in spans:
            digest = blake2s(value.encode(), key=self._key, digest_size=2).hexdigest()
            placeholder = f"[secret:{name}:{digest}]"
            kept += (text[at:start], placeholder)
            length += start - at
            places.append(length)
            length += len(placeholder)
            at = end
        return "".join(kept) + text[at:], places

    def _found_near(self, text: str, places: list[int]) -> list[_Found]:
        """Return what rules find where something was taken out: elsewhere, they see what they saw before."""
        found: list[_Found] = []
        first = 0
        while first < len(places):
            last = first
            while last + 1 < len(places) and places[last + 1] - places[last] < 2 * _AROUND:
                last += 1
            start, end = max(0, places[first] - _AROUND), places[last] + _AROUND
            least = start + _AROUND // 2 if start else 0
            most = end - _AROUND // 2 if end < len(text) else len(text)
            found += (
                (start + one[0], start + one[1], *one[2:])
                for one in self._found(Search(_plain(text[start:end])), 0)
                if start + one[0] >= least and start + one[1] <= most
            )
            first = last + 1
        return found

    def _found(self, search: Search, depth: int) -> list[_Found]:
        """Return all that a rule finds in a text, and in what it says in another way.

        Of rules that find the same, the first one names it. The value is without its disguise.
        """
        plain = search.text
        found = [
            (start, end, rank, -depth, name, plain[start:end])
            for start, end, rank, name in search.found(self._wish.emails)
        ]
        for rank, (name, own) in enumerate(self._own, -len(self._own)):
            for match in own.finditer(plain):
                span = match.span("secret" if "secret" in own.groupindex else 0)
                if span[0] < span[1]:
                    found.append((*span, rank, -depth, name, plain[slice(*span)]))
        if depth == _DISGUISED:
            return found
        if search.words:
            from told.guard._redact_normal_words import encoded

            decoded = list(encoded(search.flat, search.words))
            if decoded:
                found += self._inside(decoded, depth + 1)
        changes = edits(plain, search.flat, search.foreign)
        if changes:
            view = View(plain, changes)
            found += (
                (*view.span(*one[:2]), *one[2:]) for one in self._found(Search(_plain(view.text)), depth + 1)
            )
        return found

    def _inside(self, words: list[tuple[int, int, str]], depth: int) -> Iterator[_Found]:
        """Yield the words that say a secret; all are looked at together, as many small texts take long."""
        from _bisect import bisect_right
        from itertools import accumulate

        texts = [clean(text) for _, _, text in words]
        begins = list(accumulate((len(text) + len(_GAP) for text in texts), initial=0))
        best: dict[int, _Found] = {}
        for one in self._found(Search(_plain(_GAP.join(texts))), depth):
            word = bisect_right(begins, one[0]) - 1
            best[word] = min(one, best.get(word, one), key=_rank)
        for word, one in best.items():
            yield *words[word][:2], *one[2:]


def _merged(text: str, found: list[_Found]) -> list[_Found]:
    """Return what was found in order and without overlap."""
    if found and "[secret:" in text:
        found = _without_known(text, found)
    found.sort()
    merged: list[_Found] = []
    for one in found:
        if merged and one[0] < merged[-1][1]:
            last = merged[-1]
            merged[-1] = (last[0], max(last[1], one[1]), *min(last, one, key=_rank)[2:])
        else:
            merged.append(one)
    return merged


def _rank(found: _Found) -> tuple[int, int, int]:
    """Put the rule that comes first first, then what is less disguised when seen, then what is longer."""
    return found[2], found[3], -len(found[5])


def _without_known(text: str, found: list[_Found]) -> list[_Found]:
    """Leave out what is a placeholder already, and take in whole those that something else reaches into."""
    from _bisect import bisect_right

    known = [placeholder.span() for placeholder in _PLACEHOLDER.finditer(text)]
    ends = [end for _, end in known]
    kept = []
    for one in found:
        start, end = one[:2]
        first = bisect_right(ends, start)
        beyond = first
        left_over = text[start:end]
        while beyond < len(known) and known[beyond][0] < end:
            left_over = left_over.replace(text[slice(*known[beyond])], "")
            start, end = min(start, known[beyond][0]), max(end, known[beyond][1])
            beyond += 1
        if first == beyond or sum(map(str.isalnum, left_over)) >= _LEFT_OVER:
            kept.append((start, end, *one[2:]))
    return kept


def _plain(text: str) -> str:
    """Return the text in ordinary letters and lines, as long as it is."""
    if not text.isascii():
        from told.guard._redact_normal_letters import ordinary

        text = ordinary(text)
    if "[secret:" in text:
        text = _PLACEHOLDER.sub(_blank, text)
    if "\\" in text:
        # In a string of JSON, a line feed is two characters, and what follows it is the beginning of a word.
        # In a string of JSON in a string of JSON it is three, and so on.
        if "\\\\n" in text:
            text = text.replace("\\\\\\\\n", "\n    ").replace("\\\\n", "\n  ")
        text = text.replace("\\n", "\n ").replace("\\t", "  ").replace("\\r", "  ")
    return text


def _blank(placeholder: re.Match[str]) -> str:
    """Return nothing that a rule could find anything in."""
    return f"[{' ' * (len(placeholder[0]) - 2)}]"
