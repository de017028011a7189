"""Format checkpoints as Markdown and parse them without loss.

Normalised form: no space around texts, items and values, no empty items, titles and values on one line, no
control characters but line feeds and tabs. A backslash escapes a line of text that looks like a heading or an
unclosed code block, and an item that looks ticked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from told.model import AGENT, CLOSED, OPEN, TOOL, USER, Handover
from told.pattern import lazy_pattern
from told.store.database import public_id
from told.store.sessions.schema import is_checkpoint_id
from told.text import clean, shorten

MAX_TITLE = 80  # characters of a title made from the goal
_FRONT_MARK = "---"
_KEYS = ("agent", "session", "project", "folder", "branch")
_LISTS = {
    "Done": "done", "Pending": "pending", "Decisions": "decisions", "Files": "files", "Plans": "plans",
    "References": "references", "Open questions": "questions",
}  # fmt: skip
_TEXTS = {"Goal": "goal", "Notes": "notes"}
_FIELDS = {name.lower(): field for name, field in (_LISTS | _TEXTS).items()} | {"questions": "questions"}
_CLOSED_WORDS = ("closed", "done", "finished", "resolved")
_UNNAMED = "More"  # the heading of a section without one

_MAX_CODE_MARKER = 16  # characters
_BULLET = lazy_pattern(r"(?:[-*+•]|[0-9]{1,3}[.)])(?:[ \t]|$)")
_BOX = lazy_pattern(r"\[[ xX]\](?=[ \t\n]|$)")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TIME = 253_402_300_799_999  # the end of the year 9999
_TIME = lazy_pattern(
    r"(\d{4})-(\d\d?)-(\d\d?)[T ]*(?:(\d\d?)(?::(\d\d?))?(?::(\d\d?)(?:\.(\d*))?)?)?"
    r" *(?:Z|([+-])(\d\d?):?(\d\d)?)?",
    re.ASCII,
)


def storable_time(at: int) -> int:
    """Return a time in ms that can be written, or 0."""
    return at if 0 < at <= _MAX_TIME else 0


def format_time(at: int) -> str:
    """Format a time in ms since 1970 as "2026-11-16T11:24:03.007Z"."""
    at_utc = _EPOCH + timedelta(milliseconds=at)
    return at_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str) -> int:
    """Parse a time as told or a person wrote it; 0 if it is none."""
    found = _TIME.fullmatch(text.strip().strip("\"'").upper())
    if not found:
        return 0
    *numbers, fraction, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        at = datetime(*(int(one or 0) for one in numbers), tzinfo=UTC)  # type: ignore[misc,arg-type]
        at += timedelta(milliseconds=int(f"{fraction or ''}000"[:3]))
        at += offset if sign == "-" else -offset
    except (ValueError, OverflowError):
        return 0
    return storable_time((at - _EPOCH) // timedelta(milliseconds=1))


def code_marker(line: str) -> str:
    """Return the marker that starts a code block in this line, or ""."""
    if not line.startswith(("```", "~~~")):
        return ""
    size = len(line) - len(line.lstrip(line[0]))
    if size > _MAX_CODE_MARKER or (line[0] == "`" and "`" in line[size:]):
        return ""
    return line[:size]


def find_code(lines: Sequence[str], ends: Callable[[str], bool] = lambda _: False) -> list[bool]:
    """Return for each line whether it belongs to a closed code block.

    An unclosed block would swallow everything after it and is not one. `ends`: a line that ends any block.
    """
    found = [False] * len(lines)
    unclosed: dict[str, int] = {}  # by marker, the line up to which nothing closes it
    at = 0
    while at < len(lines):
        marker = code_marker(lines[at])
        close = _find_close(lines, at, marker, ends, unclosed) if marker else 0
        if close:
            found[at : close + 1] = [True] * (close + 1 - at)
        at = max(at, close) + 1
    return found


def _find_close(
    lines: Sequence[str], at: int, marker: str, ends: Callable[[str], bool], unclosed: dict[str, int]
) -> int:
    """Return the line that closes a code block, or 0."""
    if at < unclosed.get(marker, 0):
        return 0
    for number in range(at + 1, len(lines)):
        line = lines[number].rstrip()
        if line.startswith(marker) and not line.strip(marker[0]):
            return number
        if ends(lines[number]):
            break
    else:
        number = len(lines)
    unclosed[marker] = number
    return 0


def format_items(items: Iterable[str], box: str) -> Iterator[str]:
    """Yield the lines of a list; further lines of an item are indented."""
    for item in items:
        first, *others = item.split("\n")
        yield f"- {box}\\{first}" if _BOX.match(first.lstrip("\\")) else f"- {box}{first}"
        for line in others:
            yield f"  {line}" if line else ""


def parse_items(lines: Iterable[str]) -> list[tuple[bool, str]]:
    """Return ticked and text of each item; a plain paragraph is an item, too."""
    items: list[list[str]] = []
    width = 0
    after_gap = True
    for line in lines:
        if not line:
            after_gap = True
            if items:
                items[-1].append("")  # stripped unless the item continues
            continue
        bullet = _BULLET.match(line)
        if bullet:
            width = bullet.end()
            items.append([line[width:]])
        elif items and width and line[:1] in (" ", "\t"):
            items[-1].append(_dedent(line, width))
        elif items and not after_gap:
            items[-1].append(line)
        else:
            items.append([line])
            width = 0
        after_gap = False
    return [_parse_item("\n".join(item)) for item in items]


def _dedent(line: str, width: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _parse_item(text: str) -> tuple[bool, str]:
    text = text.strip()
    is_ticked = False
    if _BOX.match(text):
        is_ticked = text[1] != " "
        text = text[3:].lstrip()
    if text.startswith("\\") and _BOX.match(text.lstrip("\\")):
        text = text[1:]
    return is_ticked, text.strip()


def make_title(goal: str) -> str:
    """Make a title from the goal."""
    return shorten(goal, MAX_TITLE)


def normalize(handover: Handover) -> Handover:
    """Return a checkpoint as its file gives it back."""
    values: dict[str, Any] = {
        field: tuple(filter(None, (clean(item).strip() for item in getattr(handover, field))))
        for field in _LISTS.values()
    }
    values |= {key: _on_one_line(getattr(handover, key)) for key in _KEYS}
    goal = clean(handover.goal).strip()
    return replace(
        handover, **values, goal=goal,
        notes=clean(handover.notes).strip(),
        more=tuple((_on_one_line(name) or _UNNAMED, clean(text).strip()) for name, text in handover.more),
        title=_on_one_line(handover.title) or make_title(goal), status=_parse_status(handover.status),
        id=handover.id if is_checkpoint_id(handover.id) else "", at=storable_time(handover.at),
        by=handover.by if handover.by in (USER, AGENT, TOOL) else AGENT,
    )  # fmt: skip


def format_checkpoint(handover: Handover) -> str:
    """Format a checkpoint as the text of its file."""
    one = normalize(handover)
    head = {"id": one.id, "status": one.status, **{key: getattr(one, key) for key in _KEYS}}
    head |= {"at": format_time(one.at) if one.at else "", "by": one.by}
    lines = [_FRONT_MARK, *(f"{key}: {value}" for key, value in head.items() if value), _FRONT_MARK, ""]
    lines += [f"# {one.title}", ""] if one.title else []
    lines += _format_section("Goal", one.goal) if one.goal else []
    for name, field in _LISTS.items():
        items = getattr(one, field)
        if items:
            lines += [f"## {name}", "", *format_items(items, "[ ] " if field == "pending" else ""), ""]
    lines += _format_section("Notes", one.notes) if one.notes else []
    for name, text in one.more:
        lines += _format_section(f"\\{name}" if _is_reserved(name) else name, text)
    return "\n".join(lines)


def parse_checkpoint(text: str, path: str = "", changed: int = 0) -> Handover:
    """Parse the text of a file, also after somebody edited it; never fail.

    The name of the file gives a missing id, `changed` (ms) a missing time.
    """
    lines = clean(text).split("\n")
    head, at = _parse_front_matter(lines)
    title, sections = _split_sections(lines[at:])
    lists: dict[str, list[str]] = {field: [] for field in _LISTS.values()}
    texts: dict[str, list[str]] = {"goal": [], "notes": []}
    more = []
    untitled = ""
    for name, lines_below in sections:
        field = _field_of(name)
        if field in lists:
            for is_ticked, item in parse_items(lines_below):
                lists["done" if field == "pending" and is_ticked else field].append(item)
        elif field:
            texts[field].append(_unescape(lines_below))
        else:
            body = _unescape(lines_below)
            if body and not name and not untitled:
                untitled = body
            elif name or body:
                more.append((_unescape_heading(name), body))
    if untitled:
        texts["notes" if any(texts["goal"]) else "goal"].insert(0, untitled)
    values: dict[str, Any] = {key: head.get(key, "") for key in _KEYS}
    values |= {field: tuple(items) for field, items in lists.items()}
    values |= {field: "\n\n".join(filter(None, parts)) for field, parts in texts.items()}
    found = Handover(
        more=tuple(more), title=title, status=head.get("status", OPEN), id=_find_id(head.get("id", ""), path),
        at=parse_time(head.get("at", "")) or changed, by=head.get("by", AGENT), **values,
    )  # fmt: skip
    return normalize(found)


def read_id_from_name(path: str) -> str:
    """Return the id at the end of a file name, or ""."""
    found = _file_name(path).removesuffix(".md").rpartition("-")[2]
    return found if is_checkpoint_id(found) else ""


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def find_front_matter(lines: list[str]) -> tuple[int, int]:
    """Return start and end of the front matter's lines; (0, 0) if there is none."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if not lines or lines[first].rstrip() != _FRONT_MARK:
        return 0, 0
    for at in range(first + 1, len(lines)):
        if lines[at].rstrip() == _FRONT_MARK:
            return first + 1, at
        if lines[at].strip() and not _is_key_line(lines[at]):
            break  # somebody removed the closing mark
    else:
        at = len(lines)
    return first + 1, at


