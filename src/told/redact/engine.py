"""Replace secrets in text by placeholders before anything is stored."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from told.hashing import blake2s
from told.pattern import lazy_pattern
from told.redact.custom_rules import compile_rule
from told.redact.decode import decode_words, remove_private
from told.redact.normalise import View, find_edits, to_plain_letters
from told.redact.scan import Scan
from told.settings import Redaction
from told.text import ESCAPE_OPENERS, clean

_PLACEHOLDER = lazy_pattern(r"\[secret:[a-z0-9-]{1,40}+:[0-9a-f]{4}\]")
_MAX_DEPTH = 3  # encodings on top of each other
_MAX_ROUNDS = 6  # a replacement may let a rule see more of the rest
_AROUND = 2_000  # characters around a placeholder in which rules may find something new
_GAP = "\n\0\n\0\n"  # no secret spans this
_LEFT_OVER = 4  # letters and digits beside a placeholder that are worth another one
_DEFAULTS = Redaction()


class _Secret(NamedTuple):
    """A secret in a text; the order of the fields is the sort order."""

    start: int
    end: int
    rank: int  # of the rule; lower is better
    depth: int  # 0, or less for an encoded one
    name: str
    value: str  # decoded

    def moved(self, start: int, end: int) -> _Secret:
        """Return the same secret at another place."""
        return _Secret(start, end, *self[2:])

    @property
    def preference(self) -> tuple[int, int, int]:
        """Prefer the better rule, then the less encoded, then the longer one."""
        return self.rank, self.depth, -len(self.value)


class Redactor:
    """Replaces secrets by placeholders such as `[secret:github-token:4f2a]`.

    The last part is a keyed hash: the same secret has the same placeholder, and nobody can reverse it.
    """

    def __init__(self, key: bytes, settings: Redaction = _DEFAULTS) -> None:
        """Compile the user's rules."""
        self._key = key
        self._settings = settings
        self._custom_rules = [(rule.name, compile_rule(rule)) for rule in settings.rules]

    def redact(self, text: str) -> str:
        """Clean the text and replace secrets and `<private>` parts."""
        text = clean(text)
        scan = Scan(_to_scan(text))
        if b"private" in scan.lower:
            public = remove_private(text, scan.text)
            if public != text:
                text, scan = public, Scan(_to_scan(public))
        if not self._settings.enabled:
            return text
        secrets = _merge(text, self._find(scan, 0))
        for _ in range(_MAX_ROUNDS):
            if not secrets:
                break
            text, places = self._replace(text, secrets)
            secrets = _merge(text, self._find_near(text, places))
        return text

    def _replace(self, text: str, secrets: list[_Secret]) -> tuple[str, list[int]]:
        """Return the text with placeholders, and where those start."""
        parts: list[str] = []
        places: list[int] = []
        at = length = 0
        for secret in secrets:
            digest = blake2s(secret.value.encode(), key=self._key, digest_size=2).hexdigest()
            placeholder = f"[secret:{secret.name}:{digest}]"
            parts += (text[at : secret.start], placeholder)
            length += secret.start - at
            places.append(length)
            length += len(placeholder)
            at = secret.end
        return "".join(parts) + text[at:], places

    def _find_near(self, text: str, places: list[int]) -> list[_Secret]:
        """Find secrets near placeholders: elsewhere, the rules see what they saw before."""
        found: list[_Secret] = []
        first = 0
        while first < len(places):
            last = first
            while last + 1 < len(places) and places[last + 1] - places[last] < 2 * _AROUND:
                last += 1
            start, end = max(0, places[first] - _AROUND), places[last] + _AROUND
            least = start + _AROUND // 2 if start else 0
            most = end - _AROUND // 2 if end < len(text) else len(text)
            nearby = self._find(Scan(_to_scan(text[start:end])), 0)
            moved = (one.moved(start + one.start, start + one.end) for one in nearby)
            found += (one for one in moved if one.start >= least and one.end <= most)
            first = last + 1
        return found

    def _find(self, scan: Scan, depth: int) -> list[_Secret]:
        """Find secrets in a text and in what it encodes."""
        text = scan.text
        found = [
            _Secret(one.start, one.end, one.rank, -depth, one.name, text[one.start : one.end])
            for one in scan.find_secrets(emails=self._settings.emails)
        ]
        for rank, (name, pattern) in enumerate(self._custom_rules, -len(self._custom_rules)):
            for match in pattern.finditer(text):
                start, end = match.span("secret" if "secret" in pattern.groupindex else 0)
                if start < end:
                    found.append(_Secret(start, end, rank, -depth, name, text[start:end]))
        if depth == _MAX_DEPTH:
            return found
        if scan.words:
            words = list(decode_words(scan.flat, scan.words))
            if words:
                found += self._find_in_words(words, depth + 1)
        edits = find_edits(text, scan.flat, scan.foreign)
        if edits:
            view = View(text, edits)
            for one in self._find(Scan(_to_scan(view.text)), depth + 1):
                start, end = view.original_span(one.start, one.end)
                found.append(one.moved(start, end))
        return found

    def _find_in_words(self, words: list[tuple[int, int, str]], depth: int) -> Iterator[_Secret]:
        """Yield the encoded words that contain a secret; one scan for all is faster."""
        texts = [clean(text) for _, _, text in words]
        starts = list(accumulate((len(text) + len(_GAP) for text in texts), initial=0))
        best: dict[int, _Secret] = {}
        for one in self._find(Scan(_to_scan(_GAP.join(texts))), depth):
            word = bisect_right(starts, one.start) - 1
            best[word] = min(one, best.get(word, one), key=lambda secret: secret.preference)
        for word, one in best.items():
            yield one.moved(words[word][0], words[word][1])


