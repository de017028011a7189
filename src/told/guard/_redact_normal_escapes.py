"""Finds what stands for other characters: in addresses, in strings of JSON, in programs, HTML and mails."""

from __future__ import annotations

from told.guard._redact_patterns import pattern
from told.snapshot import IGNORECASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from re import Match, Pattern

# Only what stands for a visible ASCII character, a space, a tab or a new line is of interest.
_TWO_DIGITS = "(?:[2-6][0-9A-Fa-f]|7[0-9A-Ea-e]|0[9ADad])"
# Each begins with one character, which makes looking for it fast.
_PERCENT = pattern(f"%{_TWO_DIGITS}(?:%{_TWO_DIGITS})*+")
_PRINTABLE = pattern(f"={_TWO_DIGITS}(?:={_TWO_DIGITS})*+")
# A run of the same kind is one: all of it may be a secret.
_BACKSLASHED = pattern(
    rf"(\\(?<!\\\\)(?=\\{{0,7}}+[uUxe/0-7])\\{{0,7}})(?:(u00|x){_TWO_DIGITS}(?:\1\2{_TWO_DIGITS})*+|(/)(?:\1/)*+"
    r"|(?:u\{0{0,4}|U000000)([2-7][0-9A-Fa-f])\}?|(0?[4-7][0-7]|0?1[0-7]{2})(?![0-9])"
    r"|(?:u001[Bb]|x1[Bb]|033|e)(\[)[0-9;?]{0,20}+[A-Za-z])"
)
_ENTITY = pattern(r"&(?:amp;){0,3}+(?:#0{0,5}([0-9]{2,3})|#x0{0,5}([0-9a-f]{2})|([a-z]{2,6}));", IGNORECASE)
_NAMED = {
    "amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "nbsp": " ", "sol": "/", "equals": "=",
    "lowbar": "_", "colon": ":", "period": ".", "commat": "@", "plus": "+", "dash": "-", "hyphen": "-",
    "num": "#", "dollar": "$", "percnt": "%", "excl": "!", "ast": "*", "quest": "?", "semi": ";",
}  # fmt: skip
# Marks that stand on a letter, letters that are two, and what fills a place with nothing.
_ADDED = pattern(
    "[\u0300-\u036f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufb00-\ufb06\ufe00-\ufe0f\uffa0](?<=[!-~].)"
)
_BEGINNINGS_OF_ADDED = (
    b"\xcc", b"\xcd", b"\xe1\x85", b"\xe1\x9e", b"\xe2\xa0", b"\xe3\x85", b"\xef\xac", b"\xef\xb8",
    b"\xef\xbe",
)  # fmt: skip
_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip


def escapes(text: str, flat: bytes, foreign: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield where something stands for other characters, and for which; in no order."""
    for mark, sought, decode in _ESCAPES:
        if mark in flat:
            yield from _decoded(text, sought, decode)
    if b"\\" in flat:
        yield from _decoded(text, _BACKSLASHED, _backslashed)
    if foreign and any(beginning in foreign for beginning in _BEGINNINGS_OF_ADDED):
        yield from _decoded(text, _ADDED, lambda match: _LIGATURES.get(match[0], ""))


def _decoded(
    text: str, sought: Pattern[str], decode: Callable[[Match[str]], str]
) -> Iterator[tuple[int, int, str]]:
    for match in sought.finditer(text):
        new = decode(match)
        if new != match[0]:
            yield match.start(), match.end(), new


def _from_hex(match: Match[str]) -> str:
    """Decode a run of two digits each, with the same character before all of them."""
    return _characters(match[0].replace(match[0][0], ""))


def _characters(digits: str) -> str:
    return bytes.fromhex(digits).decode("ascii").replace("\r", " ")


def _backslashed(match: Match[str]) -> str:
    backslashes, kind, slash, digits, octal, colour = match.groups()
    if kind:
        return _characters(match[0].replace(backslashes + kind, ""))
    if slash:
        return "/" * (len(match[0]) // (len(backslashes) + 1))
    if colour:
        return ""
    return chr(int(digits, 16) if digits else int(octal, 8))


def _entity(match: Match[str]) -> str:
    digits, hexadecimal, name = match.groups()
    if name:
        return _NAMED.get(name.lower(), match[0])
    code = int(digits) if digits else int(hexadecimal, 16)
    return chr(code) if code in _VISIBLE else match[0]


_VISIBLE = frozenset((9, 10, *range(32, 127)))
_ESCAPES: tuple[tuple[bytes, Pattern[str], Callable[[Match[str]], str]], ...] = (
    (b"%", _PERCENT, _from_hex),
    (b"&", _ENTITY, _entity),
    (b"=3D", _PRINTABLE, _from_hex),
)
