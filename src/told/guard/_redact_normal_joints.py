"""Finds where a secret was broken: at the end of a line, or between the parts of a string."""

from __future__ import annotations

from told.guard._redact_answers import Answers
from told.guard._redact_looks import random
from told.guard._redact_patterns import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A word that begins the next line, behind what a quotation, a difference, a table or a comment puts there.
_WRAPPED = pattern(
    rb"\n(?<=[\w+/=~.\\-]\n)(?=[ \t>|#*+/-]{0,72}+[a-z_+/-]{0,12}+[0-9A-Z])"  # which is quickly seen
    rb"[ \t>|#*]{0,48}+(?:[+-]|//)?+[ \t]{0,8}+"
    rb"(?=[a-z_+/-]{0,12}+[0-9A-Z])([\w+/=~-]{4,512}+)(?=[\s\"'`,;)\]}\\]|\Z)"
)
_NO_WORD = pattern(rb"[0-9]|[a-z][A-Z]|[A-Z]{2}")
_QUOTE = rb"\\{0,8}[\"'`]"
_GAP = rb"(?:[ \t]|[ \\]\n|\n){0,40}+"
_QUOTE_BYTES = b'"', b"'", b"`"
# What may stand first, and all that may stand before the next quote: behind most quotes is something else.
_FIRST = rb"(?=[ \t\n\\+.&~|<>\"'`A-Za-z])"
_NEXT = rb"(?=[ \t\n\\+.&~|<>]{0,170}+[A-Za-z]{0,2}+\\{0,8}+[\"'`])"
# One for each kind of quote: a pattern that begins with one character is found fast.
_QUOTED = tuple(
    pattern(
        quote + _FIRST + rb"(?<=[\w+/=~.:\\-].)" + _NEXT + _GAP + rb"(?:\.\.|\+\+|\|\||<>|[+.&~])?+" + _GAP
        + rb"[A-Za-z]{0,2}" + _QUOTE + rb"(?=[\w+/=~.-])"
    )
    for quote in _QUOTE_BYTES
)  # fmt: skip
_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/")
_WORDS = bytes(97 if byte in _IN_WORDS else 32 for byte in range(256))
# Behind these, a string begins, and there is nothing to join: a text may have three quotes around it.
_NOTHING = b" \n\t\"'`([{,"
_BACKSLASH = ord("\\")
_EQUALS = ord("=")
_LONGEST_WORD = 600
_SHORT = 36  # a token shorter than this may go on in the next line, a longer one if that has no more
_WIDE = 60  # a line as long as this may have been cut by a terminal


def joints(flat: bytes) -> Iterator[tuple[int, int]]:
    """Yield what to leave out to see a secret whole."""
    if b"\n" in flat:
        yield from _wraps(flat)
    for quoted in _QUOTED:
        for match in quoted.finditer(flat):
            first = _before_backslashes(flat, match.start())
            if flat[first - 1 : first] not in _NOTHING:
                yield first, match.end()


def _is_widest(flat: bytes, start: int, end: int) -> bool:
    """Tell whether a line is as long as the lines around it, as the lines are that a terminal cuts."""
    behind = flat.find(b"\n", end + 1)
    if behind < 0:
        behind = len(flat)
    before = flat.rfind(b"\n", 0, max(0, start - 1)) + 1
    return max(behind - end, start - before) - 2 <= end - start


def _before_backslashes(flat: bytes, at: int) -> int:
    while at and flat[at - 1] == _BACKSLASH:
        at -= 1
    return at


def _wraps(flat: bytes) -> Iterator[tuple[int, int]]:
    goes_on_at = -1
    begins = Answers(_is_beginning)
    for match in _WRAPPED.finditer(flat):
        # The line feed may be marked as not meant: by a shell, a programming language, or a mail.
        marked = end = match.start()
        if flat[end - 1] == _BACKSLASH:
            end = _before_backslashes(flat, end)
        elif flat[end - 1] == _EQUALS:
            end -= 1
        line = flat.rfind(b"\n", 0, end) + 1
        tail = flat[max(line, end - _LONGEST_WORD) : end]
        word = tail[tail.translate(_WORDS).rfind(b" ") + 1 :]
        if not word:
            continue
        wide = end - line >= _WIDE
        begun = begins[word] or goes_on_at == end - len(word)
        if not (wide or begun or marked > end) or begins[match[1]]:
            continue
        cut = wide and _is_widest(flat, line, end)
        if marked > end:
            joined = True
        elif begun:
            alone = flat[match.end() : match.end() + 1] in b"\n"
            joined = (alone or cut or len(word) < _SHORT) and bool(_NO_WORD.search(match[1]))
        else:
            joined = cut and random(match[1].decode())
        if joined:
            goes_on_at = match.start(1)
            if flat[goes_on_at - 1] in b"+-" and flat[line] != flat[goes_on_at - 1]:
                goes_on_at -= 1  # no mark of a difference, but a part of the secret
            yield end, goes_on_at


def _is_beginning(word: bytes) -> bool:
    from told.guard._redact_beginnings import is_beginning  # few texts need it

    return is_beginning(word)