def _merge(text: str, found: list[_Secret]) -> list[_Secret]:
    """Sort secrets and merge those that overlap."""
    if found and "[secret:" in text:
        found = _without_placeholders(text, found)
    found.sort()
    merged: list[_Secret] = []
    for one in found:
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            best = min(last, one, key=lambda secret: secret.preference)
            merged[-1] = best.moved(last.start, max(last.end, one.end))
        else:
            merged.append(one)
    return merged


def _without_placeholders(text: str, found: list[_Secret]) -> list[_Secret]:
    """Drop secrets that are placeholders; extend those that overlap with one."""
    known = [placeholder.span() for placeholder in _PLACEHOLDER.finditer(text)]
    ends = [end for _, end in known]
    kept = []
    for one in found:
        start, end = one.start, one.end
        first = at = bisect_right(ends, start)
        left_over = text[start:end]
        while at < len(known) and known[at][0] < end:
            left_over = left_over.replace(text[slice(*known[at])], "")
            start, end = min(start, known[at][0]), max(end, known[at][1])
            at += 1
        if first == at or sum(map(str.isalnum, left_over)) >= _LEFT_OVER:
            kept.append(one.moved(start, end))
    return kept


def _to_scan(text: str) -> str:
    """Return the text as rules should see it, with the same length."""
    if not text.isascii():
        text = to_plain_letters(text)
    if "[secret:" in text:
        text = _PLACEHOLDER.sub(lambda match: f"[{' ' * (len(match[0]) - 2)}]", text)
    if "\\" in text:
        # In a JSON string, a line feed is two characters, and a word starts behind it. In a JSON string
        # inside of a JSON string it is three, and so on.
        if "\\\\n" in text:
            text = text.replace("\\\\\\\\n", "\n    ").replace("\\\\n", "\n  ")
        text = text.replace("\\n", "\n ").replace("\\t", "  ").replace("\\r", "  ")
    return text


# Separates texts that are redacted together; ASCII, because cleaning other letters is slower.
SEPARATOR = "\n~ told ~ next ~\n"
_BATCH = 32_000  # characters


def redact_all(redact: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    """Redact texts in batches, which is faster than one by one."""
    found: list[str] = []
    begin = size = 0
    for end, text in enumerate(texts, 1):
        size += len(text)
        if size >= _BATCH or end == len(texts):
            found += _redact_batch(redact, texts[begin:end])
            begin, size = end, 0
    return found


def _redact_batch(redact: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    if len(texts) == 1:
        return [redact(texts[0])]
    joined = SEPARATOR.join(texts)
    # A lone carriage return would merge with the separator's line feed, and an escape sequence that one
    # text opens could hide the next text.
    is_safe = f"\r{SEPARATOR}" not in joined and not any(one in joined for one in ESCAPE_OPENERS)
    if is_safe and joined.count(SEPARATOR) == len(texts) - 1:
        redacted = redact(joined).split(SEPARATOR)
        if len(redacted) == len(texts):
            return redacted
    half = len(texts) // 2  # one of them contains the separator, or opens a private part
    return _redact_batch(redact, texts[:half]) + _redact_batch(redact, texts[half:])
