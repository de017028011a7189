"""Insert and remove values in TOML, leaving the rest unchanged."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tomlkit

from told.agents.wiring import Entry
from told.errors import UsageError
from told.install.values import (
    ABSENT,
    Edit,
    Keys,
    Part,
    Place,
    Value,
    cut,
    end_of_text,
    find_value,
    indent_at,
    is_container_empty,
    is_told,
    newline_of,
    part_spans,
    put_in,
    starts_line,
    told_path,
)
from told.pattern import lazy_pattern

_SPACES = lazy_pattern(r"[ \t]*")
_GAP = lazy_pattern(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_BARE = lazy_pattern(r"[A-Za-z0-9_-]+")
_STRING = lazy_pattern(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|' r"'''.*?'''(?:'{0,2})|" r'"(?:\\.|[^"\\])*"|' r"'[^']*'", re.DOTALL
)
_SCALAR = lazy_pattern(r"[^,\]}#\r\n]+")
_REST_OF_LINE = lazy_pattern(r"[ \t]*(?:#[^\r\n]*)?(?:\r?\n)?")
_WHERE = lazy_pattern(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header, or a line with a value."""

    path: Place  # from the top, with item numbers in lists of tables
    start: int
    end: int  # after its last line
    value: Value | None = None  # of a line; a header has none


def parse(text: str, path: str) -> dict[str, Any]:
    """Return the data of a text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _WHERE.search(said)
        line = place[1] if place and place[1] else text.rstrip().count("\n") + 1
        why = _WHERE.sub("", said)
        why = why[:1].lower() + why[1:]
        raise UsageError(
            f"{path} is not valid at line {line}: {why}. Correct that line, then try again."
        ) from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deep. told does not change such a file.") from None


def insert(text: str, change: Entry) -> Edit:
    """Return the text with a missing value inserted."""
    data = parse(text, change.path)
    is_new = find_value(data, change) is ABSENT
    made = [change.keys] if change.item and is_new else []
    expected = _with_value(data, change)
    for edit in _candidates(text, change, made):
        if _says(edit.text, expected, change):
            return edit
    where = ".".join(change.keys)
    raise UsageError(
        f"told found no place for {where} in {change.path}. Write it as [{where}], then try again."
    )


def replace(text: str, change: Entry) -> str:
    """Return the text with told's value replaced."""
    data = parse(text, change.path)
    path = told_path(data, change)
    spans = [] if path is None else _spans_at(text, path)
    if path is None or not spans:
        return text
    if len(path) > len(change.keys) + 1:  # others extended the item
        return insert(strip(text, change, ()), change).text
    expected = _with_value(data, change, replaces=True)
    value = next((each.value for each in _statements(text) if each.path == path), None)
    if value is not None:
        new = text[: value.start] + _inline(change.value) + text[value.end :]
        if _says(new, expected, change):
            return new
    rest, start = cut(text, spans), min(spans)[0]
    head = rest[:start]
    # The cut removed a blank line.
    new = head + end_of_text(head) + _as_table(change, newline_of(text)) + rest[start:]
    return new if _says(new, expected, change) else insert(rest, change).text


def strip(text: str, change: Entry, made: tuple[Keys, ...], *, sure: bool = False) -> str:
    """Return the text without told's value and emptied tables.

    With `sure`, the value is told's even if it was edited.
    """
    while path := told_path(parse(text, change.path), change, sure=sure):
        spans = _spans_at(text, path)
        if not spans:
            break
        text = cut(text, spans)
    for keys in sorted(made, key=len, reverse=True):
        text = _without_empty(text, keys)
    return text


def is_empty(text: str, path: str) -> bool:
    """Tell whether a text is empty."""
    return not text.strip() and not parse(text, path)


def _with_value(data: dict[str, Any], change: Entry, *, replaces: bool = False) -> dict[str, Any]:
    """Return the data with the value added, or in place of told's old one."""
    table = top = dict(data)
    for key in change.keys[:-1]:
        table[key] = dict(table.get(key, {}))
        table = table[key]
    last = change.keys[-1]
    if not change.item:
        table[last] = change.value
        return top
    items = list(table.get(last, []))
    if replaces:
        items[next(at for at, item in enumerate(items) if is_told(item, change))] = change.value
    else:
        items.append(change.value)
    table[last] = items
    return top


