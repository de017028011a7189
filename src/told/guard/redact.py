"""Takes secrets out of text before the first byte of it is stored."""

from __future__ import annotations

from _blake2 import blake2s

from told.guard._redact_rules import RULES
from told.guard._redact_values import JUDGEMENTS, random
from told.guard.text import clean
from told.snapshot import IGNORECASE, kept, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator


_PRIVATE = pattern(r"<\s{0,3}(/?)\s{0,3}private(?:\s[^<>]{0,80})?>", IGNORECASE)
# A secret goes on over the joint of two string literals, and as far as its own characters go.
_GOES_ON = pattern(
    r"""[\w+/=~%-]*+(?:["'][ \t]{0,3}[+.]?[ \t]{0,3}\\?\n?[ \t]{0,16}["'][\w+/=~-]{8,512}+)*+"""
)
_NEXT_LINE = pattern(r"\n[ \t]{0,16}+([A-Za-z0-9_-]{8,512}+)(?=\s|\Z)")
_WIDE_TO_ASCII = {0xFF01 + offset: 0x21 + offset for offset in range(0x5E)}
_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~")
_WORD_MAP = bytes(97 if byte in _IN_WORDS else 32 for byte in range(256))
_PLACEHOLDER = pattern(r"\[secret:[a-z0-9-]{1,40}+:[0-9a-f]{4}\]")
_KNOWN = -1  # in place of a rule's number: redacted before
# How much of a value is judged: it shows what it is in its first characters, a key after its headers.
_JUDGED = 80
_JUDGED_OF_A_KEY = 2000
_MAX_REFUSALS = 20
_SHORT = 36  # a token shorter than this may go on in the next line
_LONG_WORD = b"a" * 18


def _orders_by_literal(formats: bool) -> dict[bytes, list[int]]:
    """Return which rules a literal calls for."""
    found: dict[bytes, list[int]] = {}
    for order, rule in enumerate(RULES):
        if rule.is_format == formats:
            for literal in rule.literals:
                found.setdefault(literal.encode(), []).append(order)
    return found


_FORMATS_BY_BEGINNING = _orders_by_literal(formats=True)
_CONTEXTS_BY_LITERAL = _orders_by_literal(formats=False)