def _parse_front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Return the keys and values, and the line at which the text starts."""
    begin, end = find_front_matter(lines)
    found: dict[str, str] = {}
    for line in lines[begin:end]:
        name, _, value = line.partition(":")
        found.setdefault(name.strip().lower(), value.strip())
    closed = end < len(lines) and bool(begin) and lines[end].rstrip() == _FRONT_MARK
    return found, end + closed


def _is_key_line(line: str) -> bool:
    name, colon, _ = line.partition(":")
    return bool(colon) and name.strip().replace("_", "").replace("-", "").isalnum()


def _split_sections(lines: list[str]) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the title, and headings with the lines below; the first has none."""
    title = ""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line, is_code in zip(lines, find_code(lines, _is_own_heading), strict=True):
        if _is_own_heading(line) or (not is_code and _is_heading(line)):
            sections.append((line[2:].strip(), []))
        elif not title and len(sections) == 1 and line.startswith("# "):
            title = line[2:].strip()
        else:
            sections[-1][1].append(line)
    return title, sections


def _is_heading(line: str) -> bool:
    return line.startswith("##") and line[2:3] in ("", " ", "\t")


def _is_own_heading(line: str) -> bool:
    """Return whether a line is a heading of told's; it ends any code block."""
    return _is_heading(line) and bool(_field_of(line[2:].strip()))


