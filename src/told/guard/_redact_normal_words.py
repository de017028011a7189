"""Reads words that are text in another alphabet: base64 and hexadecimal digits."""

from __future__ import annotations

from binascii import Error, a2b_base64, a2b_hex

from told.guard._redact_patterns import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STANDARD = bytes.maketrans(b"-_", b"+/")
_PLAIN = bytes((9, 10, 13, *range(0x20, 0x7F)))
_HEX_DIGITS = b"0123456789abcdefABCDEF"
_NOT_IN_WORDS = pattern(rb"[^\w+/-]")
# Text shows in the first characters of a word: in base64 in every fourth, in hexadecimal in every second.
_FIRST = 16
_FOURTH_OF_TEXT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef")
_SECOND_OF_TEXT = frozenset(b"234567")
_SHORTEST = 24
_MOST_LINES = 20_000
_SHORTEST_LINE = 40


def encoded(flat: bytes, words: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield those of the long words that are text in another alphabet, and what they say.

    Text in base64 has hardly ever one of the two characters that are no letters and no digits.
    """
    behind = 0
    for start, end in words:
        first = flat[start]
        if (
            first in _FOURTH_OF_TEXT
            and flat[start + 4] in _FOURTH_OF_TEXT
            and flat[start + 8] in _FOURTH_OF_TEXT
        ):
            pass
        elif first not in _SECOND_OF_TEXT or flat[start + 2] not in _SECOND_OF_TEXT:
            continue
        if start < behind or end - start < _SHORTEST:
            continue
        head = flat[start : start + _FIRST]
        if _decoded(head):
            word, behind = _with_further_lines(flat, start)
            text = _decoded(word)
            if text:
                while flat[behind : behind + 1] == b"=":
                    behind += 1
                yield start, behind, text


def _with_further_lines(flat: bytes, start: int) -> tuple[bytes, int]:
    """Return a word with those lines behind it that go on with it, and where it ends."""
    end = _end_of_word(flat, start)
    words, width = [flat[start:end]], end - start
    for _ in range(_MOST_LINES):
        gap = flat[end : end + 40]
        begin = end + len(gap) - len(gap.lstrip(b" \n\t"))
        if width < _SHORTEST_LINE or b"\n" not in flat[end:begin]:
            break
        behind = _end_of_word(flat, begin)
        if not 0 < behind - begin <= width:
            break
        words.append(flat[begin:behind])
        end = behind
        if behind - begin < width:
            break
    return b"".join(words), end


def _end_of_word(flat: bytes, start: int) -> int:
    match = _NOT_IN_WORDS.search(flat, start)
    return match.start() if match else len(flat)


def _decoded(word: bytes) -> str:
    """Return what a word says, or nothing if that is no text."""
    if not word.translate(None, _HEX_DIGITS):
        text = _as_text(a2b_hex(word[: len(word) // 2 * 2]))
        if text:
            return text
    missing = -len(word) % 4
    if missing == 3:  # no word has such a length: its last character belongs to something else
        word, missing = word[:-1], 0
    try:
        return _as_text(a2b_base64(word.translate(_STANDARD) + b"=" * missing))
    except Error:
        return ""


def _as_text(data: bytes) -> str:
    if len(data) > 1 and not any(data[1::2]):  # as Windows writes it
        return data.decode("utf-16-le", "replace") if any(data) else ""
    if len(data.translate(None, _PLAIN)) * 8 > len(data):
        return ""
    return data.decode("utf-8", "replace")
