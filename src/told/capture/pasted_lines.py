"""Read the lines of a message, and tell prose from output, code and data."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from told.pattern import lazy_pattern
from told.store.memories.records import KIND_NAMES

Span = tuple[int, int]

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("pasted.toml").read_text(encoding="utf-8"))
PROSE, QUOTED, CODE, OUTPUT = range(4)  # the shape of a line
BULLET = lazy_pattern(r"\s*(?:[-*•+–]|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s")  # noqa: RUF001 - people write it
QUOTE = lazy_pattern(r"\s*>+ ?")
ENDORSES = lazy_pattern(DATA["words"]["endorses"], re.IGNORECASE)
MAX_ENDORSED = 8  # lines of a quotation that the user asks to remember
_HEAD, _TAIL = 12_000, 4_000  # characters of a long message that are read
_MAX_LINE = 2_000  # characters; nobody types a longer line
_LINE = lazy_pattern(r"[^\n]+")
_BLOCK = lazy_pattern(
    r"^[ \t]*(?P<fence>```+|~~~+|´´´+|\"\"\"|'''|/\*)"  # noqa: RUF001 - as above
    r"|<(?P<tag>[A-Za-z][\w:.-]*)(?P<attributes>(?: [^<>\n]{0,200})?)>",
    re.MULTILINE,
)
_OUTPUT, _CODE, _QUOTED = (
    lazy_pattern(rf"\s*(?:{'|'.join(DATA['lines'][name])})") for name in ("output", "code", "quoted")
)
_SYMBOLS = lazy_pattern(r"[{}()\[\];=<>|\\/_:@#$%^&*+~]")
_CODE_END = lazy_pattern(r"(?:[;{]|=>|\);?|\},?)\s*$")
_COLUMNS = lazy_pattern(r"\S(?:\t| {2,})(?=\S)")
_LABEL = lazy_pattern(r"\s*([^\s\w]?[\w./@-]+(?:\[[^\]\s]*\])?\s?[:|\])>]|\S*\d\S*[:|\])>→])(?=\s|$)")
_NUMBER = lazy_pattern(r"[\d.,]+[^\W\d_]{0,3}")
OWN_LABELS = frozenset(DATA["words"]["own_labels"].split())


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
            text = line.group()
            if not text.strip() or (line.start() >= _HEAD and line.end() <= len(message) - _TAIL):
                continue
            between = message[before : line.start()]
            if between.count("\n") > 1 if not between.strip() else not between.lstrip().startswith("/*"):
                paragraph += 1
            found.append(
                Line(*line.span(), text[:_MAX_LINE], paragraph, not between.strip(), _find_shape(text))
            )
            before = line.end()
    return found


def split_paragraphs(lines: Sequence[Line]) -> list[range]:
    """Return the places of the lines of each paragraph."""
    firsts = [at for at, line in enumerate(lines) if not at or line.paragraph != lines[at - 1].paragraph]
    return [range(first, end) for first, end in zip(firsts, [*firsts[1:], len(lines)], strict=False)]


def find_output(lines: Sequence[Line]) -> int:
    """Return the place from which a paragraph is a program's text or data; its length if nowhere."""
    places = [place for place, line in enumerate(lines) if line.shape == OUTPUT]
    code = [place for place, line in enumerate(lines) if line.shape in (CODE, OUTPUT)]
    if len(code) > 1 and 2 * len(code) >= len(lines) - code[0]:
        places += code
    signs = [place for place, line in enumerate(lines) if line.text[0] in "+-" and line.text[1:2].isalnum()]
    if len({lines[place].text[0] for place in signs}) == 2:
        places += signs  # a patch
    return min([*places, *_find_columns(lines), *_find_labelled(lines), len(lines)])


