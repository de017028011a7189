"""Recognise documents, pages, mails and chats in a message by several signs together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from told.capture.pasted_lines import BULLET, DATA, PROSE, Line, split_paragraphs
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

SURE = 2  # signs of a text that somebody else wrote; one makes it unsure
_SIGNS, _WORDS = DATA["documents"], DATA["words"]
_SURE, _LIKELY = (tuple(map(lazy_pattern, _SIGNS[name])) for name in ("sure", "likely"))
_FURNITURE = lazy_pattern("|".join(_SIGNS["furniture"]))
_GREETING, _FAREWELL, _HEADER = (lazy_pattern(_SIGNS[name]) for name in ("greeting", "farewell", "header"))
_POINTS, _TEACHES = (lazy_pattern(_WORDS[name], re.IGNORECASE) for name in ("points", "teaches"))
_CLOSES = lazy_pattern(_SIGNS["closes"])
_READS, _GOES_ON = (lazy_pattern(_SIGNS[name], re.IGNORECASE) for name in ("reads", "goes_on"))
_INTRODUCES = lazy_pattern(_WORDS["introduces"], re.IGNORECASE)
_OWN_LABELS = frozenset(_WORDS["own_labels"].split())
_AGENT = lazy_pattern(_WORDS["agents"], re.IGNORECASE)
_HEADING = lazy_pattern(r"\s{0,3}#{1,4} \S")
_ITEM_TITLE = lazy_pattern(r"\d+\.\s[A-Z]\w+(?: \w+){0,2}$")
_UNDERLINE = lazy_pattern(r"[=-]{3,}\s*$")
_LABEL = lazy_pattern(r"([^\W\d_][\w.' -]{0,25}(?:\([^)]{1,20}\))?):\s+(\S.*)")
_SPEAKER = lazy_pattern(r"[^\W\d_]\w+(?: [^\W\d_]\w+)? [-–—] \w")
_BOLD = lazy_pattern(r"\*\*[^*\n]{2,80}\*\*")
_KEY = lazy_pattern(r"[\w-]+:(?:\s|$)")
_SENTENCE_END = lazy_pattern(r"[.!?]['\")]*\s+[A-Z]")
_TITLE_WORDS, _TITLE_CJK = 5, 12  # words, characters of a line such as `Getting started`
_FURNITURE_WORDS = 12
_PAGE = 2  # titles of a page; a heading or a date counts as two
_FIELD_WORDS = 3
_LONG_DOCUMENT = 15  # lines; its headings are enough
_BLOCK = 200  # characters of an introduced block
_LONG = 300  # characters of a paragraph that few people type
_INTRODUCTION = 24  # words of a line that introduces or points
_WRAPPED = (55, 85)  # characters of a line that a program wrapped


def find_document(lines: Sequence[Line]) -> tuple[int, int]:
    """Return how many signs of a document the lines have, and the place of the first."""
    signs = [
        *_find_patterns(lines), *_find_titles(lines), *_find_labels(lines), *_find_mail(lines),
        *_find_introduced(lines), *_find_read(lines), *_find_long(lines), *_find_front_matter(lines),
    ]  # fmt: skip
    if not signs:
        return 0, len(lines)
    return sum(weight for weight, _ in signs), min(place for _, place in signs)


def is_sign(line: Line) -> bool:
    """Tell whether a line is furniture of a document: a title, a date, a link."""
    return _weigh_title(line) > 0


def introduces(line: Line) -> bool:
    """Tell whether a short line points at what follows: `here is what I got:`."""
    text = line.text.strip()
    return (
        _is_short(text)
        and line.shape == PROSE
        and bool(_POINTS.search(text) or _INTRODUCES.search(text))
        and not _TEACHES.search(text)
    )


def _find_patterns(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    for patterns, weight in ((_SURE, SURE), (_LIKELY, 1)):
        for pattern in patterns:
            place = next((place for place, line in enumerate(lines) if pattern.search(line.text)), None)
            if place is not None:
                yield weight, place
    closing = next((place for place, line in enumerate(lines) if _CLOSES.search(line.text)), None)
    if closing:
        yield 1, _find_top(lines)
    headers = [place for place, line in enumerate(lines) if _HEADER.match(line.text.strip())]
    if len(headers) > 1:
        yield SURE, headers[0]
    bold = [place for place, line in enumerate(lines) for _ in _BOLD.finditer(line.text)]
    if len(set(bold)) > 1:
        yield 1, bold[0]


def _find_top(lines: Sequence[Line]) -> int:
    """Return the place after a short first paragraph, else 0."""
    first = next(split_paragraphs(lines))
    return 1 if len(first) == 1 < len(lines) and _is_short(lines[0].text) else 0


def _find_titles(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    weights = [_weigh_title(line) for line in lines]
    if weights and weights[-1] == 1:
        weights[-1] = 0  # nothing follows it
    for place, line in enumerate(lines):
        if place and _UNDERLINE.match(line.text) and lines[place - 1].paragraph == line.paragraph:
            weights[place - 1] = 2
        elif place and _is_body(line.text) and _ITEM_TITLE.match(lines[place - 1].text):
            weights[place - 1] = 1
    total = sum(weights)
    first = next((place for place, weight in enumerate(weights) if weight), 0)
    only_headings = all(
        weight == 0 or _HEADING.match(lines[place].text) for place, weight in enumerate(weights)
    )
    if total < (2 * _PAGE if only_headings else _PAGE):
        return
    is_sure = len(lines) >= _LONG_DOCUMENT if only_headings else total > 2 * _PAGE
    yield SURE if is_sure else 1, first


def _is_body(text: str) -> bool:
    return text[0] in " \t" and not BULLET.match(text)


def _weigh_title(line: Line) -> int:
    text = line.text.strip()
    if _HEADING.match(line.text):
        return 2
    if text.endswith((".", ",", "!", "?", ":", ";", "。", "、", "！", "？", "：")) or BULLET.match(line.text):
        return 0
    words = text.split()
    if _FURNITURE.match(text) and len(words) <= _FURNITURE_WORDS:
        return 2
    if text[0].isalpha() and text[0].lower() == text[0].upper():  # a script without capitals
        return int(len(text) <= _TITLE_CJK)
    return int(len(words) <= _TITLE_WORDS and text[0].isupper() and not text.isupper())


def _find_labels(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find speakers, who have a second word, and fields with short values."""
    labels = [
        (place, found[1], found[2])
        for place, line in enumerate(lines)
        if (found := _LABEL.match(line.text.strip())) and not BULLET.match(line.text)
    ]
    counts = Counter(label for _, label, _ in labels if label.lower() not in _OWN_LABELS)
    roles = sum(label.endswith(")") for _, label, _ in labels)
    if roles > 1 or (counts and counts.most_common(1)[0][1] > 1):
        yield SURE, labels[0][0]
    speakers = [place for place, line in enumerate(lines) if _SPEAKER.match(line.text)]
    if len(speakers) > 2:
        yield 1, speakers[0]
    fields = [
        place
        for place, label, value in labels
        if label[0].isupper() and len(value.split()) <= _FIELD_WORDS and not _TEACHES.search(value)
    ]
    if len(fields) > 1:
        yield 1, fields[0]


