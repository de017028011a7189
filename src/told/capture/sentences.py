"""Split a message into the sentences that a person typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from told.capture.pasted import find_typed
from told.pattern import lazy_pattern
from told.words import WORD, find_sentences

# ruff: noqa: RUF001 - punctuation of many languages

_BULLET = lazy_pattern(r"\s*(?:[-*•+–]|\(?\d{1,3}[.)]|[a-zA-Z][.)]|#{1,6})[ \t]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its span in the message."""

    start: int
    end: int
    text: str
    line: int
    item: bool  # part of a list
    heading: str  # of the list


def split_sentences(message: str, lines: Sequence[tuple[int, int]] | None = None) -> list[Sentence]:
    """Return the sentences that a person typed in a message, or those of the given lines."""
    found: list[Sentence] = []
    heading = ""
    unwrapped = message.replace("\n", " ")
    spans = find_typed(message) if lines is None else lines
    for number, (start, end) in enumerate(_join_lines(message, spans)):
        bullet = _BULLET.match(message, start, end)
        first = bullet.end() if bullet else start
        text = message[first:end].strip()
        if text.endswith((":", "：")) and len(text) < 90 and not bullet:
            heading = text
        if not bullet and not text.endswith((":", "：")):
            heading = ""
        found += [
            Sentence(left, right, message[left:right], number, bullet is not None, heading)
            for left, right in find_sentences(unwrapped, first, end)
            if count_words(message[left:right])
        ]
    return found


def has_cjk(text: str) -> bool:
    """Tell whether a text has Chinese or Japanese characters."""
    return not text.isascii() and any("\u3040" <= char <= "\u9fff" for char in text)


def count_words(text: str) -> int:
    """Return the number of words; each CJK character counts as one."""
    if has_cjk(text):
        text = "".join([f" {char} " if "\u3040" <= char <= "\u9fff" else char for char in text])
    return len(WORD.findall(text))


def _join_lines(message: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the lines, joining paragraphs that were wrapped by hand."""
    pending: tuple[int, int] | None = None
    for start, end in spans:
        if pending and _continues(message, pending, start, end):
            pending = (pending[0], end)
            continue
        if pending:
            yield pending
        pending = (start, end)
    if pending:
        yield pending


def _continues(message: str, before: tuple[int, int], start: int, end: int) -> bool:
    if message[before[1] : start] != "\n" or not 60 <= before[1] - before[0] <= 2000:
        return False
    last = message[before[1] - 1]
    following = message[start:end].lstrip()
    return (
        (last.isalnum() or last == ",") and following[:1].islower() and not _BULLET.match(message, start, end)
    )
