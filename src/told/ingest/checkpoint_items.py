"""The lists of a checkpoint: an item each line or more, as told writes them and as people do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BULLETS = ("-", "*", "+", "•")
_MOST_DIGITS = 3
_BOXES = ("[ ]", "[x]", "[X]")


def written_items(items: Iterable[str], box: str) -> Iterator[str]:
    """Yield the lines of a list; what goes on in further lines is indented."""
    for item in items:
        first, *others = item.split("\n")
        yield f"- {box}{_escaped(first)}"
        for line in others:
            yield f"  {line}" if line else ""


def items_in(lines: Iterable[str]) -> list[tuple[bool, str]]:
    """Return (whether it is ticked, text) of each item; a paragraph without a bullet is one, too."""
    items: list[list[str]] = []
    width = 0
    after_gap = True
    for line in lines:
        if not line:
            after_gap = True
            if items:
                items[-1].append("")  # it counts if the item goes on behind it
            continue
        bullet = _bullet(line)
        if bullet:
            items.append([line[bullet:]])
            width = bullet
        elif items and width and line[:1] in (" ", "\t"):
            items[-1].append(_outdented(line, width))
        elif items and not after_gap:
            items[-1].append(line)
        else:
            items.append([line])
            width = 0
        after_gap = False
    return [_read("\n".join(item)) for item in items]


def _bullet(line: str) -> int:
    """Return how many characters begin an item; 0 if none do."""
    size = 1 if line[:1] in _BULLETS else 0
    if not size:
        digits = len(line[:_MOST_DIGITS]) - len(line[:_MOST_DIGITS].lstrip("0123456789"))
        if not digits or line[digits : digits + 1] not in (".", ")"):
            return 0
        size = digits + 1
    if len(line) == size:
        return size
    return size + 1 if line[size] in " \t" else 0


def _outdented(line: str, width: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _escaped(first: str) -> str:
    """Return a line that is not read as ticked or not ticked."""
    return f"\\{first}" if _has_box(first.lstrip("\\")) else first


def _has_box(text: str) -> bool:
    return text[:3] in _BOXES and text[3:4] in ("", " ", "\t", "\n")


def _read(text: str) -> tuple[bool, str]:
    text = text.strip()
    is_ticked = False
    if _has_box(text):
        is_ticked = text[1] != " "
        text = text[3:].lstrip()
    if text.startswith("\\") and _has_box(text.lstrip("\\")):
        text = text[1:]
    return is_ticked, text.strip()
