"""Read the lines of a message, and tell prose from output, code and data."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from told.pattern import lazy_pattern
from told.store.memories.records import KIND_NAMES

# ruff: noqa: RUF001 - punctuation of many languages

Span = tuple[int, int]

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("pasted.toml").read_text(encoding="utf-8"))
PROSE, OTHER, OUTPUT = range(3)  # the shape of a line
BULLET = lazy_pattern(r"\s*(?:[-*•+–]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s")
QUOTE = lazy_pattern(r"\s*>+ ?")
ENDORSES = lazy_pattern(DATA["words"]["endorses"], re.IGNORECASE)
MAX_ENDORSED = 8  # lines of a quotation that the user asks to remember
_HEAD, _TAIL = 12_000, 4_000  # characters of a long message that are read
_MAX_LINE = 2_000  # characters; nobody types a longer line
_LINE = lazy_pattern(r"[^\n]+")
_FENCE = lazy_pattern(r"^[ \t]*(```+|~~~+|´´´+|\"\"\"|'''|/\*)", re.MULTILINE)
_OPENING = lazy_pattern(r"<([A-Za-z][\w:.-]*)((?: [^<>\n]{0,200})?)>")
_OUTPUT = lazy_pattern(rf"\s*(?:{'|'.join(DATA['lines']['output'])})")
_OTHER = lazy_pattern(rf"\s*(?:{'|'.join(DATA['lines']['other'])})")
_ORDERS = lazy_pattern(DATA["words"]["orders"], re.IGNORECASE)
_CODE = lazy_pattern(r"[({\[]$")
_SYMBOLS = lazy_pattern(r"[{}()\[\];=<>|\\/_:@#$%^&*+~]")
_CODE_END = lazy_pattern(r"(?:[;{]|=>|\);?|\},?)\s*$")
_OPENS, _CLOSES = lazy_pattern(r"[{(\[]\s*$"), lazy_pattern(r"\s*[})\]]")
_COLUMNS = lazy_pattern(r"\S(?:\t| {2,})(?=\S)")
_PREFIX = lazy_pattern(r"\s*([^\s\w]?[\w./@-]+(?:\[[^\]\s]*\])?\s?[:|\])>]|\S*\d\S*[:|\])>→])(?=\s|$)")
_NUMBERED = lazy_pattern(r"[\d.]+")
_OWN_LABELS = frozenset(DATA["words"]["own_labels"].split())
_MIN_FIELDS = 3  # of a line of comma-separated values


@dataclass(frozen=True, slots=True)
class Line:
    """A line outside fences and tags."""

    start: int
    end: int
    text: str
    paragraph: int
    follows: bool  # only white space precedes it since the line before
    shape: int


def read_lines(message: str) -> list[Line]:
    """Return the lines outside fences and tags; of a very long message, its head and its tail."""
    found: list[Line] = []
    paragraph = before = 0
    for start, end in _skip_blocks(message):
        for line in _LINE.finditer(message, start, end):
            if line.start() >= _HEAD and line.end() <= len(message) - _TAIL:
                continue
            text = line.group()
            between = message[before : line.start()]
            if not text.strip():
                continue
            if between.count("\n") > 1 if not between.strip() else not between.lstrip().startswith("/*"):
                paragraph += 1
            found.append(
                Line(*line.span(), text[:_MAX_LINE], paragraph, not between.strip(), _find_shape(text))
            )
            before = line.end()
    return found


def split_paragraphs(lines: Sequence[Line]) -> Iterator[range]:
    """Yield the places of the lines of each paragraph."""
    first = 0
    for place in range(1, len(lines) + 1):
        if place == len(lines) or lines[place].paragraph != lines[first].paragraph:
            yield range(first, place)
            first = place


def find_output(lines: Sequence[Line]) -> int:
    """Return the place from which a paragraph is a program's text or data; its length if nowhere."""
    if _is_table(lines) or _is_prefixed(lines) or _is_patch(lines):
        return 1 if len(lines) > 2 and not _PREFIX.match(lines[0].text) and _ends_typed(lines[0].text) else 0
    others = [place for place, line in enumerate(lines) if line.shape == OTHER]
    if len(others) < 2 and not _opens_bracket(lines, others):
        others = []
    return min(
        [place for place, line in enumerate(lines) if line.shape == OUTPUT] + others[:1] + [len(lines)]
    )


def _ends_typed(text: str) -> bool:
    return text.rstrip().endswith((":", "?"))


def _opens_bracket(lines: Sequence[Line], others: Sequence[int]) -> bool:
    """Tell whether a line opens a bracket that a later line closes."""
    return bool(others) and bool(_OPENS.search(lines[others[0]].text)) and others[0] + 1 < len(lines)


