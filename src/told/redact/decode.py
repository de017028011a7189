"""Decode base64 and hex words, join split strings, remove private parts."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64, a2b_hex
from collections.abc import Iterable, Iterator

from told.pattern import lazy_pattern
from told.redact.scan import starts_like_secret
from told.redact.values import is_random

_FROM_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_TEXT_BYTES = bytes((9, 10, 13, *range(0x20, 0x7F)))
_HEX_DIGITS = b"0123456789abcdefABCDEF"
_NOT_IN_WORDS = lazy_pattern(rb"[^\w+/-]")
# Encoded text has one of these in every fourth (base64) or every second (hex) place.
_FOURTH_OF_TEXT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef")
_SECOND_OF_TEXT = frozenset(b"234567")
_HEAD = 16
_MIN_LENGTH = 24
_MAX_LINES = 20_000
_MIN_LINE = 40


def decode_words(flat: bytes, words: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield the long words that encode text, and that text."""
    behind = 0
    for start, end in words:
        if start < behind or end - start < _MIN_LENGTH or not _may_encode_text(flat, start):
            continue
        if _decode(flat[start : start + _HEAD]):
            word, behind = _join_lines(flat, start)
            text = _decode(word)
            if text:
                while flat[behind : behind + 1] == b"=":
                    behind += 1
                yield start, behind, text


def _may_encode_text(flat: bytes, start: int) -> bool:
    if (
        flat[start] in _FOURTH_OF_TEXT
        and flat[start + 4] in _FOURTH_OF_TEXT
        and flat[start + 8] in _FOURTH_OF_TEXT
    ):
        return True
    return flat[start] in _SECOND_OF_TEXT and flat[start + 2] in _SECOND_OF_TEXT


def _join_lines(flat: bytes, start: int) -> tuple[bytes, int]:
    """Return a word with the lines that continue it, and where it ends."""
    end = _end_of_word(flat, start)
    words, width = [flat[start:end]], end - start
    for _ in range(_MAX_LINES):
        gap = flat[end : end + 40]
        begin = end + len(gap) - len(gap.lstrip(b" \n\t"))
        if width < _MIN_LINE or b"\n" not in flat[end:begin]:
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


