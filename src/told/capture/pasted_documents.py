"""Recognise documents, pages, mails and chats in a message by several signs together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from told.capture.pasted_lines import BULLET, DATA, OUTPUT, OWN_LABELS, PROSE, Line, split_paragraphs
from told.pattern import lazy_pattern

SURE = 2  # signs of a text that somebody else wrote; one makes it unsure
_SIGNS, _WORDS = DATA["documents"], DATA["words"]
_SURE, _LIKELY = (tuple(map(lazy_pattern, _SIGNS[name])) for name in ("sure", "likely"))
_FURNITURE = lazy_pattern("|".join(_SIGNS["furniture"]))
_GREETING, _FAREWELL, _HEADER = (lazy_pattern(_SIGNS[name]) for name in ("greeting", "farewell", "header"))
_CLOSES = lazy_pattern(_SIGNS["closes"])
_READS, _POINTS, _TEACHES, _INTRODUCES, _AGENT = (
    lazy_pattern(_WORDS[name], re.IGNORECASE)
    for name in ("reads", "points", "teaches", "introduces", "agents")
)
_HEADING = lazy_pattern(r"\s{0,3}#{1,4} \S|\*\*[^*\n]{2,60}\*\*:?\s*$")
_UNDERLINE = lazy_pattern(r"[=-]{3,}\s*$")
_LABEL = lazy_pattern(r"\**([^\W\d_][\w.' -]{0,25}(?:\([^)]{1,20}\))?)(?::\**|\*\*:)\s+(\S.*)")
_KEY = lazy_pattern(r"[\w-]+:(?:\s|$)")
_PAGE = 2  # weight of the titles of a page
_TITLE_WORDS = 5  # of a line such as `Getting started`
_FURNITURE_WORDS = 12
_FIELD_WORDS = 3
_BLOCK = 200  # characters of one line that a person may paste
_INTRODUCTION = 24  # words of a line that introduces or points
_QUESTION = 10  # words of a line that asks about a text


def find_document(lines: Sequence[Line]) -> tuple[int, int]:
    """Return how many signs of a document the lines have, and the place of the first."""
    finders = (_find_patterns, _find_labels, _find_mail, _find_frame, _find_titles)
    signs = [sign for find in finders for sign in find(lines)]
    return sum(weight for weight, _ in signs), min((place for _, place in signs), default=len(lines))


def introduces(line: Line) -> bool:
    """Tell whether a short line points at what follows: `here is what I got:`."""
    text = line.text.strip()
    points = _POINTS.search(text) or _INTRODUCES.search(text)
    is_short = len(text.split()) <= _INTRODUCTION
    return is_short and line.shape == PROSE and bool(points) and not _TEACHES.search(text)


def is_sign(line: Line) -> bool:
    """Tell whether a line is furniture of a document: a title, a date, a link."""
    return _weigh_title(line) > 0


def _find_patterns(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    for patterns, weight in ((_SURE, SURE), (_LIKELY, 1)):
        for pattern in patterns:
            place = next((place for place, line in enumerate(lines) if pattern.search(line.text)), None)
            if place is not None:
                yield weight, place
    if any(_CLOSES.search(line.text) for line in lines[1:]):
        yield 1, 0
    bare = [line.text.strip() for line in lines]
    for is_sign_of, weight in ((_HEADER.match, SURE), (lambda text: text.startswith("**"), 1)):
        places = [place for place, text in enumerate(bare) if is_sign_of(text)]
        if len(places) > 1:
            yield weight, places[0]
    rules = [place for place, text in enumerate(bare) if text == "---"]
    if len(rules) > 1 and any(_KEY.match(line.text) for line in lines[rules[0] + 1 : rules[1]]):
        yield SURE, rules[0]


def _find_titles(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find headings and furniture of a page; headings alone may be the user's own."""
    weights = [_weigh_title(line) for line in lines]
    for place, line in enumerate(lines[1:], 1):
        if _UNDERLINE.match(line.text) and lines[place - 1].paragraph == line.paragraph:
            weights[place - 1] = SURE
    places = [place for place, weight in enumerate(weights) if weight]
    only_headings = all(_HEADING.match(lines[place].text) for place in places)
    if sum(weights) >= _PAGE and (len(places) > 1 or not only_headings):
        yield 1 if only_headings or sum(weights) < 2 * SURE else SURE, places[0]