def _says(text: str, expected: dict[str, Any], change: Entry) -> bool:
    try:
        return parse(text, change.path) == expected
    except UsageError:
        return False


def _spans_at(text: str, path: Place) -> list[tuple[int, int]]:
    found = _statements(text)
    spans: list[tuple[int, int]] = []
    for at, statement in enumerate(found):
        if statement.path[: len(path)] == path:
            spans.append(_with_blank(text, *_extent(found, at)))
        elif statement.value is not None and path[: len(statement.path)] == statement.path:
            spans += _inside(text, statement.value, path[len(statement.path) :])
    return spans


def _with_blank(text: str, start: int, end: int) -> tuple[int, int]:
    """Include the empty line before a table, if it is not needed."""
    if not text.startswith("[", start) or not (end == len(text) or text[end] in "\r\n["):
        return start, end
    for blank in ("\r\n", "\n"):
        before = start - len(blank)
        if before >= 0 and text[before:start] == blank and (before == 0 or text[before - 1] == "\n"):
            return before, end
    return start, end


def _inside(text: str, node: Value, rest: Place) -> list[tuple[int, int]]:
    """Return the spans of a value within an inline value."""
    for at, part in enumerate(node.parts):
        keys: Place = (at,) if node.kind == "[" else _part_keys(part)
        if keys[: len(rest)] == rest:
            return part_spans(text, node, at)
        if rest[: len(keys)] == keys:
            return _inside(text, part.value, rest[len(keys) :])
    return []


def _without_empty(text: str, keys: tuple[str, ...]) -> str:
    found = _statements(text)
    for at, statement in enumerate(found):
        below = [each for each in found if each.path[: len(keys)] == keys]
        if statement.path == keys and below == [statement]:
            if statement.value is None:
                return cut(text, [_with_blank(text, *_extent(found, at))])
            if is_container_empty(text, statement.value):
                return cut(text, [(statement.start, statement.end)])
    return text


def _inline(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, dict):
        inner = tomlkit.inline_table()
        inner.update(value)
        return inner.as_string()
    if isinstance(value, list):
        listed = tomlkit.array()
        listed.extend(value)
        return listed.as_string()
    return str(tomlkit.item(value).as_string())


def _as_table(change: Entry, newline: str) -> str:
    """Return a value as tables, or as a line under a header."""
    value: Any = [change.value] if change.item else change.value
    for key in reversed(change.keys):
        value = {key: value}
    return str(tomlkit.dumps(value)).strip("\n").replace("\n", newline) + newline


def _candidates(text: str, change: Entry, made: list[Keys]) -> Iterator[Edit]:
    """Yield ways to add a value; the caller picks a valid one."""
    if len(change.keys) > 1 or isinstance(change.value, dict):
        headers = [] if isinstance(change.value, dict) else [change.keys[:-1]]
        piece = end_of_text(text) + _as_table(change, newline_of(text))
        yield put_in(text, [(len(text), piece)], [*headers, *made])
    for pieces in (*_in_a_value(text, change), *_under_a_header(text, change)):
        yield put_in(text, pieces, made)


def _in_a_value(text: str, change: Entry) -> Iterator[list[tuple[int, str]]]:
    """Append to an inline list or table."""
    for statement in _statements(text):
        if statement.value is None or change.keys[: len(statement.path)] != statement.path:
            continue
        node, rest = statement.value, change.keys[len(statement.path) :]
        while rest and node.kind == "{":
            inner = next((p for p in node.parts if rest[: len(_part_keys(p))] == _part_keys(p)), None)
            if inner is None:
                break
            rest, node = rest[len(_part_keys(inner)) :], inner.value
        if not rest and change.item and node.kind == "[":
            yield _added(text, node, _inline(change.value))
        elif rest and node.kind == "{":
            yield _added(text, node, _assignment(rest, change))


def _added(text: str, node: Value, piece: str) -> list[tuple[int, str]]:
    if not node.parts:
        return [(node.start + 1, piece)]
    last = node.parts[-1]
    own_line = starts_line(text, last.start)
    gap = newline_of(text) + indent_at(text, last.start) if own_line else " "
    if last.comma >= 0:
        return [(last.comma + 1, gap + piece + ",")]
    return [(last.value.end, "," + gap + piece)]


