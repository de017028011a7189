"""What is indexed beside a turn's own words, so that more ways of asking find it."""

from __future__ import annotations

import time

from told.search.date_words import MONTHS, WEEKDAYS, day_word
from told.search.unspaced import RANGES, is_unspaced
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A turn that names more identifiers than this is a listing; more words would only make it look long.
_MOST_PARTS = 120
_NEAR = 200

# Begins with the rare upper-case letter, so that the scan leaps over plain prose.
_HUMP = pattern(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_PART = pattern(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_WORD = pattern(r"[a-z0-9]+")
_RANGES = "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES)
_UNSPACED = pattern(f"[{_RANGES}]")
_SEGMENT = pattern(rf"[{_RANGES}]+|[^{_RANGES}]+")
_MARKED = pattern("[\u0e00-\u109f\u1780-\u17ff]")
_LETTERS = pattern(r"[^\W_]+")


def extra_words(text: str, at: int) -> str:
    """Return what to index beside a text: its date, parts of identifiers, pairs of unspaced characters.

    Args:
        text: What was said.
        at: When, in ms since 1970; 0 when unknown.
    """
    words = [date_words(at)] if at > 0 else []
    words += _identifier_parts(text)
    if not text.isascii() and _UNSPACED.search(text):
        words += _pairs(text)
    return " ".join(words)


def near_words(before: str, after: str) -> str:
    """Return the end of the turn before and the beginning of the turn after, in whole words."""
    tail, head = before[-_NEAR:], after[:_NEAR]
    if len(before) > _NEAR and tail.isascii() and before[-_NEAR - 1].isalnum():
        tail = tail.partition(" ")[2] or tail
    if len(after) > _NEAR and head.isascii() and after[_NEAR].isalnum():
        head = head.rpartition(" ")[0] or head
    return f"{tail} {head}".strip()


def date_words(at: int) -> str:
    """Return the local date of a moment in words, and in one word: "8 may 2023 monday 20230508"."""
    try:
        day = time.localtime(at / 1000)
    except (OverflowError, ValueError, OSError):
        return ""
    words = f"{day.tm_mday} {MONTHS[day.tm_mon - 1]} {day.tm_year} {WEEKDAYS[day.tm_wday]}"
    return f"{words} {day_word(day.tm_year, day.tm_mon, day.tm_mday)}"


def _identifier_parts(text: str) -> list[str]:
    """Return the words inside getUserToken and HTTPServer that the text does not also have by themselves."""
    parts: dict[str, None] = {}
    behind = 0
    for hump in _HUMP.finditer(text):
        start, end = hump.span()
        if start < behind:
            continue
        while start and text[start - 1].isascii() and text[start - 1].isalnum():
            start -= 1
        while end < len(text) and text[end].isascii() and text[end].isalnum():
            end += 1
        behind = end
        if end - start > 80:  # base64 and the like
            continue
        parts.update(dict.fromkeys(part.lower() for part in _PART.findall(text[start:end]) if len(part) > 1))
        if len(parts) > 4 * _MOST_PARTS:
            break
    if not parts:
        return []
    known = set(_WORD.findall(text.lower()))
    return [part for part in parts if part not in known][:_MOST_PARTS]


def _pairs(text: str) -> Iterator[str]:
    """Yield the pairs of each unspaced run, its last character, and the spaced words that are glued to it."""
    for word in _LETTERS.finditer(_without_marks(text)):
        if word.group().isascii():
            continue
        parts = _SEGMENT.findall(word.group())
        for part in parts:
            if is_unspaced(part[0]):
                # Every character begins one of these, so that a search for a single one finds it.
                yield from (part[at : at + 2] for at in range(len(part)))
            elif len(parts) > 1:
                yield part.lower()


def _without_marks(text: str) -> str:
    """Drop the vowel signs that the index takes for separators inside Thai, Khmer and other words."""
    if not _MARKED.search(text):
        return text
    return "".join(char for char in text if char.isalnum() or not is_unspaced(char))
