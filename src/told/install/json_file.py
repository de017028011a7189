"""Insert and remove values in JSON with comments, leaving the rest unchanged."""

from __future__ import annotations

import json
from typing import Any

from told.agents.wiring import Entry
from told.install.values import (
    Edit,
    Keys,
    Part,
    Place,
    Value,
    cut,
    indent_at,
    is_container_empty,
    newline_of,
    part_spans,
    plain,
    put_in,
    scan,
    starts_line,
    told_path,
    wrong_kind,
)


def parse(text: str, path: str) -> Any:
    """Return the data of a text."""
    root = scan(text, path, None)
    return {} if root is None else plain(text, root)


def insert(text: str, change: Entry) -> Edit:
    """Return the text with a missing value inserted."""
    root = scan(text, change.path, change.keys)
    style = _Style(text, root)
    if root is None:
        return _whole(text, change, style)
    node, depth = root, 0
    for key in change.keys:
        if node.kind != "{":
            raise wrong_kind(change, change.keys[:depth], "an object")
        part = _member(node, key)
        if part is None:
            value = _wrapped(change, depth + 1)
            return put_in(text, style.added(node, key, value), _made(change, depth + 1))
        node, depth = part.value, depth + 1
    if node.kind != "[":
        raise wrong_kind(change, change.keys, "a list")
    return put_in(text, style.added(node, "", change.value))


def replace(text: str, change: Entry) -> str:
    """Return the text with told's value replaced."""
    root = scan(text, change.path, change.keys)
    path = told_path(parse(text, change.path), change)
    if root is None or path is None:
        return text
    if len(path) > len(change.keys) + 1:  # others extended the item
        return insert(strip(text, change, ()), change).text
    node, at = _find(root, path)
    value = node.parts[at].value
    written = _Style(text, root).written(change.value, value)
    return text[: value.start] + written + text[value.end :]


def strip(text: str, change: Entry, made: tuple[Keys, ...], *, sure: bool = False) -> str:
    """Return the text without told's value and emptied containers.

    With `sure`, the value is told's even if it was edited.
    """
    while path := told_path(parse(text, change.path), change, sure=sure):
        root = scan(text, change.path, change.keys)
        assert root
        text = cut(text, part_spans(text, *_find(root, path)))
        if not change.item:  # one of the same name may follow
            break
    for keys in sorted(made, key=len, reverse=True):
        text = _without_empty(text, change.path, keys)
    return text


def is_empty(text: str, path: str) -> bool:
    """Tell whether a text is an empty object."""
    root = scan(text, path, None)
    if root is None:
        return not text.strip()
    outside = text[: root.start] + text[root.end :]
    return root.kind == "{" and not outside.strip() and is_container_empty(text, root)


class _Style:
    """The file's own formatting."""

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
        """Return the pieces that append a part to a container."""
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
        """Return the end of a comment on the same line."""
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
    """Return the file's indentation."""
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
    # The last of several members with one name counts.
    return next((part for part in reversed(node.parts) if part.key == key), None)


def _find(root: Value, path: Place) -> tuple[Value, int]:
    """Return the container and the position in it of the value at a path that exists."""
    node, at = Value("", 0, 0, (Part("", 0, root),)), 0
    for key in path:
        node = node.parts[at].value
        part = _member(node, key) if isinstance(key, str) else node.parts[key]
        assert part
        at = node.parts.index(part)
    return node, at


def _without_empty(text: str, path: str, keys: tuple[str, ...]) -> str:
    root = scan(text, path, keys)
    if root is None:
        return text
    if not keys:
        return text[: root.start] + text[root.end :] if is_container_empty(text, root) else text
    node = root
    for key in keys[:-1]:
        part = _member(node, key)
        if part is None:
            return text
        node = part.value
    part = _member(node, keys[-1])
    if part is None or not is_container_empty(text, part.value):
        return text
    return cut(text, part_spans(text, node, node.parts.index(part)))