def _field_of(name: str) -> str:
    return _FIELDS.get(name.rstrip("# \t:").lower(), "")


def _is_reserved(name: str) -> bool:
    """Return whether a user's heading would be parsed as one of told's."""
    return bool(_field_of(name)) or name.startswith("\\")


def _unescape_heading(name: str) -> str:
    return name[1:] if name.startswith("\\") and _is_reserved(name[1:]) else name


def _format_section(name: str, text: str) -> list[str]:
    if not text:
        return [f"## {name}", ""]
    lines = text.split("\n")
    escaped = [
        f"\\{line}" if _needs_escape(line, is_code) else line
        for line, is_code in zip(lines, find_code(lines), strict=True)
    ]
    return [f"## {name}", "", *escaped, ""]


def _unescape(lines: list[str]) -> str:
    found = [
        line[1:] if line.startswith("\\") and _needs_escape(line, is_code) else line
        for line, is_code in zip(lines, find_code(lines), strict=True)
    ]
    return "\n".join(found).strip()


def _needs_escape(line: str, is_code: bool) -> bool:
    line = line.lstrip("\\")
    return _is_own_heading(line) if is_code else _is_heading(line) or bool(code_marker(line))


def _on_one_line(text: str) -> str:
    return " ".join(filter(None, (line.strip() for line in clean(text).split("\n"))))


def _parse_status(status: str) -> str:
    return CLOSED if status.strip(" \t\"'.").lower() in _CLOSED_WORDS else OPEN


def _find_id(given: str, path: str) -> str:
    """Return the id in a file, else in its name, else one made from its name."""
    given = given.strip("\"'")
    if is_checkpoint_id(given) or not path:
        return given
    return read_id_from_name(path) or public_id("c", _file_name(path), length=9)
