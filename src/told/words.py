"""Split text of any language into words and sentences, and cut words down to stems."""

# ruff: noqa: RUF001 - punctuation of many languages

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache, lru_cache

from told.pattern import lazy_pattern

# First and last code points of Thai, Lao, Burmese, Hangul, Khmer, Kana and Han.
UNSPACED_RANGES = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3005, 0x3007),
    (0x3040, 0x30FF), (0x3130, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x20000, 0x3FFFD),
)  # fmt: skip
UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED_RANGES)  # in a regular expression
WORD = lazy_pattern(r"[^\W_]+")  # a run of letters and digits
_TO_SPACE = {ord(char): " " for char in ',;:!?"()[]{}<>|*`~=@&^$“”„«»¿¡…\n\r\t\u3000。，、；：！？「」（）'}
_TO_SPACE |= {0x2019: "'", 0x2018: "'"}
_WORD_EDGES = "./'\\-_#%+"
_MAX_WORDS = 400
_SUFFIXES = (
    "ations", "ation", "ments", "ment", "ingen", "ungen", "ung", "ings", "ing", "ies", "ied", "ed", "es",
    "en", "er", "e", "s", "n",
)  # fmt: skip
_END = r"""[.!?…{}]+["')\]”’*_]*(?=\s|$)|[。！？；]+["」』）”]*|[.]{{3,}}|\n+"""
_SENTENCE_END, _PART_END = lazy_pattern(_END.format("")), lazy_pattern(_END.format(";"))
_QUOTES = "\"'”’"  # a sentence that a lower-case word follows behind one is part of another
_MAX_ABBREVIATION = 8  # characters


def is_unspaced(char: str) -> bool:
    """Tell whether a character's script has no spaces between words."""
    code = ord(char)
    return code >= 0x0E00 and any(first <= code <= last for first, last in UNSPACED_RANGES)


def split_scripts(run: str) -> Iterator[tuple[bool, str]]:
    """Split letters where the script changes: (is it unspaced?, the part)."""
    start, kind = 0, is_unspaced(run[:1] or " ")
    for at in range(1, len(run)):
        if is_unspaced(run[at]) != kind:
            yield kind, run[start:at]
            start, kind = at, not kind
    if run:
        yield kind, run[start:]


def character_pairs(run: str) -> list[str]:
    """Return every two adjacent characters; a single character stays alone."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def split_words(text: str) -> list[str]:
    """Return the lower-case words of a text without punctuation; paths and options stay whole."""
    words = [word.strip(_WORD_EDGES) for word in text.lower().translate(_TO_SPACE).split()[:_MAX_WORDS]]
    return [word for word in words if word]


def split_identifier(word: str) -> list[str]:
    """Split `getUserToken` and `HTTPServer2` where the case changes."""
    cuts = [
        at
        for at, char in enumerate(word)
        if not at or (char.isupper() and (not word[at - 1].isupper() or word[at + 1 : at + 2].islower()))
    ]
    return [word[start:end] for start, end in zip(cuts, [*cuts[1:], len(word)], strict=True)]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a crude stem, the same for most forms of a word."""
    if not word.isalpha() or len(word) < 4:
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:8]


def split_sentences(text: str, *, semicolons: bool = False) -> list[str]:
    """Return the sentences of a text; a line break ends one, and a semicolon if that is wanted."""
    return [text[start:end] for start, end in find_sentences(text, 0, len(text), semicolons=semicolons)]


def find_sentences(text: str, start: int, end: int, *, semicolons: bool = False) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence in a part of a text, with the marks that end it."""
    for stop in (_PART_END if semicolons else _SENTENCE_END).finditer(text, start, end):
        before = text[max(start, stop.start() - _MAX_ABBREVIATION) : stop.start()]
        is_quoted = stop.group()[-1] in _QUOTES and text[stop.end() + 1 : stop.end() + 2].islower()
        if not is_quoted and (stop.group() != "." or not _is_abbreviated(before)):
            yield from _strip_span(text, start, stop.end())
            start = stop.end()
    yield from _strip_span(text, start, end)


def _strip_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if part := text[start:end].strip():
        start = text.index(part, start)
        yield start, start + len(part)


def _is_abbreviated(text: str) -> bool:
    """Tell whether a text ends with an abbreviation: `e.g`, `J`."""
    word = text[-1:] and text.replace("(", " ").split(" ")[-1]
    return word.lower() in _load_abbreviations() or (len(word) == 1 and word.isupper())


@cache
def _load_abbreviations() -> frozenset[str]:
    with open(os.path.join(os.path.dirname(__file__), "abbreviations.txt"), encoding="utf-8") as file:
        return frozenset(file.read().split())
