"""Prepare what is indexed beside a text: extra words and passages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from told.pattern import lazy_pattern
from told.search.dates import MONTHS, WEEKDAYS, day_word
from told.search.vectors.table import embed
from told.store.memories.records import Embedding, IndexFields
from told.text import remove_placeholders
from told.words import UNSPACED, WORD, is_unspaced

_MAX_PARTS = 120  # a turn with more identifiers is a listing
_NEAR = 200  # characters of the previous and the next turn

# Starts with the rare upper-case letter, which keeps the scan of plain prose fast.
_HUMP = lazy_pattern(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_PART = lazy_pattern(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_WORD = lazy_pattern(r"[a-z0-9]+")
_UNSPACED = lazy_pattern(f"[{UNSPACED}]")
_SEGMENT = lazy_pattern(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_VOWEL_SIGNS = lazy_pattern("[\u0e00-\u109f\u1780-\u17ff]")

_ASKED, _ANSWERED = 1500, 600  # characters of the first passage
_ASKED_READ, _ANSWERED_READ = 3000, 2000  # characters split into passages
_MIN_PASSAGE, _MAX_PASSAGE = 10, 45  # words
_MAX_PASSAGES = 6  # of each side
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s+|\n+")


def make_extra_words(text: str, at: int) -> str:
    """Return extra index words: date, identifier parts, character pairs."""
    words = [format_date_words(at)] if at > 0 else []
    words += _find_identifier_parts(text)
    if not text.isascii() and _UNSPACED.search(text):
        words += _find_pairs(text)
    return " ".join(words)


def make_near_words(before: str, after: str) -> str:
    """Return the end of the previous turn and the start of the next."""
    tail, head = before[-_NEAR:], after[:_NEAR]
    if len(before) > _NEAR and tail.isascii() and before[-_NEAR - 1].isalnum():
        tail = tail.partition(" ")[2] or tail
    if len(after) > _NEAR and head.isascii() and after[_NEAR].isalnum():
        head = head.rpartition(" ")[0] or head
    return f"{tail} {head}".strip()


def format_date_words(at: int) -> str:
    """Return a local date as index words: "8 may 2023 monday 20230508"."""
    try:
        day = time.localtime(at / 1000)
    except (OverflowError, ValueError, OSError):
        return ""
    words = f"{day.tm_mday} {MONTHS[day.tm_mon - 1]} {day.tm_year} {WEEKDAYS[day.tm_wday]}"
    return f"{words} {day_word(day.tm_year, day.tm_mon, day.tm_mday)}"


def _find_identifier_parts(text: str) -> list[str]:
    """Return the parts of getUserToken that are not words of the text."""
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
        if len(parts) > 4 * _MAX_PARTS:
            break
    if not parts:
        return []
    known = set(_WORD.findall(text.lower()))
    return [part for part in parts if part not in known][:_MAX_PARTS]


def _find_pairs(text: str) -> Iterator[str]:
    """Yield the character pairs of unspaced runs and the words glued to them."""
    for word in WORD.finditer(_strip_vowel_signs(text)):
        if word.group().isascii():
            continue
        parts = _SEGMENT.findall(word.group())
        for part in parts:
            if is_unspaced(part[0]):
                # The last character stands alone, so that a search for it matches.
                yield from (part[at : at + 2] for at in range(len(part)))
            elif len(parts) > 1:
                yield part.lower()


def _strip_vowel_signs(text: str) -> str:
    """Drop Thai, Khmer and similar vowel signs, which the index splits at."""
    if not _VOWEL_SIGNS.search(text):
        return text
    return "".join(char for char in text if char.isalnum() or not is_unspaced(char))


def make_index_fields(text: str, at: int, when: Sequence[str] = ()) -> IndexFields:
    """Return what is indexed for a memory's text, time (ms) and phrases of prompts that need it."""
    plain = remove_placeholders(text)
    return IndexFields(make_extra_words(plain, at), embed_memory(text, when))


def embed_memory(text: str, when: Sequence[str] = ()) -> Embedding:
    """Embed a memory: the vector of its text, followed by those of its phrases."""
    own = embed(remove_placeholders(text))
    if not own.vector or not when:
        return own
    return own._replace(vector=own.vector + b"".join(embed(one).vector for one in when))


class Passages(NamedTuple):
    """The texts of a turn to embed: per side the text, then its passages."""

    asked: tuple[str, ...]
    answered: tuple[str, ...]


def split_passages(asked: str, answered: str) -> Passages:
    """Split both sides of a turn into passages to embed."""
    return Passages(_split_side(asked, _ASKED, _ASKED_READ), _split_side(answered, _ANSWERED, _ANSWERED_READ))


def _split_side(text: str, first: int, read: int) -> tuple[str, ...]:
    text = text.strip()
    if not text:
        return ()
    parts = list(_join_sentences(text[:read]))
    return (text[:first], *parts[:_MAX_PASSAGES]) if len(parts) > 1 else (text[:first],)


def _join_sentences(text: str) -> Iterator[str]:
    """Yield sentences, short ones joined, long ones cut."""
    words: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        more = sentence.split()
        if words and (len(words) >= _MIN_PASSAGE or len(words) + len(more) > _MAX_PASSAGE):
            yield " ".join(words)
            words = []
        words += more
        while len(words) > _MAX_PASSAGE:
            yield " ".join(words[:_MAX_PASSAGE])
            words = words[_MAX_PASSAGE:]
    if words:
        yield " ".join(words)
