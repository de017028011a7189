"""Read notes in Markdown: front matter, headings, and blocks that can stand alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from told.pattern import lazy_pattern

_FIELD = lazy_pattern(r"\s*([\w-]{1,60})\s*:\s*(.*)")
_ITEM = lazy_pattern(r"\s*-\s+(.*)")
_HEADING = lazy_pattern(r"(#{1,6})\s+(.*?)\s*#*\s*\Z")
_BULLET = lazy_pattern(r"[-*+]\s+")  # the steps of a numbered list belong together
_MAX_FIELDS = 200  # lines of front matter
_FENCES = ("```", "~~~")


class Block(NamedTuple):
    """A bullet with what is below it, or a paragraph."""

    heading: str
    text: str


def split_front_matter(text: str) -> tuple[dict[str, list[str]], str]:
    """Return the fields of the front matter, each as a list, and the rest of the text."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text
    fields: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(lines[1 : _MAX_FIELDS + 1], 2):
        if line.strip() == "---":
            return fields, "\n".join(lines[number:])
        item, field = _ITEM.match(line), _FIELD.match(line)
        if item and name:
            fields[name].append(_unquote(item.group(1)))
        elif field:
            name, value = field.group(1).lower(), field.group(2).strip()
            is_list = value.startswith("[") and value.endswith("]")
            values = value[1:-1].split(",") if is_list else [value]
            fields[name] = [one for one in map(_unquote, values) if one]
    return {}, text  # it is not closed


def split_blocks(text: str) -> Iterator[Block]:
    """Yield the bullets and paragraphs of a text, with their headings."""
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in [*text.splitlines(), "# "]:
        stripped = line.strip()
        if fence:
            lines.append(line)
            fence = "" if stripped.startswith(fence) else fence
            continue
        if stripped.startswith(_FENCES):
            fence = stripped[:3]
            lines.append(line)
            continue
        heading = _HEADING.match(line)
        starts = (
            heading or _BULLET.match(line) or (lines and not lines[-1].strip() and not line[:1].isspace())
        )
        if starts and any(one.strip() for one in lines):
            yield Block(" > ".join(title for _, title in headings), "\n".join(lines).strip("\n"))
        if starts:
            lines = []
        if heading:
            level = len(heading.group(1))
            headings = [one for one in headings if one[0] < level] + [(level, heading.group(2))]
        else:
            lines.append(line)
    if fence and any(one.strip() for one in lines):  # it was never closed
        yield Block(" > ".join(title for _, title in headings), "\n".join(lines[:-1]).strip("\n"))


def _unquote(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