def _under_a_header(text: str, change: Entry) -> Iterator[list[tuple[int, str]]]:
    """Add a line under the nearest header, or before the first one."""
    found = [_Statement((), 0, 0), *_statements(text)]
    for length in range(len(change.keys) - 1, -1, -1):
        for place, statement in enumerate(found):
            if statement.value is None and statement.path == change.keys[:length]:
                at = _extent(found, place)[1]
                line, newline = _assignment(change.keys[length:], change), newline_of(text)
                yield [(at, newline + line if at > 0 and text[at - 1] != "\n" else line + newline)]


def _assignment(keys: Keys, change: Entry) -> str:
    return f"{tomlkit.key(keys).as_string()} = {_inline([change.value] if change.item else change.value)}"


def _statements(text: str) -> list[_Statement]:
    """Return the statements of a valid text, in order."""
    found: list[_Statement] = []
    base: Place = ()
    last: dict[Place, int] = {}  # the number of the last item of each list of tables
    at = _skip(_GAP, text, 0)
    while at < len(text):
        start = text.rfind("\n", 0, at) + 1
        if text[at] == "[":
            listed = text.startswith("[[", at)
            keys, at = _keys(text, at + (2 if listed else 1))
            base = _resolved(keys, last, listed)
            at = text.index("]", at) + (2 if listed else 1)
            at = _skip(_REST_OF_LINE, text, at)
            found.append(_Statement(base, start, at))
        else:
            keys, at = _keys(text, at)
            value = _value(text, _skip(_SPACES, text, text.index("=", at) + 1))
            at = _skip(_REST_OF_LINE, text, value.end)
            found.append(_Statement((*base, *keys), start, at, value))
        at = _skip(_GAP, text, at)
    return found


def _resolved(keys: Place, last: dict[Place, int], listed: bool) -> Place:
    path: Place = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        if listed and place == len(keys) - 1:
            last[path] = last.get(path, -1) + 1
        if path in last:
            path = (*path, last[path])
    return path


def _keys(text: str, at: int) -> tuple[Place, int]:
    keys: list[str] = []
    while True:
        at = _skip(_SPACES, text, at)
        found = _BARE.match(text, at)
        if found:
            keys.append(found[0])
        else:
            found = _STRING.match(text, at)
            assert found
            keys.append(_name(found[0]))
        at = _skip(_SPACES, text, found.end())
        if text[at : at + 1] != ".":
            return tuple(keys), at
        at += 1


def _name(quoted: str) -> str:
    if quoted[0] == "'" or "\\" not in quoted:
        return quoted[1:-1]
    name: str = next(iter(tomllib.loads(f"{quoted} = 0")))
    return name


def _value(text: str, at: int) -> Value:
    if text[at] in "[{":
        return _container(text, at)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    assert found
    return Value("", at, at + len(found[0].rstrip()))


def _container(text: str, start: int) -> Value:
    opening, closing = text[start], "]" if text[start] == "[" else "}"
    parts: list[Part] = []
    at = _skip(_GAP, text, start + 1)
    while text[at] != closing:
        first, name = at, ""
        if opening == "{":
            keys, at = _keys(text, at)
            name = json.dumps(keys)
            at = _skip(_GAP, text, text.index("=", at) + 1)
        value = _value(text, at)
        at = _skip(_GAP, text, value.end)
        comma = -1
        if text[at] == ",":
            comma, at = at, _skip(_GAP, text, at + 1)
        parts.append(Part(name, first, value, comma))
    return Value(opening, start, at + 1, tuple(parts))


def _part_keys(part: Part) -> tuple[str, ...]:
    """Return the keys of an inline table's part, which may be dotted."""
    return tuple(json.loads(part.key))


def _extent(found: list[_Statement], at: int) -> tuple[int, int]:
    """Return the span of a statement; a header's includes its values."""
    end = found[at].end
    if found[at].value is None:
        for each in found[at + 1 :]:
            if each.value is None:
                break
            end = each.end
    return found[at].start, end


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
