"""Puts a value into a TOML text and takes it out again; every other character stays."""

from __future__ import annotations

from told.errors import UsageError
from told.setup import _foreign_toml_place as place
from told.setup._foreign_edit import EDITED, FOREIGN, MISSING, THERE, Edit, cut, newline_of
from told.setup._foreign_spans import holds_nothing, part_spans
from told.setup._foreign_toml_scan import TABLE, VALUE, Statement, parse, part_keys, statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Entry

__all__ = ["insert", "is_empty", "parse", "replace", "state", "strip"]


def state(text: str, change: Entry) -> str:
    """Tell whether a value is there, missing, there with another content, or somebody else's."""
    value = _at(parse(text, change.path), change)
    if value is None:
        return MISSING
    if change.item:
        mine = [item for item in _list(value, change) if _is_told(item, change)]
        return MISSING if not mine else THERE if mine[0] == change.value else EDITED
    if value == change.value:
        return THERE
    return EDITED if _is_told(value, change) else FOREIGN


def insert(text: str, change: Entry) -> Edit:
    """Return the text with a value that was not there.

    Raises:
        UsageError: the file is written in a way that leaves no place for it.
    """
    data = parse(text, change.path)
    _at(data, change)
    expected = _expected(data, change)
    for edit in place.candidates(text, data, change):
        if _says(edit.text, expected, change):
            return edit
    where = ".".join(change.keys)
    raise UsageError(
        f"told found no place for {where} in {change.path}. Write it as [{where}], then try again."
    )


def replace(text: str, change: Entry) -> str:
    """Return the text with the new content of told's value in the place of the old."""
    spans = _told_spans(text, change, sure=not change.item)
    if not spans:
        return text
    data = parse(text, change.path)
    path = _path(data, change) or ()
    if len(path) > len(change.keys) + 1:
        return insert(strip(text, change, ()), change).text
    expected = _replaced(data, change)
    start = min(spans)[0]
    value = next((each for each in statements(text) if each.path == path), None)
    if value is not None and value.value is not None:
        span = value.value
        new = text[: span.start] + place.inline(change.value) + text[span.end :]
        if _says(new, expected, change):
            return new
    rest = cut(text, spans)
    head = rest[:start]
    written = place.table(change, newline_of(text))
    between = "" if not head or head.endswith("\n") else newline_of(text)
    tail = rest[start:]
    # A blank line went with what was cut.
    gap = newline_of(text) if head.strip() and not head.endswith(("\n\n", "\n\r\n")) else ""
    new = head + between + gap + written + tail
    if _says(new, expected, change):
        return new
    return insert(rest, change).text


def strip(text: str, change: Entry, made: tuple[tuple[str, ...], ...], *, sure: bool = False) -> str:
    """Return the text without told's value, and without what was made for it and is empty now."""
    while True:
        parse(text, change.path)
        spans = _told_spans(text, change, sure=sure and not change.item)
        if not spans:
            break
        text = cut(text, spans)
    for keys in sorted(made, key=len, reverse=True):
        text = _without_empty(text, keys)
    return text


def is_empty(text: str, path: str) -> bool:
    """Tell whether nothing is left in a text."""
    return not text.strip() and not parse(text, path)


def _at(data: Any, change: Entry) -> Any:
    for depth, key in enumerate(change.keys):
        if not isinstance(data, dict):
            where = ".".join(change.keys[:depth])
            raise UsageError(
                f"{where} in {change.path} is not a table, so told cannot add to it. Correct it first."
            )
        if key not in data:
            return None
        data = data[key]
    if change.item:
        _list(data, change)
    return data


def _list(value: Any, change: Entry) -> list[Any]:
    if not isinstance(value, list):
        where = ".".join(change.keys)
        raise UsageError(
            f"{where} in {change.path} is not a list, so told cannot add to it. Correct it first."
        )
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _is_told(value: Any, change: Entry) -> bool:
    if change.mark:
        return any(change.mark in text for text in _texts(value))
    return bool(value == change.value)


