"""Split a message into the sentences that a person typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from told.capture.pasted import find_typed
from told.pattern import lazy_pattern
from told.words import WORD, find_sentences

# ruff: noqa: RUF001 - punctuation of many languages

_BULLET = lazy_pattern(r"\s*(?:[-*•+–]|\(?\d{1,3}[.)]|[a-zA-Z][.)]|#{1,6})[ \t]+")
_CLAUSE = lazy_pattern(
    r";\s+|\s[-–—]{1,2}\s|:\s+|,\s+(?:but|so|and|then|which|because|aber|sondern|mais|donc|et|pero|y|mas|e)\s"
    r"|\s(?:but|because)\s|[，；：]"
)
_MAX_SENTENCE = 30  # words; a longer sentence is split into clauses
_MIN_CLAUSE = 5  # words


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or clause with its span in the message."""

    start: int
    end: int
    text: str
    line: int
    item: bool  # part of a list
    heading: str  # of the list


def split_sentences(message: str, *, clauses: bool = True, documents: bool = False) -> list[Sentence]:
    """Return the sentences that a person typed in a message.

    Args:
        message: The text of one prompt.
        clauses: Whether long sentences are split into clauses.
        documents: Whether a whole document counts: an agent's answer is one.
    """
    found: list[Sentence] = []
    heading = ""
    unwrapped = message.replace("\n", " ")
    for number, (start, end) in enumerate(_join_lines(message, documents=documents)):
        bullet = _BULLET.match(message, start, end)
        first = bullet.end() if bullet else start
        text = message[first:end].strip()
        if text.endswith((":", "：")) and len(text) < 90 and not bullet:
            heading = text
        if not bullet and not text.endswith((":", "：")):
            heading = ""
        found += [
            Sentence(left, right, message[left:right], number, bullet is not None, heading)
            for whole in find_sentences(unwrapped, first, end)
            for left, right in _split_clauses(message, *whole, clauses=clauses)
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


def _join_lines(message: str, *, documents: bool) -> Iterator[tuple[int, int]]:
    """Yield the lines, joining paragraphs that were wrapped by hand."""
    pending: tuple[int, int] | None = None
    for start, end in find_typed(message, documents=documents):
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


def _split_clauses(message: str, start: int, end: int, *, clauses: bool) -> Iterator[tuple[int, int]]:
    if not count_words(message[start:end]):
        return
    if not clauses or count_words(message[start:end]) <= _MAX_SENTENCE:
        yield start, end
        return
    place = start
    for cut in _CLAUSE.finditer(message, start, end):
        if (
            count_words(message[place : cut.start()]) >= _MIN_CLAUSE
            and count_words(message[cut.start() : end]) >= _MIN_CLAUSE
        ):
            yield place, cut.start() + 1 if message[cut.start()] == ";" else cut.start()
            place = cut.end()
            if cut.group()[0] == "," or cut.group().strip() in {"but", "because"}:
                place = cut.start() + (1 if cut.group()[0] == "," else 0)
                while message[place].isspace():
                    place += 1
    yield place, end