def _weigh_title(line: Line) -> int:
    text = line.text.strip()
    if _HEADING.match(line.text):
        return 2
    if text.endswith((".", ",", "!", "?", ":", ";")) or BULLET.match(line.text):
        return 0
    words = text.split()
    if _FURNITURE.match(text) and len(words) <= _FURNITURE_WORDS:
        return 2
    return int(len(words) <= _TITLE_WORDS and text[0].isupper() and not text.isupper())


def _find_labels(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find speakers, who have a second word, and fields with short values."""
    labels = [
        (place, found[1], found[2])
        for place, line in enumerate(lines)
        if (found := _LABEL.match(line.text.strip())) and not BULLET.match(line.text)
    ]
    counts = Counter(label for _, label, _ in labels if label.lower() not in OWN_LABELS)
    roles = sum(label.endswith(")") for _, label, _ in labels)
    if roles > 1 or (counts and counts.most_common(1)[0][1] > 1):
        yield SURE, labels[0][0]
    fields = [
        place
        for place, label, value in labels
        if label[0].isupper() and len(value.split()) <= _FIELD_WORDS and not _TEACHES.search(value)
    ]
    if len(fields) > 1:
        yield 1, fields[0]


def _find_mail(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find a greeting of somebody else, and a farewell with a name below it."""
    ends = [place for place, line in enumerate(lines) if _FAREWELL.match(line.text.strip())]
    last = (ends or [place for place in range(len(lines) - 1) if _is_signed(lines, place)] or [0])[0]
    greeting = next((place for place in range(last) if _is_greeting(lines[place].text.strip())), None)
    if greeting is not None:
        yield SURE, greeting
    elif ends:
        yield 1, 0


def _is_greeting(text: str) -> bool:
    """Tell whether a line greets somebody by name, who is no agent."""
    is_short = 2 <= len(text.split()) <= _TITLE_WORDS and text.endswith((",", "!", "，", ":"))  # noqa: RUF001
    return bool(_GREETING.match(text) or (is_short and text[0].isupper())) and not _AGENT.search(text)


def _is_signed(lines: Sequence[Line], place: int) -> bool:
    """Tell whether two short lines end a paragraph: a farewell and a name."""
    own = lines[place : place + 2]
    is_last = place + 2 == len(lines) or lines[place + 2].paragraph != own[0].paragraph
    return (
        is_last
        and own[0].paragraph == own[1].paragraph
        and own[1].text[0].isalpha()
        and not own[1].text[0].islower()
        and all(
            len(line.text.split()) <= 3 and not line.text.rstrip().endswith((".", "?", ":")) for line in own
        )
    )


def _find_frame(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find a block that a short paragraph beside it asks about or points at."""
    paragraphs = split_paragraphs(lines)
    starts = [place + 1 for place, line in enumerate(lines[:-1]) if introduces(line)]
    found = [place for place in starts if _is_block(lines[place:])]
    if len(paragraphs) > 1 and len(paragraphs[-1]) == 1 and _asks(lines[-1]) and _is_block(lines[:-1]):
        found.append(0)
    if len(paragraphs) > 1 and len(paragraphs[0]) == 1 and _asks(lines[0]) and _is_block(lines[1:]):
        found.append(1)
    yield from [(1, place) for place in found[:1]]


def _asks(line: Line) -> bool:
    text = line.text.strip()
    asks = _READS.search(text) or _POINTS.search(text)
    return len(text.split()) <= _QUESTION and bool(asks) and not _TEACHES.search(text)


def _is_block(lines: Sequence[Line]) -> bool:
    first = lines[0]
    is_typed = BULLET.match(first.text) or first.text[0].islower() or not first.follows
    return first.shape != OUTPUT and not is_typed and (len(lines) > 1 or len(first.text) >= _BLOCK)
