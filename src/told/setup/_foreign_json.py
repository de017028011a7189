"""Puts a value into a JSON text with comments and takes it out again; every other character stays."""

from __future__ import annotations

import json

from told.errors import UsageError
from told.setup._foreign_edit import (
    EDITED,
    FOREIGN,
    MISSING,
    THERE,
    Edit,
    cut,
    indent_at,
    newline_of,
    put_in,
    starts_line,
)
from told.setup._foreign_jsonc import Part, Value, plain, scan, strings
from told.setup._foreign_spans import holds_nothing, part_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.wiring import Entry


def parse(text: str, path: str) -> Any:
    """Return what a text says; None where it says nothing."""
    root = scan(text, path, None)
    return None if root is None else plain(text, root)


def state(text: str, change: Entry) -> str:
    """Tell whether a value is there, missing, there with another content, or somebody else's."""
    root = scan(text, change.path, change.keys)
    node = None if root is None else _at(root, change)
    if node is None:
        return MISSING
    if change.item:
        _expect(node, "[", change.path, change.keys)
        mine = [part.value for part in node.parts if _is_told(text, part.value, change)]
        return MISSING if not mine else THERE if plain(text, mine[0]) == change.value else EDITED
    if plain(text, node) == change.value:
        return THERE
    return EDITED if _is_told(text, node, change) else FOREIGN


def insert(text: str, change: Entry) -> Edit:
    """Return the text with a value that was not there.

    Raises:
        UsageError: something else stands where an object or a list should be.
    """
    root = scan(text, change.path, change.keys)
    style = _Style(text, root)
    if root is None:
        return _whole(text, change, style)
    node, depth = root, 0
    for key in change.keys:
        _expect(node, "{", change.path, change.keys[:depth])
        part = _member(node, key)
        if part is None:
            break
        node, depth = part.value, depth + 1
    if depth == len(change.keys):
        _expect(node, "[", change.path, change.keys)
        return put_in(text, style.added(node, "", change.value))
    value = _wrapped(change, depth + 1)
    return put_in(text, style.added(node, change.keys[depth], value), _made(change, depth + 1))


def replace(text: str, change: Entry) -> str:
    """Return the text with the new content of told's value in the place of the old."""
    root = scan(text, change.path, change.keys)
    node = None if root is None else _at(root, change)
    if root is None or node is None:
        return text
    if change.item:
        node = next(part.value for part in node.parts if _is_told(text, part.value, change))
        if _shared(text, node, change):
            return insert(strip(text, change, ()), change).text
    written = _Style(text, root).written(change.value, node)
    return text[: node.start] + written + text[node.end :]


def strip(text: str, change: Entry, made: tuple[tuple[str, ...], ...], *, sure: bool = False) -> str:
    """Return the text without told's value, and without the objects and lists made for it that are empty now.

    Args:
        text: what the file says.
        change: the value.
        made: the keys of what had to be made for it.
        sure: the value at these keys is told's, whatever it says by now.
    """
    while True:
        root = scan(text, change.path, change.keys)
        spans = [] if root is None else _told_spans(text, root, change, sure)
        if not spans:
            break
        text = cut(text, spans)
        if not change.item:
            break
    for keys in sorted(made, key=len, reverse=True):
        text = _without_empty(text, change.path, keys)
    return text


def is_empty(text: str, path: str) -> bool:
    """Tell whether nothing is left in a text but an empty object."""
    root = scan(text, path, None)
    if root is None:
        return not text.strip()
    outside = text[: root.start] + text[root.end :]
    return root.kind == "{" and not outside.strip() and holds_nothing(text, root)


class _Style:
    """How the file itself is written: new text follows it."""

    def __init__(self, text: str, root: Value | None) -> None:
        self._text = text
        self._newline = newline_of(text)
        self._unit = _unit(text, root)
        whole = "" if root is None else text[root.start : root.end]
        self._one_line = root is not None and bool(root.parts) and "\n" not in whole
        tight = self._one_line and '": ' not in whole
        self._separators = (",", ":") if tight else (", ", ": ")

    def written(self, value: Any, node: Value) -> str:
        if self._one_line:
            return self._compact(value)
        return self._pretty(value, indent_at(self._text, node.start))

    def whole(self, value: Any) -> str:
        return self._pretty(value, "")

    def added(self, node: Value, key: str, value: Any) -> list[tuple[int, str]]:
        """Return the pieces that add a part at the end of an object or a list."""
        name = json.dumps(key, ensure_ascii=False) + self._separators[1] if node.kind == "{" else ""
        if not node.parts:
            return self._first(node, name, value)
        last = node.parts[-1]
        own_line = starts_line(self._text, last.start)
        if own_line and not self._one_line:
            base = indent_at(self._text, last.start)
            piece = self._newline + base + name + self._pretty(value, base)
        else:
            piece = self._separators[0][1:] + name + self.written(value, node)
        if last.comma >= 0:
            return [(self._after_comment(last.comma + 1) if own_line else last.comma + 1, piece + ",")]
        after = self._after_comment(last.value.end) if own_line else last.value.end
        return [(last.value.end, "," + piece)] if after == last.value.end else [
            (last.value.end, ","), (after, piece),
        ]  # fmt: skip

    def _first(self, node: Value, name: str, value: Any) -> list[tuple[int, str]]:
        if self._one_line:
            return [(node.start + 1, name + self._compact(value))]
        outer = indent_at(self._text, node.start)
        base = outer + self._unit
        inside = self._text[node.start + 1 : node.end - 1]
        comment_end = node.start + 1 + len(inside.rstrip())
        piece = self._newline + base + name + self._pretty(value, base)
        closed = "\n" in self._text[comment_end : node.end]
        return [(comment_end, piece if closed else piece + self._newline + outer)]

    def _after_comment(self, at: int) -> int:
        """Return the end of the comment that stands behind a place in the same line."""
        text = self._text
        end = at
        while True:
            start = end
            while text[start : start + 1] in (" ", "\t"):
                start += 1
            if text.startswith("//", start):
                stop = text.find("\n", start)
                stop = len(text) if stop < 0 else stop
                return stop - 1 if text[stop - 1] == "\r" else stop
            if not text.startswith("/*", start):
                return end
            stop = text.find("*/", start) + 2
            if "\n" in text[start:stop]:
                return end
            end = stop

    def _compact(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=self._separators)

    def _pretty(self, value: Any, base: str) -> str:
        return json.dumps(value, ensure_ascii=False, indent=self._unit).replace("\n", self._newline + base)


