"""Where each statement and value of a TOML text stands; `tomllib` has found the text valid before."""

from __future__ import annotations

import json
import re
import tomllib

from told.errors import UsageError
from told.record import record
from told.setup._foreign_jsonc import Part, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]

TABLE, VALUE = "table", "value"
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})|' r"'''.*?'''(?:'{0,2})|" r'"(?:\\.|[^"\\])*"|' r"'[^']*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r?\n)?")
_WHERE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


@record
class Statement:
    """A header or a line with a value."""

    kind: str
    path: Path  # from the top, with the number of the item in every list of tables
    start: int
    end: int  # behind the end of its last line
    value: Value | None = None


def parse(text: str, path: str) -> dict[str, Any]:
    """Return what a text says.

    Raises:
        UsageError: it is not valid.
    """
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


def statements(text: str) -> list[Statement]:
    """Return the statements of a valid text, in order."""
    found: list[Statement] = []
    base: Path = ()
    last: dict[Path, int] = {}  # the number of the last item of each list of tables
    at = _gap(text, 0)
    while at < len(text):
        start = text.rfind("\n", 0, at) + 1
        if text[at] == "[":
            listed = text.startswith("[[", at)
            keys, at = _keys(text, at + (2 if listed else 1))
            base = _resolved(keys, last, listed)
            at = text.index("]", at) + (2 if listed else 1)
            at = _line_end(text, at)
            found.append(Statement(TABLE, base, start, at))
        else:
            keys, at = _keys(text, at)
            value = _value(text, _spaces(text, text.index("=", at) + 1))
            at = _line_end(text, value.end)
            found.append(Statement(VALUE, (*base, *keys), start, at, value))
        at = _gap(text, at)
    return found


def _resolved(keys: Path, last: dict[Path, int], listed: bool) -> Path:
    path: Path = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        if listed and place == len(keys) - 1:
            last[path] = last.get(path, -1) + 1
        if path in last:
            path = (*path, last[path])
    return path


def _keys(text: str, at: int) -> tuple[Path, int]:
    keys: list[str] = []
    while True:
        at = _spaces(text, at)
        found = _BARE.match(text, at)
        if found:
            keys.append(found[0])
        else:
            found = _STRING.match(text, at)
            assert found
            keys.append(_name(found[0]))
        at = _spaces(text, found.end())
        if text[at : at + 1] != ".":
            return tuple(keys), at
        at += 1


def _name(quoted: str) -> str:
    if quoted[0] == "'":
        return quoted[1:-1]
    if "\\" not in quoted:
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
    at = _gap(text, start + 1)
    while text[at] != closing:
        first, name = at, ""
        if opening == "{":
            keys, at = _keys(text, at)
            name = json.dumps(keys)
            at = _gap(text, text.index("=", at) + 1)
        value = _value(text, at)
        at = _gap(text, value.end)
        comma = -1
        if text[at] == ",":
            comma, at = at, _gap(text, at + 1)
        parts.append(Part(name, first, value, comma))
    return Value(opening, start, at + 1, tuple(parts))


def part_keys(part: Part) -> tuple[str, ...]:
    """Return the keys of a part of an inline table, which may be dotted."""
    return tuple(json.loads(part.key))


def _gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


def _spaces(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found else at
