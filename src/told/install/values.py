"""Find told's values in parsed data, and the positions of values in JSON with comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from told.agents.wiring import Entry, has_mark
from told.errors import UsageError
from told.pattern import lazy_pattern

Keys = tuple[str, ...]
Place = tuple[str | int, ...]  # in data, with the numbers of items
THERE, MISSING, EDITED, FOREIGN = "there", "missing", "edited", "foreign"


@dataclass(frozen=True, slots=True)
class Edit:
    """A text with inserted pieces."""

    text: str
    pieces: tuple[tuple[int, str], ...]  # offset in the new text, and content
    made: tuple[tuple[str, ...], ...] = ()  # keys of objects and lists that were created


def put_in(text: str, pieces: Iterable[tuple[int, str]], made: Iterable[tuple[str, ...]] = ()) -> Edit:
    """Return a text with pieces inserted at ascending offsets."""
    out: list[str] = []
    placed: list[tuple[int, str]] = []
    done = length = 0
    for at, piece in pieces:
        out += [text[done:at], piece]
        length += at - done
        placed.append((length, piece))
        length += len(piece)
        done = at
    return Edit("".join([*out, text[done:]]), tuple(placed), tuple(made))


def take_out(text: str, pieces: Iterable[tuple[int, str]]) -> str | None:
    """Return a text without inserted pieces; None if they have moved."""
    for at, piece in sorted(pieces, reverse=True):
        if text[at : at + len(piece)] != piece:
            return None
        text = text[:at] + text[at + len(piece) :]
    return text


def cut(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some spans, which may overlap."""
    out: list[str] = []
    done = 0
    for start, end in sorted(spans):
        out.append(text[done : max(start, done)])
        done = max(done, end)
    return "".join([*out, text[done:]])


def newline_of(text: str) -> str:
    """Return how the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def end_of_text(text: str) -> str:
    """Return what separates an appended paragraph from the text before it."""
    if not text.strip() or text.endswith(("\n\n", "\n\r\n")):
        return ""
    return newline_of(text) * (1 if text.endswith("\n") else 2)


def line_start(text: str, at: int) -> int:
    """Return the start of an offset's line."""
    return text.rfind("\n", 0, at) + 1


def indent_at(text: str, at: int) -> str:
    """Return the indentation of an offset's line."""
    start = line_start(text, at)
    end = start
    while end < at and text[end] in " \t":
        end += 1
    return text[start:end]


def starts_line(text: str, at: int) -> bool:
    """Tell whether an offset is the first in its line."""
    start = line_start(text, at)
    return start > 0 and not text[start:at].strip(" \t")


def texts_in(value: Any) -> Iterator[str]:
    """Yield every key and text in Python data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.items() if isinstance(value, dict) else value:
            yield from texts_in(list(inner) if isinstance(inner, tuple) else inner)


ABSENT = object()


def find_value(data: Any, change: Entry) -> Any:
    """Return the value at a change's keys, which is a list for an item, or ABSENT."""
    is_toml = change.path.endswith(".toml")
    for depth, key in enumerate(change.keys):
        if not isinstance(data, dict):
            raise wrong_kind(change, change.keys[:depth], "a table" if is_toml else "an object")
        if key not in data:
            return ABSENT
        data = data[key]
    if change.item and not isinstance(data, list):
        raise wrong_kind(change, change.keys, "a list")
    return data


def wrong_kind(change: Entry, keys: Keys, wanted: str) -> UsageError:
    """Return the error for something else where a container must be."""
    where = f"{'.'.join(keys)} in {change.path}" if keys else change.path
    return UsageError(f"{where} is not {wanted}, so told cannot add to it. Correct it first.")


def is_told(value: Any, change: Entry) -> bool:
    """Tell whether a value is told's, also if it was edited."""
    if change.mark:
        return any(has_mark(text, change.mark) for text in texts_in(value))
    return bool(value == change.value)


def entry_state(data: Any, change: Entry) -> str:
    """Return the state of a value in the data of a file."""
    value = find_value(data, change)
    if value is ABSENT:
        return MISSING
    if change.item:
        mine = [item for item in value if is_told(item, change)]
        return MISSING if not mine else THERE if mine[0] == change.value else EDITED
    if value == change.value:
        return THERE
    return EDITED if is_told(value, change) else FOREIGN


def told_path(data: Any, change: Entry, *, sure: bool = True) -> Place | None:
    """Return the path of told's value or first item; None if there is none.

    In an item that others extended, the path leads to told's part. With `sure`, what is at the keys of a
    value is told's.
    """
    try:
        value = find_value(data, change)
    except UsageError:
        return None
    if value is ABSENT:
        return None
    if not change.item:
        return change.keys if sure or is_told(value, change) else None
    for at, item in enumerate(value):
        if is_told(item, change):
            return (*change.keys, at, *_shared_path(item, change))
    return None