def _unit(text: str, root: Value | None) -> str:
    """Return by how much the file indents."""
    queue = [] if root is None else [root]
    while queue:
        node = queue.pop(0)
        for part in node.parts[:50]:
            if starts_line(text, part.start):
                inner, outer = indent_at(text, part.start), indent_at(text, node.start)
                if len(inner) > len(outer) and inner.startswith(outer):
                    return inner[len(outer) :]
            queue.append(part.value)
    return "  "


def _whole(text: str, change: Entry, style: _Style) -> Edit:
    newline = newline_of(text)
    body = style.whole(_wrapped(change, 0))
    made = _made(change, 0)
    if not text.strip():
        return put_in(text, [(0, body if "\n" in text else body + newline)], made)
    before = "" if text.endswith("\n") else newline
    return put_in(text, [(len(text), before + body + newline)], made)


def _wrapped(change: Entry, depth: int) -> Any:
    value = [change.value] if change.item else change.value
    for key in reversed(change.keys[depth:]):
        value = {key: value}
    return value


def _made(change: Entry, depth: int) -> list[tuple[str, ...]]:
    last = len(change.keys) + (1 if change.item else 0)
    return [change.keys[:length] for length in range(depth, last)]


def _member(node: Value, key: str) -> Part | None:
    # Of two members with one name the last one counts, for every reader of JSON.
    return next((part for part in reversed(node.parts) if part.key == key), None)


def _at(root: Value, change: Entry) -> Value | None:
    node = root
    for depth, key in enumerate(change.keys):
        _expect(node, "{", change.path, change.keys[:depth])
        part = _member(node, key)
        if part is None:
            return None
        node = part.value
    return node


def _expect(node: Value, kind: str, path: str, keys: tuple[str, ...]) -> None:
    if node.kind != kind:
        where = f"{'.'.join(keys)} in {path}" if keys else path
        wanted = "an object" if kind == "{" else "a list"
        raise UsageError(f"{where} is not {wanted}, so told cannot add to it. Correct it first.")


def _is_told(text: str, node: Value, change: Entry) -> bool:
    if change.mark:
        return change.mark in text[node.start : node.end] or any(
            change.mark in each for each in strings(text, node)
        )
    return bool(plain(text, node) == change.value)


def _told_spans(text: str, root: Value, change: Entry, sure: bool) -> list[tuple[int, int]]:
    """Return what to cut: told's value, or the first of told's items."""
    node = root
    above: Value | None = None
    place = 0
    for key in change.keys:
        part = _member(node, key) if node.kind == "{" else None
        if part is None:
            return []
        above, place, node = node, node.parts.index(part), part.value
    if not change.item:
        told = above is not None and (sure or _is_told(text, node, change))
        return part_spans(text, above, place) if told and above else []
    for at, part in enumerate(node.parts if node.kind == "[" else ()):
        if _is_told(text, part.value, change):
            inner = _shared(text, part.value, change)
            return part_spans(text, *inner) if inner else part_spans(text, node, at)
    return []


def _shared(text: str, node: Value, change: Entry) -> tuple[Value, int] | None:
    """Find told's part of an item to which somebody added parts of their own."""
    if not change.mark or plain(text, node) == change.value:
        return None
    for part in node.parts:
        inner = _shared(text, part.value, change)
        if inner:
            return inner
    told = [_is_told(text, part.value, change) for part in node.parts]
    return (node, told.index(True)) if node.kind == "[" and any(told) and not all(told) else None


def _without_empty(text: str, path: str, keys: tuple[str, ...]) -> str:
    root = scan(text, path, keys)
    if root is None:
        return text
    if not keys:
        return text[: root.start] + text[root.end :] if holds_nothing(text, root) else text
    node = root
    for key in keys[:-1]:
        part = _member(node, key)
        if part is None:
            return text
        node = part.value
    part = _member(node, keys[-1])
    if part is None or not holds_nothing(text, part.value):
        return text
    return cut(text, part_spans(text, node, node.parts.index(part)))
