"""Where each value of a JSON text with comments and trailing commas stands; nothing is written here."""

from __future__ import annotations

import json
import re

from told.errors import UsageError
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DEEPEST = 200
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_SCALAR = re.compile(r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.+-])")


@record
class Value:
    """One value and where it stands."""

    kind: str  # `{`, `[`, or empty for a text, a number, true, false or null
    start: int
    end: int
    parts: tuple[Part, ...] = ()
    skipped: bool = False  # its parts were not looked at: plain JSON that nothing has to be found in


@record
class Part:
    """A member of an object or an item of a list."""

    key: str  # empty in a list
    start: int  # of the key, or of the item
    value: Value
    comma: int = -1  # where the comma after it stands


def gap_end(text: str, at: int) -> int:
    """Return where the next thing after spaces and comments stands."""
    found = _GAP.match(text, at)
    return found.end() if found else at


def scan(text: str, path: str, keys: tuple[str, ...] | None) -> Value | None:
    """Return the value of a text with the places in it; None for a text that holds nothing.

    Args:
        text: what the file says.
        path: the file's name, for an error.
        keys: the way to what has to be found; what is beside it is only checked. None: all is only checked.

    Raises:
        UsageError: the text is not what its reader would accept.
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
    """Return a scanned value as Python knows it."""
    if value.skipped:
        return json.loads(text[value.start : value.end])
    if value.kind == "{":
        return {part.key: plain(text, part.value) for part in value.parts}
    if value.kind == "[":
        return [plain(text, part.value) for part in value.parts]
    return json.loads(text[value.start : value.end])


def strings(text: str, value: Value) -> list[str]:
    """Return every key and text in a value."""
    if value.skipped:
        return list(_texts(json.loads(text[value.start : value.end])))
    if not value.kind:
        return [json.loads(text[value.start : value.end])] if text[value.start] == '"' else []
    found = [part.key for part in value.parts if value.kind == "{"]
    for part in value.parts:
        found += strings(text, part.value)
    return found


def broken(text: str, path: str, at: int, why: str) -> UsageError:
    """Return the error for a file that cannot be read."""
    line = text.count("\n", 0, at) + 1
    return UsageError(f"{path} is not valid at line {line}: {why}. Correct that line, then try again.")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.items() if isinstance(value, dict) else value:
            yield from _texts(list(inner) if isinstance(inner, tuple) else inner)


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
        """Leave a value to the decoder of Python, which is 20 times faster, if there is no comment in it."""
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