def _find_mail(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find a greeting of somebody else, and a farewell with a name below it."""
    farewell = next((place for place, line in enumerate(lines) if _FAREWELL.match(line.text.strip())), None)
    is_known = farewell is not None
    if farewell is None:
        farewell = next((place for place in range(len(lines) - 1) if _is_signed(lines, place)), 0)
    greeting = next((place for place in range(farewell) if _is_greeting(lines[place].text.strip())), None)
    if greeting is not None:
        yield SURE, greeting
    elif is_known:
        yield 1, _find_top(lines)


def _is_greeting(text: str) -> bool:
    """Tell whether a line greets somebody by name, who is no agent."""
    is_short = 2 <= len(text.split()) <= _TITLE_WORDS and text.endswith((",", "!", "，", ":"))
    return bool(_GREETING.match(text) or (is_short and text[0].isupper())) and not _AGENT.search(text)


def _is_signed(lines: Sequence[Line], place: int) -> bool:
    """Tell whether two short lines end a paragraph: a farewell and a name."""
    end, name = lines[place], lines[place + 1]
    return (
        end.paragraph == name.paragraph
        and (place + 2 == len(lines) or lines[place + 2].paragraph != name.paragraph)
        and all(
            len(line.text.split()) <= 3 and not line.text.rstrip().endswith((".", "?", ":"))
            for line in (end, name)
        )
        and name.text[0].isupper()
    )


def _find_introduced(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find a block after a line that points at it."""
    for place, line in enumerate(lines[:-1]):
        after = lines[place + 1]
        block = lines[place + 1 :]
        if not introduces(line) or not after.follows or after.shape != PROSE or _goes_on(block):
            continue
        if len(block) > 1 or block[-1].end - after.start >= _BLOCK:
            yield 1, place + 1
            return


def _find_read(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find a block beside a short paragraph that asks what it means, or below a colon."""
    paragraphs = list(split_paragraphs(lines))
    for number, asking in (
        ((0, paragraphs[0]), (len(paragraphs) - 1, paragraphs[-1])) if len(paragraphs) > 1 else ()
    ):
        text = lines[asking[0]].text.strip()
        rest = [line for line in lines if line.paragraph != lines[asking[0]].paragraph]
        is_block = len(rest) > 1 or len(rest[0].text) >= _BLOCK
        asks = _READS.search(text) or (
            number == 0 and text.endswith((":", "：")) and not lines[asking[-1] + 1].text[0].islower()
        )
        if len(asking) > 1 or not is_block or not asks or not _is_short(text) or _TEACHES.search(text):
            continue
        first = 0 if number else asking[-1] + 1
        if lines[first].follows and lines[first].shape == PROSE and not _goes_on(lines[first:]):
            yield 1, first
            return


def _goes_on(lines: Sequence[Line]) -> bool:
    """Tell whether the first line is a list or any line goes on with what the user types."""
    return bool(BULLET.match(lines[0].text)) or any(_GOES_ON.match(line.text.strip()) for line in lines)


def _is_short(text: str) -> bool:
    return len(text.split()) <= _INTRODUCTION


def _find_long(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    """Find long, well-set paragraphs beside short lines, and paragraphs that a program wrapped."""
    paragraphs = list(split_paragraphs(lines))
    sizes = [lines[one[-1]].end - lines[one[0]].start for one in paragraphs]
    long = [
        one[0]
        for one, size in zip(paragraphs, sizes, strict=True)
        if size >= _LONG * len(one)
        and len(_SENTENCE_END.findall(lines[one[0]].text)) >= 2
        and lines[one[0]].text[:1].isupper()
    ]
    if long and min(sizes) * 3 < _LONG:
        yield 1, long[0]
    for one in paragraphs:
        wrapped = [lines[place].text.rstrip() for place in one[:-1]]
        if len(wrapped) > 1 and all(
            _WRAPPED[0] <= len(text) <= _WRAPPED[1] and text[-1] not in ".!?:" for text in wrapped
        ):
            yield 1, one[0]
            return


def _find_front_matter(lines: Sequence[Line]) -> Iterable[tuple[int, int]]:
    rules = [place for place, line in enumerate(lines) if line.text.strip() == "---"]
    if len(rules) > 1 and any(_KEY.match(line.text) for line in lines[rules[0] + 1 : rules[1]]):
        yield SURE, rules[0]
