"""Find the parts of a message that the user typed; what was pasted teaches nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from told.capture.pasted_documents import SURE, find_document, introduces, is_sign
from told.capture.pasted_lines import (
    BULLET,
    DATA,
    ENDORSES,
    MAX_ENDORSED,
    PROSE,
    QUOTE,
    QUOTED,
    Line,
    Span,
    find_output,
    read_lines,
    split_paragraphs,
)
from told.pattern import lazy_pattern

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


def mask_pasted(message: str, *, strict: bool = False) -> str:
    """Replace pasted characters by spaces of the same length; if strict, also what only may be pasted."""
    masked = ["\n" if char == "\n" else " " for char in message]
    parts = read_parts(message)
    for start, end in parts.typed if strict else parts.typed + parts.unsure:
        masked[start:end] = message[start:end]
    return "".join(masked)


def find_typed(message: str) -> list[Span]:
    """Return the spans of the lines that a person typed, or may have typed."""
    parts = read_parts(message)
    return sorted(parts.typed + parts.unsure)


def is_unsure(message: str, start: int, end: int) -> bool:
    """Tell whether a part of a message may be pasted."""
    return any(first < end and start < last for first, last in read_parts(message).unsure)


@lru_cache(maxsize=16)  # of a message, its sentences and the answer before it
def read_parts(message: str) -> Parts:
    """Tell what was typed from what was pasted."""
    if message.lstrip().startswith(_NOT_TYPED):
        return Parts((), ())
    mail = _MAIL.search(message)
    lines = read_lines(message[: mail.start()] if mail else message)
    marks = _mark_output(lines)
    _mark_quoted(lines, marks)
    _mark_indented(message, lines, marks)
    endorsed = _mark_endorsed(lines, marks)
    _mark_document(lines, marks)
    found: tuple[list[Span], list[Span]] = ([], [])
    for place, (line, mark) in enumerate(zip(lines, marks, strict=True)):
        if mark != _PASTED:
            says = _SAYS.search(message, line.start, line.end)  # "The README says: …"
            found[mark].append(endorsed.get(place) or (line.start, says.end() if says else line.end))
    return Parts(tuple(found[_TYPED]), tuple(found[_UNSURE]))


def _mark_output(lines: Sequence[Line]) -> list[int]:
    """Mark output, code and data; what stands between two such paragraphs is unsure."""
    marks = [_PASTED if line.shape == QUOTED else _TYPED for line in lines]
    paragraphs = split_paragraphs(lines)
    for one in paragraphs:
        first = one[0] + find_output([lines[place] for place in one])
        last = max((place for place in one if lines[place].shape != PROSE), default=one[-1])
        for place in range(first, one[-1] + 1):
            marks[place] = _PASTED if place <= last or place - last <= last + 1 - first else _UNSURE
        introduced = first > one[-1] or lines[first - 1].text.rstrip().endswith((":", "?"))
        if first - one[0] > 1 and not introduced:
            marks[one[0] : first] = [max(mark, _UNSURE) for mark in marks[one[0] : first]]
    for before, one, after in zip(paragraphs, paragraphs[1:], paragraphs[2:], strict=False):
        if all(_PASTED in marks[near[0] : near[-1] + 1] for near in (before, after)):
            marks[one[0] : one[-1] + 1] = [max(mark, _UNSURE) for mark in marks[one[0] : one[-1] + 1]]
    return marks


def _mark_quoted(lines: Sequence[Line], marks: list[int]) -> None:
    """Mark the paragraph after a line such as `The log says:`."""
    quoted = -1
    for place, (before, line) in enumerate(pairwise(lines), 1):
        if line.follows and marks[place - 1] == _TYPED and _INTRODUCES.search(before.text):
            quoted = -1 if BULLET.match(line.text) else line.paragraph
        if line.paragraph == quoted:
            marks[place] = _PASTED


def _mark_indented(message: str, lines: Sequence[Line], marks: list[int]) -> None:
    """Mark indented code: blocks after a line that is neither indented nor a list."""
    in_list = False
    before: Line | None = None
    for one in split_paragraphs(lines):
        own = [lines[place] for place in one]
        block = all(_MIN_INDENT.match(line.text) and not BULLET.match(line.text) for line in own)
        for place in one:
            line = lines[place]
            if BULLET.match(line.text):
                in_list = True
            elif not _MIN_INDENT.match(line.text):
                in_list = False
            elif not in_list:
                goes_on = (  # with a long sentence
                    before is not None
                    and message[before.end : line.start] == "\n"
                    and len(before.text) >= _WRAPPED
                    and before.text[-1] not in ".:!?。：！？"  # noqa: RUF001 - punctuation of many languages
                )
                if block or (_INDENT.match(line.text) and not goes_on):
                    marks[place] = _PASTED
            before = line if marks[place] != _PASTED else before


def _mark_document(lines: Sequence[Line], marks: list[int]) -> None:
    """Mark a document from its first sign on; a last paragraph may be the user's again."""
    signs, first = find_document(lines)
    if not signs:
        return
    mark, own = _PASTED if signs >= SURE else _UNSURE, marks[-1]
    start = first
    while start and lines[start - 1].paragraph == lines[start].paragraph and not introduces(lines[start - 1]):
        start -= 1
        marks[start] = max(marks[start], _UNSURE)
    marks[first:] = [max(one, mark) for one in marks[first:]]
    last = lines[-1]
    is_alone = len(split_paragraphs(lines)[-1]) == 1 and len(lines) - 1 > first
    if is_alone and last.shape == PROSE and len(last.text.split()) <= _MAX_EDGE and not is_sign(last):
        is_free = last.text[0].islower() or last.text.rstrip().endswith("?")
        marks[-1] = own if is_free else marks[-1] if is_sign(lines[-2]) else max(own, _UNSURE)


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