def _decode(word: bytes) -> str:
    """Decode a word; return "" if the result is no text."""
    if not word.translate(None, _HEX_DIGITS):
        text = _as_text(a2b_hex(word[: len(word) // 2 * 2]))
        if text:
            return text
    missing = -len(word) % 4
    if missing == 3:  # an impossible length: the last character is not part of it
        word, missing = word[:-1], 0
    try:
        return _as_text(a2b_base64(word.translate(_FROM_URL_SAFE) + b"=" * missing))
    except Error:
        return ""


def _as_text(data: bytes) -> str:
    if len(data) > 1 and not any(data[1::2]):  # UTF-16, as Windows writes it
        return data.decode("utf-16-le", "replace") if any(data) else ""
    if len(data.translate(None, _TEXT_BYTES)) * 8 > len(data):
        return ""
    return data.decode("utf-8", "replace")


# A word at the start of the next line, behind the marks of a quotation, diff, table or comment.
_WRAPPED = lazy_pattern(
    rb"\n(?<=[\w+/=~.\\-]\n)(?=[ \t>|#*+/-]{0,72}+[a-z_+/-]{0,12}+[0-9A-Z])"  # a cheap look first
    rb"[ \t>|#*]{0,48}+(?:[+-]|//)?+[ \t]{0,8}+"
    rb"(?=[a-z_+/-]{0,12}+[0-9A-Z])([\w+/=~-]{4,512}+)(?=[\s\"'`,;)\]}\\]|\Z)"
)
_NOT_A_WORD = lazy_pattern(rb"[0-9]|[a-z][A-Z]|[A-Z]{2}")
_QUOTE = rb"\\{0,8}[\"'`]"
_GAP = rb"(?:[ \t]|[ \\]\n|\n){0,40}+"
# Behind most quotes is no joint; these cheap looks find that out.
_FIRST_LOOK = rb"(?=[ \t\n\\+.&~|<>\"'`A-Za-z])"
_SECOND_LOOK = rb"(?=[ \t\n\\+.&~|<>]{0,170}+[A-Za-z]{0,2}+\\{0,8}+[\"'`])"
# One for each kind of quote: patterns that start with one character are fast.
_JOINT = (
    _FIRST_LOOK + rb"(?<=[\w+/=~.:\\-].)" + _SECOND_LOOK
    + _GAP + rb"(?:\.\.|\+\+|\|\||<>|[+.&~])?+" + _GAP
    + rb"[A-Za-z]{0,2}" + _QUOTE + rb"(?=[\w+/=~.-])"
)  # fmt: skip
_QUOTED = tuple(lazy_pattern(quote + _JOINT) for quote in (b'"', b"'", b"`"))
_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/")
_WORDS = bytes(97 if byte in _IN_WORDS else 32 for byte in range(256))
# Behind these a string starts, so there is nothing to join.
_BEFORE_STRINGS = b" \n\t\"'`([{,"
_BACKSLASH = ord("\\")
_EQUALS = ord("=")
_MAX_WORD = 600
_SHORT = 36  # a shorter token may continue in the next line, a longer one if that line has no more
_WIDE = 60  # a terminal may have wrapped a line of this length


def find_joints(flat: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans between the parts of a split secret."""
    if b"\n" in flat:
        yield from _find_wraps(flat)
    for quoted in _QUOTED:
        for match in quoted.finditer(flat):
            first = _before_backslashes(flat, match.start())
            if flat[first - 1 : first] not in _BEFORE_STRINGS:
                yield first, match.end()


def _is_as_wide_as_others(flat: bytes, start: int, end: int) -> bool:
    """Return whether a line is as long as its neighbours, as wrapped lines are."""
    behind = flat.find(b"\n", end + 1)
    if behind < 0:
        behind = len(flat)
    before = flat.rfind(b"\n", 0, max(0, start - 1)) + 1
    return max(behind - end, start - before) - 2 <= end - start


def _before_backslashes(flat: bytes, at: int) -> int:
    while at and flat[at - 1] == _BACKSLASH:
        at -= 1
    return at


def _find_wraps(flat: bytes) -> Iterator[tuple[int, int]]:
    continued_at = -1
    for match in _WRAPPED.finditer(flat):
        # A shell, a programming language or a mail may mark the line feed as not part of the text.
        marked = end = match.start()
        if flat[end - 1] == _BACKSLASH:
            end = _before_backslashes(flat, end)
        elif flat[end - 1] == _EQUALS:
            end -= 1
        line = flat.rfind(b"\n", 0, end) + 1
        tail = flat[max(line, end - _MAX_WORD) : end]
        word = tail[tail.translate(_WORDS).rfind(b" ") + 1 :]
        if not word:
            continue
        wide = end - line >= _WIDE
        started = starts_like_secret(word) or continued_at == end - len(word)
        if not (wide or started or marked > end) or starts_like_secret(match[1]):
            continue
        cut = wide and _is_as_wide_as_others(flat, line, end)
        if marked > end:
            joined = True
        elif started:
            alone = flat[match.end() : match.end() + 1] in b"\n"
            joined = (alone or cut or len(word) < _SHORT) and bool(_NOT_A_WORD.search(match[1]))
        else:
            joined = cut and is_random(match[1].decode())
        if joined:
            continued_at = match.start(1)
            if flat[continued_at - 1] in b"+-" and flat[line] != flat[continued_at - 1]:
                continued_at -= 1  # not the mark of a diff but part of the secret
            yield end, continued_at


def _any_spelling(plain: str, name: str, decimal: str, hexadecimal: str) -> str:
    """Build a pattern for a character and its escapes in HTML, JSON, code and URLs."""
    return (
        rf"(?:{plain}|&(?:amp;){{0,3}}+(?:{name}|#0{{0,5}}{decimal}|#x0{{0,5}}{hexadecimal});"
        rf"|\\{{1,8}}(?:u00|x|u\{{){hexadecimal}\}}?|%(?:25){{0,3}}{hexadecimal})"
    )


_LESS = _any_spelling("<", "lt", "60", "3c")
_MORE = _any_spelling(">", "gt", "62", "3e")
_SLASH = _any_spelling(r"\\{0,8}/", "sol", "47", "2f")
_BEFORE = lazy_pattern(rf"{_LESS}\s{{0,3}}({_SLASH})?\s{{0,3}}\Z", re.IGNORECASE)
_BEHIND = lazy_pattern(rf"(?:\s[^<>&%\\]{{0,80}})?{_MORE}", re.IGNORECASE)
_TAG = "private"
_MAX_TAG_START = 48
_TAG_STARTS = frozenset("<;cC/fF7}")


def remove_private(text: str, plain: str) -> str:
    """Replace `<private>` parts, up to the end if one is never closed."""
    kept: list[str] = []
    at = depth = 0
    for start, end, closes in _find_private_tags(plain):
        if not closes:
            if depth == 0:
                kept += (text[at:start], "[private]")
            depth += 1
        elif depth:
            depth -= 1
            at = end
    if not kept:
        return text
    return "".join(kept) + ("" if depth else text[at:])


def _find_private_tags(plain: str) -> Iterator[tuple[int, int, bool]]:
    lower = plain.lower()
    if len(lower) != len(plain):  # a few letters become two
        lower = plain.encode("ascii", "replace").lower().decode()
    at = lower.find(_TAG)
    while at >= 0:
        head = plain[max(0, at - _MAX_TAG_START) : at]
        if head.rstrip()[-1:] in _TAG_STARTS:
            before = _BEFORE.search(head)
            behind = _BEHIND.match(plain, at + len(_TAG))
            if before and behind:
                yield at - len(head) + before.start(), behind.end(), bool(before[1])
        at = lower.find(_TAG, at + len(_TAG))