def _shared_path(value: Any, change: Entry) -> Place:
    if not change.mark or value == change.value or not isinstance(value, (dict, list)):
        return ()
    parts: list[tuple[str | int, Any]] = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, inner in parts:
        if way := _shared_path(inner, change):
            return (key, *way)
    # Only objects: the words of one command belong together.
    told = [isinstance(inner, dict) and is_told(inner, change) for _, inner in parts]
    return (told.index(True),) if isinstance(value, list) and any(told) and not all(told) else ()


DEEPEST = 200
_GAP = lazy_pattern(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = lazy_pattern(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_SCALAR = lazy_pattern(r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.+-])")


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its position."""

    kind: str  # `{`, `[`, or empty for a text, a number, true, false or null
    start: int
    end: int
    parts: tuple[Part, ...] = ()
    skipped: bool = False  # its parts were not scanned


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object or an item of a list."""

    key: str  # empty in a list
    start: int  # of the key, or of the item
    value: Value
    comma: int = -1  # where the comma after it stands


def gap_end(text: str, at: int) -> int:
    """Return the offset after spaces and comments."""
    found = _GAP.match(text, at)
    return found.end() if found else at


def scan(text: str, path: str, keys: tuple[str, ...] | None) -> Value | None:
    """Return the positions of a text's values; None if it is empty.

    What is beside `keys`, or everything without them, is only checked, which is faster.
    """
    at = gap_end(text, 0)
    if at == len(text):
        return None
    value = _Scan(text, path).value(at, keys)
    rest = gap_end(text, value.end)
    if rest < len(text):
        raise broken(text, path, rest, "something follows the end of the value")
    return value


def plain(text: str, value: Value) -> Any:
    """Return a scanned value as Python data."""
    if value.skipped:
        return json.loads(text[value.start : value.end])
    if value.kind == "{":
        return {part.key: plain(text, part.value) for part in value.parts}
    if value.kind == "[":
        return [plain(text, part.value) for part in value.parts]
    return json.loads(text[value.start : value.end])


def broken(text: str, path: str, at: int, why: str) -> UsageError:
    """Return the error for an invalid file."""
    line = text.count("\n", 0, at) + 1
    return UsageError(f"{path} is not valid at line {line}: {why}. Correct that line, then try again.")


def _no_constant(name: str) -> None:
    raise ValueError(name)


_PLAIN = json.JSONDecoder(parse_constant=_no_constant)


class _Scan:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path

    def value(self, at: int, keys: tuple[str, ...] | None, depth: int = 0) -> Value:
        text = self._text
        opening = text[at : at + 1]
        if opening in ("{", "["):
            if depth == DEEPEST:
                raise broken(text, self._path, at, "it is nested too deep")
            return (self._skip(opening, at) if keys is None else None) or self._container(
                opening, at, keys, depth
            )
        found = _STRING.match(text, at) or _SCALAR.match(text, at)
        if not found:
            raise broken(text, self._path, at, _unexpected(text, at))
        return Value("", at, found.end())

    def _skip(self, opening: str, at: int) -> Value | None:
        """Let Python's faster decoder skip a value without comments."""
        try:
            _, end = _PLAIN.raw_decode(self._text, at)
        except ValueError:
            return None
        except RecursionError:
            raise broken(self._text, self._path, at, "it is nested too deep") from None
        return Value(opening, at, end, skipped=True)

    def _container(self, opening: str, start: int, keys: tuple[str, ...] | None, depth: int) -> Value:
        text, closing = self._text, "}" if opening == "{" else "]"
        parts: list[Part] = []
        at = gap_end(text, start + 1)
        while text[at : at + 1] != closing:
            if parts and parts[-1].comma < 0:
                raise broken(text, self._path, at, f"a comma or `{closing}` is missing before this")
            part = self._part(opening, at, keys, depth)
            at = gap_end(text, part.value.end)
            if text[at : at + 1] == ",":
                part = Part(part.key, part.start, part.value, at)
                at = gap_end(text, at + 1)
            parts.append(part)
        return Value(opening, start, at + 1, tuple(parts))

    def _part(self, opening: str, at: int, keys: tuple[str, ...] | None, depth: int) -> Part:
        text = self._text
        if opening == "[":
            return Part("", at, self.value(at, None if keys else keys, depth + 1))
        found = _STRING.match(text, at)
        if not found:
            raise broken(text, self._path, at, _unexpected(text, at))
        colon = gap_end(text, found.end())
        if text[colon : colon + 1] != ":":
            raise broken(text, self._path, colon, "a colon is missing after the name")
        key = json.loads(found[0])
        below = (keys[1:] if keys[0] == key else None) if keys else keys
        return Part(key, at, self.value(gap_end(text, colon + 1), below, depth + 1))


def _unexpected(text: str, at: int) -> str:
    if at >= len(text):
        return "the file ends too early"
    if text[at] == '"':
        return "a text in quotes does not end"
    return f"{text[at : at + 1]!r} does not belong there"


def part_spans(text: str, node: Value, place: int) -> list[tuple[int, int]]:
    """Return the spans to cut to remove a part."""
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


def is_container_empty(text: str, node: Value) -> bool:
    """Tell whether a container is empty, without comments."""
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