def _any_of(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words, the longest first, that looks at each letter once."""
    import re

    by_letter: dict[str, set[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], set()).add(word[1:])
    choices = [re.escape(first) + _any_of(rest) for first, rest in by_letter.items() if first]
    if not choices:
        return ""
    return f"(?:{'|'.join(choices)}){'?' if '' in by_letter else ''}"


# Where a long word, or a part of one, begins as a secret does; the words stand on lines of their own.
def _beginnings() -> bytes:
    return rf"[\n.~-]({_any_of(map(bytes.decode, _FORMATS_BY_BEGINNING))})".encode()


_BEGINNING = pattern(kept("told.guard.redact:beginnings", _beginnings))


class Redactor:
    """Replaces secrets by placeholders such as `[secret:github-token:4f2a]`.

    The last part is a keyed hash: the same secret has the same placeholder, and nobody can guess it back.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._patterns: dict[int, re.Pattern[str]] = {}

    def redact(self, text: str) -> str:
        """Return the text, cleaned, with a placeholder for each secret and each `<private>` part."""
        text = _without_private(clean(text))
        spans = self._spans(text)
        if not spans:
            return text
        kept: list[str] = []
        at = 0
        for start, end, name in spans:
            digest = blake2s(text[start:end].encode(), key=self._key, digest_size=2).hexdigest()
            kept += (text[at:start], f"[secret:{name}:{digest}]")
            at = end
        return "".join(kept) + text[at:]

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return where secrets are, in order and without overlap; the first rule that sees one names it."""
        plain = _narrow(text)
        flat = plain.encode("ascii", "replace")  # still a byte for a character
        found: list[tuple[int, int, int]] = []
        for beginning in set(_BEGINNING.findall(_long_words(flat))):
            for order in _FORMATS_BY_BEGINNING[beginning]:
                found += self._matches(order, beginning, plain, flat, set())
        flat = flat.lower()
        starts: set[int] = set()
        for literal, orders in _CONTEXTS_BY_LITERAL.items():
            if literal in flat:
                for order in orders:
                    found += self._matches(order, literal, plain, flat, starts)
        if not found:
            return []
        found += ((*placeholder.span(), _KNOWN) for placeholder in _PLACEHOLDER.finditer(plain))
        merged: list[tuple[int, int, int]] = []
        for start, end, order in sorted(found):
            if merged and start < merged[-1][1]:
                last = merged.pop()
                merged.append((last[0], max(last[1], end), min(last[2], order)))
            else:
                merged.append((start, end, order))
        return [(start, end, RULES[order].name) for start, end, order in merged if order != _KNOWN]

    def _matches(
        self, order: int, literal: bytes, text: str, flat: bytes, starts: set[int]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield where a rule finds a secret; `starts` says where secrets were found before, and learns."""
        rule = RULES[order]
        compiled = self._patterns.get(order)
        if compiled is None:
            compiled = self._patterns[order] = pattern(rule.pattern, 0 if rule.is_format else IGNORECASE)
        judge = JUDGEMENTS[rule.accept]
        judged = _JUDGED_OF_A_KEY if rule.accept == "key-body" else _JUDGED
        refused_end = refusals = 0
        at = flat.find(literal)
        while at >= 0:
            match = compiled.match(text, at)
            behind = at + 1
            if match and match.start(match.lastgroup or 0) not in starts:
                start, end = match.span(match.lastgroup or 0)
                value = text[start : min(end, start + judged)]
                head, lead = text[max(0, at - 60) : at], text[at:start]
                if value and judge(value, head, lead, text[end : end + 1]):
                    end = behind = _grown(text, start, end, rule.is_format)
                    starts.add(start)
                    yield start, end, order
                else:
                    # Names that repeat without a gap could make one long value be judged over and over.
                    refusals = refusals + 1 if end == refused_end else 0
                    refused_end = end
                    if rule.is_format or refusals > _MAX_REFUSALS:
                        behind = max(end, behind)
            at = flat.find(literal, behind)


def _grown(text: str, start: int, end: int, over_lines: bool) -> int:
    """Return where a secret is really over: its pattern is bounded, and terminals wrap long lines."""
    match = _GOES_ON.match(text, end)
    if match:
        end = match.end()
    if over_lines and end - start < _SHORT:
        match = _NEXT_LINE.match(text, end)
        if match and random(match[1]) and not _BEGINNING.match(b"\n" + match[1].encode()):
            end = match.end()
    return end


def _without_private(text: str) -> str:
    """Replace what the user marked as private, to the end of the text if the mark is never closed."""
    kept: list[str] = []
    at = depth = 0
    for tag in _PRIVATE.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept += (text[at : tag.start()], "[private]")
            depth += 1
        elif depth:
            depth -= 1
            at = tag.end()
    if not kept:
        return text
    return "".join(kept) + ("" if depth else text[at:])


def _narrow(text: str) -> str:
    """Write full-width letters as ordinary ones, character for character."""
    if text.isascii():
        return text
    encoded = text.encode()
    return text.translate(_WIDE_TO_ASCII) if b"\xef\xbc" in encoded or b"\xef\xbd" in encoded else text


def _long_words(flat: bytes) -> bytes:
    """Return only the unbroken runs of 18 and more: few texts have any, and most tokens are one."""
    shape = flat.translate(_WORD_MAP)
    at = shape.find(_LONG_WORD)
    if at < 0:
        return b""
    found = [b""]
    while at >= 0:
        end = shape.find(b" ", at)
        if end < 0:
            end = len(shape)
        found.append(flat[at:end])
        at = shape.find(_LONG_WORD, end)
    return b"\n".join(found)