def _is_table(lines: Sequence[Line]) -> bool:
    """Tell whether the lines have the same columns: two spaces, tabs, or commas without a space."""
    if len(lines) < 2:
        return False
    columns = sum(bool(_COLUMNS.search(line.text.strip())) for line in lines)
    if columns >= 2 and columns * 2 >= len(lines):
        return not all(BULLET.match(line.text) for line in lines)
    for sign in ",;":
        counts = Counter(line.text.count(sign) for line in lines if f"{sign} " not in line.text)
        fields, count = counts.most_common(1)[0] if counts else (0, 0)
        if fields >= _MIN_FIELDS - 1 and count >= 2 and count * 2 > len(lines):
            return True
    return False


def _is_prefixed(lines: Sequence[Line]) -> bool:
    """Tell whether several lines begin with the same sign of a program: `web-1: …`, `0:04 …`."""
    starts = Counter(filter(None, (_find_prefix(line.text) for line in lines)))
    return bool(starts) and starts.most_common(1)[0][1] >= 2


def _find_prefix(text: str) -> str:
    """Return the label or the shape of the number that a line begins with, if it is no list."""
    if BULLET.match(text):
        return ""
    label = _PREFIX.match(text)
    if label:
        return "" if label[1][:-1].lower() in _OWN_LABELS else re.sub(r"\d+", "0", label[1])
    first = text.split(maxsplit=1)[0]
    if not any(map(str.isdigit, first)) or first.isalnum() or _NUMBERED.fullmatch(first):
        return ""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", first))


def _is_patch(lines: Sequence[Line]) -> bool:
    """Tell whether lines are added and removed: `-old`, `+new`."""
    signs = {line.text[0] for line in lines if line.text[0] in "+-" and line.text[1:2].isalnum()}
    return len(signs) == 2


def _find_shape(text: str) -> int:
    bare = text.strip()
    if len(text) > _MAX_LINE or len(bare) < 2:
        return OTHER
    if _OUTPUT.match(text):
        return OUTPUT
    if _ORDERS.match(bare) and not _CODE.search(bare):
        return PROSE
    if _OTHER.match(text) or _is_brief_line(bare):
        return OTHER
    if sum(map(str.isalpha, bare)) * 2 < len(bare.replace(" ", "")):
        return OTHER
    symbols = len(_SYMBOLS.findall(bare))
    return (
        OTHER if symbols * 5 >= len(bare) or (_CODE_END.search(bare) and symbols * 8 > len(bare)) else PROSE
    )


def _is_brief_line(text: str) -> bool:
    """Tell whether told wrote a line: `- Use tabs. (rule, 2026-11-03, you)`."""
    if not text.endswith(")"):
        return False
    marks = text[text.rfind("(") + 1 : -1].split(", ")
    return len(marks) > 2 and marks[0] in KIND_NAMES and (marks[-2][:4].isdigit() or marks[-2] == "undated")


def _skip_blocks(message: str) -> Iterator[Span]:
    """Yield the spans outside code fences, block comments and tags."""
    place = searched = 0
    never_closed: set[str] = set()
    fence = _FENCE.search(message)
    while opening := _OPENING.search(message, searched):
        while fence and fence.start() < searched:
            fence = _FENCE.search(message, searched)
        if fence and fence.start() < opening.start():
            yield from _skip_fence(message, place, fence)
            place = searched = _find_fence_end(message, fence)
            continue
        after = _find_tag_end(message, opening, never_closed)
        if after:
            yield place, opening.start()
            place = after
        searched = after or opening.end()
    while fence := _FENCE.search(message, place):
        yield from _skip_fence(message, place, fence)
        place = _find_fence_end(message, fence)
    yield place, len(message)


def _skip_fence(message: str, place: int, fence: re.Match[str]) -> Iterator[Span]:
    """Yield what precedes a fence, and what is in it if the user asks to remember that."""
    yield place, fence.start()
    start, end = message.find("\n", fence.end()) + 1, _find_fence_end(message, fence)
    if start and ENDORSES.search(message[max(place, fence.start() - 200) : fence.start()].rstrip()):
        inside = message[start:end].rstrip().rstrip(fence.group(1)[0])
        if inside.count("\n") <= MAX_ENDORSED:
            yield start, start + len(inside.rstrip())


def _find_fence_end(message: str, fence: re.Match[str]) -> int:
    sign = fence.group(1)
    if sign[0] in "`~´":
        closing = message.find(f"\n{sign}", fence.end())
        return len(message) if closing < 0 else closing + 1 + len(sign)
    sign = "*/" if sign == "/*" else sign
    closing = message.find(sign, fence.end())
    return len(message) if closing < 0 else closing + len(sign)


def _find_tag_end(message: str, opening: re.Match[str], never_closed: set[str]) -> int:
    """Return where the closing tag ends, or 0."""
    for closing in (f"</{opening.group(1)}{opening.group(2)}>", f"</{opening.group(1)}>"):
        if closing in never_closed:
            continue
        found = message.find(closing, opening.end())
        if found >= 0:
            return found + len(closing)
        never_closed.add(closing)
    return 0