def _find_columns(lines: Sequence[Line]) -> list[int]:
    """Return the places of a table: two spaces, tabs, or commas without a space."""
    rows = [at for at, line in enumerate(lines) if _COLUMNS.search(line.text.strip())]
    if len(rows) > 1 and len(rows) * 2 >= len(lines) and not all(BULLET.match(line.text) for line in lines):
        return rows
    for sign in ",;":
        counts = [0 if f"{sign} " in line.text else line.text.count(sign) for line in lines]
        fields, count = Counter(counts).most_common(1)[0]
        if fields > 1 and count > 1 and count * 2 > len(lines):
            return [at for at, one in enumerate(counts) if one == fields]
    return []


def _find_labelled(lines: Sequence[Line]) -> list[int]:
    """Return the places of lines that begin with the same sign of a program: `web-1: …`, `0:04 …`."""
    labels = [_find_label(line.text) for line in lines]
    label, count = Counter(filter(None, labels)).most_common(1)[0] if any(labels) else ("", 0)
    return [at for at, one in enumerate(labels) if one == label] if count > 1 else []


def _find_label(text: str) -> str:
    """Return the label or the shape of the number that a line begins with, if it is no list."""
    if BULLET.match(text):
        return ""
    if label := _LABEL.match(text):
        return "" if label[1][:-1].lower() in OWN_LABELS else re.sub(r"\d+", "0", label[1])
    first = text.split(maxsplit=1)[0]
    if not first.isascii() or not any(map(str.isdigit, first)) or first.isalnum() or _NUMBER.fullmatch(first):
        return ""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", first))


def _find_shape(text: str) -> int:
    bare = text.strip()
    if len(text) > _MAX_LINE or _OUTPUT.match(text):
        return OUTPUT
    if _QUOTED.match(text) or _is_brief_line(bare):
        return QUOTED
    letters = sum(unicodedata.category(char)[0] in "LM" for char in bare)
    symbols = len(_SYMBOLS.findall(bare))
    is_code = (
        _CODE.match(text)
        or letters * 2 < len(bare.replace(" ", ""))
        or symbols * 5 >= len(bare)
        or (_CODE_END.search(bare) and symbols * 8 > len(bare))
    )
    return CODE if is_code else PROSE


def _is_brief_line(text: str) -> bool:
    """Tell whether told wrote a line: `- Use tabs. (rule, 2026-11-03, you)`."""
    marks = text[text.rfind("(") + 1 : -1].split(", ") if text.endswith(")") else []
    return len(marks) > 2 and marks[0] in KIND_NAMES and (marks[-2][:4].isdigit() or marks[-2] == "undated")


def _skip_blocks(message: str) -> Iterator[Span]:
    """Yield the spans outside code fences, block comments and tags, and fenced text to remember."""
    place = searched = 0
    never_closed: set[str] = set()
    while block := _BLOCK.search(message, searched):
        end = _find_end(message, block, never_closed)
        searched = end or block.end()
        if not end:
            continue
        yield place, block.start()
        start = message.find("\n", block.end()) + 1 if block["fence"] else 0
        if start and ENDORSES.search(message[max(place, block.start() - 200) : block.start()].rstrip()):
            inside = message[start:end].rstrip().rstrip(block["fence"][0])
            if inside.count("\n") <= MAX_ENDORSED:
                yield start, start + len(inside.rstrip())
        place = end
    yield place, len(message)


def _find_end(message: str, block: re.Match[str], never_closed: set[str]) -> int:
    """Return where a block ends: a fence at the latest with the message; 0 if a tag is never closed."""
    if sign := block["fence"]:
        closings = ["*/" if sign == "/*" else sign if sign[0] in "\"'" else f"\n{sign}"]
    else:
        closings = [f"</{block['tag']}{block['attributes']}>", f"</{block['tag']}>"]
    for closing in closings:
        found = -1 if closing in never_closed else message.find(closing, block.end())
        if found >= 0:
            return found + len(closing)
        if not sign:
            never_closed.add(closing)
    return len(message) if sign else 0
