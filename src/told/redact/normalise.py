"""Decode escapes, wide letters and split strings; map results back."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from re import Match, Pattern
from unicodedata import normalize

from told.pattern import lazy_pattern
from told.redact.decode import find_joints

Edit = tuple[int, int, str]

# Characters around an edit that rules see, then the rest of the word: names come before values.
_BEFORE, _BEHIND, _REST_OF_WORD = 160, 400, 8_000
_MIN_QUOTES = 4  # of two strings


class View:
    """The parts of a text around edits, with the edits applied."""

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        """Apply the edits, which must be in order and must not overlap."""
        self._original = text
        self._parts: list[str] = []
        self._length = 0
        # For each part: its start here, its start in the original, original characters for each one here.
        self._here: list[int] = []
        self._there: list[int] = []
        self._width: list[float] = []
        at = -1
        for start, end, new in edits:
            if at < 0:
                at = self._start_before(start, 0)
            elif start - at > _BEFORE + _BEHIND:
                behind = self._end_behind(at)
                before = self._start_before(start, at)
                if behind < before:
                    self._copy(at, behind)
                    self._add("\n\n", behind, 0)
                    at = before
            if at < start:
                self._copy(at, start)
            if new:
                self._add(new, start, (end - start) / len(new))
            at = end
        self._copy(at, self._end_behind(at))
        self.text = "".join(self._parts)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of this text to the original."""
        first = bisect_right(self._here, start) - 1
        last = bisect_right(self._here, end - 1) - 1
        return (
            self._there[first] + int((start - self._here[first]) * self._width[first]),
            self._there[last] - int(-(end - self._here[last]) * self._width[last] // 1),
        )

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self._add(self._original[start:end], start, 1)

    def _add(self, new: str, there: int, width: float) -> None:
        self._here.append(self._length)
        self._there.append(there)
        self._width.append(width)
        self._parts.append(new)
        self._length += len(new)

    def _start_before(self, start: int, least: int) -> int:
        at = max(least, start - _BEFORE)
        space = max(self._original.rfind(" ", least, at), self._original.rfind("\n", least, at))
        return max(least, at - _REST_OF_WORD, space)

    def _end_behind(self, end: int) -> int:
        at = end + _BEHIND
        ends = [self._original.find(space, at, at + _REST_OF_WORD) for space in " \n"]
        return min((one for one in ends if one >= 0), default=at + _REST_OF_WORD)


def find_edits(text: str, flat: bytes, foreign: bytes) -> list[Edit]:
    """Find what to change so that rules see secrets as they are."""
    found: list[Edit] = []
    if (
        b"\n" in flat
        or b"''" in flat
        or flat.count(b'"') + flat.count(b"'") + flat.count(b"`") >= _MIN_QUOTES
    ):
        found += ((start, end, "") for start, end in find_joints(flat))
    if b"\\" in flat or b"%" in flat or b"&" in flat or b"=3D" in flat or foreign:
        found += _find_escapes(text, flat, foreign)
    if not found:
        return found
    found.sort()
    kept = [found[0]]
    for one in found:
        if one[0] >= kept[-1][1]:
            kept.append(one)
    return kept


# Where Unicode has other forms of ASCII characters.
_RANGES = (
    (0xA0, 0xC0), (0x2B0, 0x2E5), (0x1D2C, 0x1D6B), (0x2000, 0x200B), (0x2010, 0x2060), (0x2070, 0x20A0),
    (0x2100, 0x2190), (0x2460, 0x2500), (0x3000, 0x3001), (0xFE50, 0xFE70), (0xFF01, 0xFF5F),
    (0x1D400, 0x1D800), (0x1F100, 0x1F1AD),
)  # fmt: skip
_ASCII = bytes(range(128))
_NON_BREAKING_HYPHEN = "\u2011"


def to_plain_letters(text: str) -> str:
    """Replace other forms of ASCII characters, one by one."""
    forms = _plain_letters()
    foreign = text.encode().translate(None, _ASCII).decode()
    for letter in forms.keys() & set(foreign):
        text = text.replace(letter, forms[letter])
    return text


@cache
def _plain_letters() -> dict[str, str]:
    """Return ASCII characters by their other forms."""
    letters = (chr(code) for first, beyond in _RANGES for code in range(first, beyond))
    forms = {letter: normalize("NFKC", letter) for letter in letters} | {_NON_BREAKING_HYPHEN: "-"}
    return {letter: plain for letter, plain in forms.items() if len(plain) == 1 and plain.isascii()}


# Only visible ASCII characters, spaces, tabs and new lines are decoded.
_TWO_DIGITS = "(?:[2-6][0-9A-Fa-f]|7[0-9A-Ea-e]|0[9ADad])"
# Patterns that start with one character are fast.
_PERCENT = lazy_pattern(f"%{_TWO_DIGITS}(?:%{_TWO_DIGITS})*+")
_QUOTED_PRINTABLE = lazy_pattern(f"={_TWO_DIGITS}(?:={_TWO_DIGITS})*+")
# A run of escapes of one kind is one match: all of it may be a secret.
_BACKSLASHED = lazy_pattern(
    rf"(\\(?<!\\\\)(?=\\{{0,7}}+[uUxe/0-7])\\{{0,7}})(?:(u00|x){_TWO_DIGITS}(?:\1\2{_TWO_DIGITS})*+|(/)(?:\1/)*+"
    r"|(?:u\{0{0,4}|U000000)([2-7][0-9A-Fa-f])\}?|(0?[4-7][0-7]|0?1[0-7]{2})(?![0-9])"
    r"|(?:u001[Bb]|x1[Bb]|033|e)(\[)[0-9;?]{0,20}+[A-Za-z])"
)
_ENTITY = lazy_pattern(
    r"&(?:amp;){0,3}+(?:#0{0,5}([0-9]{2,3})|#x0{0,5}([0-9a-f]{2})|([a-z]{2,6}));", re.IGNORECASE
)
_ENTITY_NAMES = {
    "amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "sol": "/", "equals": "=",
    "lowbar": "_", "colon": ":", "period": ".", "commat": "@", "plus": "+", "dash": "-", "hyphen": "-",
    "num": "#", "dollar": "$", "percnt": "%", "excl": "!", "ast": "*", "quest": "?", "semi": ";",
}  # fmt: skip
# Combining marks, ligatures and invisible fillers behind a letter.
_COMBINING = lazy_pattern(
    "[\u0300-\u036f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufb00-\ufb06\ufe00-\ufe0f\uffa0](?<=[!-~].)"
)
_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip


def _find_escapes(text: str, flat: bytes, foreign: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield escapes and what they stand for, in no order."""
    for mark, pattern, decode in _ESCAPES:
        if mark in flat:
            yield from _decode_matches(text, pattern, decode)
    if b"\\" in flat:
        yield from _decode_matches(text, _BACKSLASHED, _decode_backslashed)
    if foreign:
        yield from _decode_matches(text, _COMBINING, lambda match: _LIGATURES.get(match[0], ""))


def _decode_matches(
    text: str, pattern: Pattern[str], decode: Callable[[Match[str]], str]
) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        new = decode(match)
        if new != match[0]:
            yield match.start(), match.end(), new


def _decode_hex_run(match: Match[str]) -> str:
    """Decode a run such as %41%42."""
    return _decode_hex(match[0].replace(match[0][0], ""))


def _decode_hex(digits: str) -> str:
    return bytes.fromhex(digits).decode("ascii").replace("\r", " ")


def _decode_backslashed(match: Match[str]) -> str:
    backslashes, kind, slash, digits, octal, colour = match.groups()
    if kind:
        return _decode_hex(match[0].replace(backslashes + kind, ""))
    if slash:
        return "/" * (len(match[0]) // (len(backslashes) + 1))
    if colour:
        return ""
    return chr(int(digits, 16) if digits else int(octal, 8))


def _decode_entity(match: Match[str]) -> str:
    digits, hexadecimal, name = match.groups()
    if name:
        return _ENTITY_NAMES.get(name.lower(), match[0])
    code = int(digits) if digits else int(hexadecimal, 16)
    return chr(code) if code in _VISIBLE else match[0]


_VISIBLE = frozenset((9, 10, *range(32, 127)))
_ESCAPES: tuple[tuple[bytes, Pattern[str], Callable[[Match[str]], str]], ...] = (
    (b"%", _PERCENT, _decode_hex_run),
    (b"&", _ENTITY, _decode_entity),
    (b"=3D", _QUOTED_PRINTABLE, _decode_hex_run),
)
