"""What to cut to take one part out of an object or a list, and leave the rest as it is."""

from __future__ import annotations

from told.setup._foreign_edit import starts_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.setup._foreign_jsonc import Value


def part_spans(text: str, node: Value, place: int) -> list[tuple[int, int]]:
    """Return the spans of a part, of the comma that came with it, and of the line it had to itself."""
    part = node.parts[place]
    start, end = part.start, part.value.end
    if len(node.parts) == 1 and not _around(text, node, start, max(end, part.comma + 1)):
        return [(node.start + 1, node.end - 1)]
    spans: list[tuple[int, int]] = []
    last = place == len(node.parts) - 1
    if part.comma >= 0:
        if last and place and not text[node.parts[place - 1].comma + 1 : start].strip():
            start = node.parts[place - 1].comma + 1
        if text[end : part.comma].strip():
            spans.append((part.comma, part.comma + 1))
        else:
            end = part.comma + 1
    elif place:
        before = node.parts[place - 1].comma
        if not text[before + 1 : start].strip():
            return [(before, end)]
        spans.append((before, before + 1))
    return [*spans, _line_span(text, start, end)]


def holds_nothing(text: str, node: Value) -> bool:
    """Tell whether an object or a list is empty, without even a comment in it."""
    return bool(node.kind) and not text[node.start + 1 : node.end - 1].strip()


def _around(text: str, node: Value, start: int, end: int) -> str:
    return (text[node.start + 1 : start] + text[end : node.end - 1]).strip()


def _line_span(text: str, start: int, end: int) -> tuple[int, int]:
    after = end
    while text[after : after + 1] in (" ", "\t"):
        after += 1
    if starts_line(text, start) and text[after : after + 1] in ("\r", "\n"):
        start = text.rfind("\n", 0, start)
        return (start - 1 if text[start - 1 : start] == "\r" else start), after
    return start, end if text[after : after + 1] in ("}", "]") else after