def _expected(data: dict[str, Any], change: Entry) -> dict[str, Any]:
    """Return what the text has to say with the value added."""
    table = dict(data)
    top = table
    for key in change.keys[:-1]:
        table[key] = dict(table.get(key, {}))
        table = table[key]
    last = change.keys[-1]
    table[last] = [*table.get(last, []), change.value] if change.item else change.value
    return top


def _replaced(data: dict[str, Any], change: Entry) -> dict[str, Any]:
    table = dict(data)
    top = table
    for key in change.keys[:-1]:
        table[key] = dict(table[key])
        table = table[key]
    last = change.keys[-1]
    if not change.item:
        table[last] = change.value
        return top
    items = list(table[last])
    items[next(at for at, item in enumerate(items) if _is_told(item, change))] = change.value
    table[last] = items
    return top


def _says(text: str, expected: dict[str, Any], change: Entry) -> bool:
    try:
        return parse(text, change.path) == expected
    except UsageError:
        return False


def _path(data: dict[str, Any], change: Entry) -> tuple[str | int, ...] | None:
    """Return the place of told's value; None if it is not there."""
    try:
        value = _at(data, change)
    except UsageError:
        return None
    if value is None:
        return None
    if not change.item:
        return change.keys
    for at, item in enumerate(value):
        if _is_told(item, change):
            return (*change.keys, at, *_shared(item, change))
    return None


def _shared(value: Any, change: Entry) -> tuple[str | int, ...]:
    """Return the way to told's part of an item to which somebody added parts of their own; else nothing."""
    if not change.mark or value == change.value or not isinstance(value, (dict, list)):
        return ()
    parts: list[tuple[str | int, Any]] = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, inner in parts:
        way = _shared(inner, change)
        if way:
            return (key, *way)
    told = [_is_told(inner, change) for _, inner in parts]
    return (told.index(True),) if isinstance(value, list) and any(told) and not all(told) else ()


def _told_spans(text: str, change: Entry, *, sure: bool) -> list[tuple[int, int]]:
    data = parse(text, change.path)
    path = _path(data, change)
    if path is None or not (sure or change.item or _is_told(_at(data, change), change)):
        return []
    found = statements(text)
    spans: list[tuple[int, int]] = []
    for at, statement in enumerate(found):
        if statement.path[: len(path)] == path:
            spans.append(_with_blank(text, *_extent(found, at)))
        elif statement.value is not None and path[: len(statement.path)] == statement.path:
            spans += _inside(text, statement, path[len(statement.path) :])
    return spans


def _extent(found: list[Statement], at: int) -> tuple[int, int]:
    """Return the span of a statement; a header has the lines up to its last value."""
    end = found[at].end
    if found[at].kind == TABLE:
        for each in found[at + 1 :]:
            if each.kind != VALUE:
                break
            end = each.end
    return found[at].start, end


def _with_blank(text: str, start: int, end: int) -> tuple[int, int]:
    """Take the empty line before a table along, if what follows does not need it."""
    if not text.startswith("[", start) or not (end == len(text) or text[end] in "\r\n["):
        return start, end
    for blank in ("\r\n", "\n"):
        before = start - len(blank)
        if before >= 0 and text[before:start] == blank and (before == 0 or text[before - 1] == "\n"):
            return before, end
    return start, end


def _inside(text: str, statement: Statement, rest: tuple[str | int, ...]) -> list[tuple[int, int]]:
    """Return the spans of a value within a list or a table that is written in one value."""
    node = statement.value
    assert node
    for at, part in enumerate(node.parts):
        keys: tuple[str | int, ...] = (at,) if node.kind == "[" else part_keys(part)
        if rest == keys or keys[: len(rest)] == rest:
            return part_spans(text, node, at)
        if rest[: len(keys)] == keys:
            inner = Statement(VALUE, (), part.start, part.value.end, part.value)
            return _inside(text, inner, rest[len(keys) :])
    return []


def _without_empty(text: str, keys: tuple[str, ...]) -> str:
    found = statements(text)
    for at, statement in enumerate(found):
        below = [each for each in found if each.path[: len(keys)] == keys]
        if statement.path == keys and below == [statement]:
            if statement.value is None:
                return cut(text, [_with_blank(text, *_extent(found, at))])
            if holds_nothing(text, statement.value):
                return cut(text, [(statement.start, statement.end)])
    return text
