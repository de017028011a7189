"""Find the parts of a message that the user typed; what was pasted teaches nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from told.capture.pasted_documents import SURE, find_document, introduces, is_sign
from told.capture.pasted_lines import (
    BULLET,
    DATA,
    ENDORSES,
    MAX_ENDORSED,
    PROSE,
    QUOTE,
    Line,
    Span,
    find_output,
    read_lines,
    split_paragraphs,
)
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

_WORDS = DATA["words"]
_NOT_TYPED = tuple(_WORDS["not_typed"])  # programs send these in the user's name
_INTRODUCES, _SAYS = (lazy_pattern(_WORDS[name], re.IGNORECASE) for name in ("introduces", "says"))
_MAIL = lazy_pattern(_WORDS["mail"], re.MULTILINE)
_INDENT = lazy_pattern(r" {4,}|\t")
_MIN_INDENT = lazy_pattern(r" {2,}|\t")
_WRAPPED = 40  # characters of a line before one that goes on with it
_MAX_EDGE = 40  # words of a typed line after a document
_TYPED, _UNSURE, _PASTED = range(3)


class Parts(NamedTuple):
    """The spans of a message that a person typed, and those that may be pasted."""

    typed: tuple[Span, ...]
    unsure: tuple[Span, ...]


def mask_pasted(message: str) -> str:
    """Replace all characters that were not surely typed by spaces; the length stays the same."""
    masked = ["\n" if char == "\n" else " " for char in message]
    for start, end in read_parts(message).typed:
        masked[start:end] = message[start:end]
    return "".join(masked)


def find_typed(message: str, *, documents: bool = False) -> list[Span]:
    """Return the spans of the lines that a person typed, or may have typed.

    Args:
        message: The text of one prompt, or of an agent's answer.
        documents: Keep documents, as an agent's answer is one.
    """
    parts = read_parts(message, documents=documents)
    return sorted(parts.typed + parts.unsure)


def is_unsure(message: str, start: int, end: int) -> bool:
    """Tell whether a part of a message may be pasted."""
    return any(first < end and start < last for first, last in read_parts(message).unsure)


@lru_cache(maxsize=16)  # of a message, its sentences and the answer before it
def read_parts(message: str, *, documents: bool = False) -> Parts:
    """Tell what was typed from what was pasted."""
    if message.lstrip().startswith(_NOT_TYPED):
        return Parts((), ())
    mail = _MAIL.search(message)
    lines = read_lines(message[: mail.start()] if mail else message)
    marks = _mark_output(lines)
    _mark_quoted(lines, marks)
    _mark_indented(message, lines, marks)
    endorsed = _mark_endorsed(lines, marks)
    if not documents:
        _mark_document(lines, marks)
    found: tuple[list[Span], list[Span]] = ([], [])
    for place, mark in enumerate(marks):
        if mark != _PASTED:
            found[mark].append(endorsed.get(place) or _cut_reported(message, lines[place]))
    return Parts(tuple(found[_TYPED]), tuple(found[_UNSURE]))


def _mark_output(lines: Sequence[Line]) -> list[int]:
    """Mark output, code and data; what stands between two such paragraphs is unsure."""
    marks = [_TYPED] * len(lines)
    paragraphs = list(split_paragraphs(lines))
    pasted = []
    for one in paragraphs:
        own = [lines[place] for place in one]
        first = find_output(own)
        pasted.append(first < 2 and first < len(own))
        for place in one:
            if place - one[0] >= first or (lines[place].shape != PROSE):
                marks[place] = _PASTED
        if 1 < first < len(own) and not own[first - 1].text.rstrip().endswith((":", "?")):
            marks[one[0] : one[0] + first] = [max(mark, _UNSURE) for mark in marks[one[0] : one[0] + first]]
        elif first == 1 and len(own) > 1 and not own[0].text[0].isalnum():
            marks[one[0]] = _PASTED  # a comment above code
    for number, one in enumerate(paragraphs[1:-1], 1):
        if pasted[number - 1] and pasted[number + 1]:
            for place in one:
                marks[place] = max(marks[place], _UNSURE)
    return marks


def _mark_quoted(lines: Sequence[Line], marks: list[int]) -> None:
    """Mark the paragraph after a line such as `The log says:`."""
    for place, line in enumerate(lines[1:], 1):
        before = lines[place - 1]
        introduced = line.follows and marks[place - 1] == _TYPED and bool(_INTRODUCES.search(before.text))
        continued = (
            marks[place - 1] == _PASTED and line.paragraph == before.paragraph and before.shape == PROSE
        )
        if (introduced and not BULLET.match(line.text)) or continued:
            marks[place] = _PASTED


def _mark_indented(message: str, lines: Sequence[Line], marks: list[int]) -> None:
    """Mark indented code: blocks after a line that is neither indented nor a list."""
    in_list = False
    for paragraph in split_paragraphs(lines):
        own = [lines[place].text for place in paragraph]
        if all(map(_MIN_INDENT.match, own)) and not in_list and not any(map(BULLET.match, own)):
            for place in paragraph:
                marks[place] = _PASTED
        in_list = bool(BULLET.match(own[-1])) or (in_list and bool(_MIN_INDENT.match(own[-1])))
    first = list(takewhile(lambda line: _MIN_INDENT.match(line.text) and not BULLET.match(line.text), lines))
    if 1 < len(first) < len(lines):  # a block that begins the message
        marks[: len(first)] = [_PASTED] * len(first)
    in_list = False
    before: Line | None = None
    for place, line in enumerate(lines):
        if BULLET.match(line.text):
            in_list = True
        elif not _INDENT.match(line.text):
            in_list = False
        elif not in_list and before and not _is_wrapped(message, before, line.start):
            marks[place] = _PASTED
            continue
        before = line if marks[place] != _PASTED else before


def _is_wrapped(message: str, before: Line, start: int) -> bool:
    """Tell whether an indented line goes on with the sentence before it."""
    return (
        message[before.end : start] == "\n"
        and len(before.text) >= _WRAPPED
        and before.text[-1] not in ".:!?。：！？"
    )


def _mark_document(lines: Sequence[Line], marks: list[int]) -> None:
    """Mark a document from its first sign on; a last paragraph may be the user's again."""
    signs, first = find_document(lines)
    if not signs:
        return
    while first and lines[first - 1].paragraph == lines[first].paragraph and not introduces(lines[first - 1]):
        first -= 1
    mark = _PASTED if signs >= SURE else _UNSURE
    last = list(split_paragraphs(lines))[-1]
    for place in range(first, len(lines)):
        if last[0] > first and place in last and _is_edge([lines[at] for at in last]):
            is_free = lines[place].text[0].islower() or lines[place].text.rstrip().endswith("?")
            marks[place] = max(
                marks[place],
                _TYPED if is_free else min(mark, _UNSURE) if not is_sign(lines[last[0] - 1]) else mark,
            )
        else:
            marks[place] = max(marks[place], mark)


def _is_edge(lines: Sequence[Line]) -> bool:
    """Tell whether a paragraph can be what a user adds below a document."""
    return (
        len(lines) == 1
        and lines[0].shape == PROSE
        and len(lines[0].text.split()) <= _MAX_EDGE
        and not is_sign(lines[0])
    )


def _mark_endorsed(lines: Sequence[Line], marks: list[int]) -> dict[int, Span]:
    """Return the spans of short quotations that a typed line asks to remember."""
    found: dict[int, Span] = {}
    for place, line in enumerate(lines):
        if marks[place] != _TYPED or not ENDORSES.search(line.text):
            continue
        last = place
        while last + 1 < len(lines) and lines[last + 1].follows and QUOTE.match(lines[last + 1].text):
            last += 1
        if last - place <= MAX_ENDORSED:
            for at in range(place + 1, last + 1):
                marks[at] = _TYPED
                found[at] = (lines[at].start + len(QUOTE.match(lines[at].text)[0]), lines[at].end)  # type: ignore[index]
    return found


def _cut_reported(message: str, line: Line) -> Span:
    """Return a line up to the words that it reports: `The README says: …`."""
    says = _SAYS.search(message, line.start, line.end)
    return (line.start, says.end()) if says else (line.start, line.end)
