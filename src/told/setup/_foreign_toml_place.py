"""The places where a value can be put into a TOML text, the one that is easiest to take back first."""

from __future__ import annotations

from told.setup._foreign_edit import indent_at, newline_of, put_in, starts_line
from told.setup._foreign_toml_scan import TABLE, VALUE, part_keys, statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Entry
    from told.setup._foreign_edit import Edit
    from told.setup._foreign_jsonc import Value


def inline(value: Any) -> str:
    """Return a value as it is written in one line."""
    import tomlkit

    if isinstance(value, dict):
        inner = tomlkit.inline_table()
        inner.update(value)
        return inner.as_string()
    if isinstance(value, list):
        listed = tomlkit.array()
        listed.extend(value)
        return listed.as_string()
    written: str = tomlkit.item(value).as_string()
    return written


def table(change: Entry, newline: str) -> str:
    """Return a value as tables of its own, or as a line under the header of its table."""
    import tomlkit

    value: Any = [change.value] if change.item else change.value
    for key in reversed(change.keys):
        value = {key: value}
    written: str = tomlkit.dumps(value)
    return written.strip("\n").replace("\n", newline) + newline


def candidates(text: str, data: dict[str, Any], change: Entry) -> Iterator[Edit]:
    """Yield the ways to add a value; the caller tries which of them is valid and says what it should."""
    has_header = len(change.keys) > 1 or isinstance(change.value, dict)
    if has_header:
        yield _at_the_end(text, data, change)
    yield from _in_a_value(text, change)
    yield from _under_a_header(text, data, change)
    yield _at_the_top(text, change)


def _at_the_end(text: str, data: dict[str, Any], change: Entry) -> Edit:
    newline = newline_of(text)
    before = ""
    if text.strip():
        before = newline if text.endswith("\n") else newline * 2
        before = "" if text.endswith(("\n\n", "\n\r\n")) else before
    made: list[tuple[str, ...]] = []
    if not isinstance(change.value, dict):
        made = [change.keys[:-1]]
    if change.item and _lookup(data, change.keys) is None:
        made.append(change.keys)
    return put_in(text, [(len(text), before + table(change, newline))], made)


def _in_a_value(text: str, change: Entry) -> Iterator[Edit]:
    """Add to a list or a table that is written as one value."""
    for statement in statements(text):
        if statement.value is None or change.keys[: len(statement.path)] != statement.path:
            continue
        node: Value | None = statement.value
        rest = change.keys[len(statement.path) :]
        while rest and node is not None and node.kind == "{":
            inner = next((p for p in node.parts if rest[: len(part_keys(p))] == part_keys(p)), None)
            if inner is None:
                break
            rest, node = rest[len(part_keys(inner)) :], inner.value
        if node is None or not node.kind:
            continue
        if not rest and change.item and node.kind == "[":
            yield put_in(text, _added(text, node, inline(change.value)))
        elif rest and node.kind == "{":
            written = inline([change.value] if change.item else change.value)
            made = [change.keys] if change.item else []
            yield put_in(text, _added(text, node, f"{_dotted(rest)} = {written}"), made)


def _added(text: str, node: Value, piece: str) -> list[tuple[int, str]]:
    if not node.parts:
        return [(node.start + 1, piece)]
    last = node.parts[-1]
    own_line = starts_line(text, last.start)
    gap = newline_of(text) + indent_at(text, last.start) if own_line else " "
    if last.comma >= 0:
        return [(last.comma + 1, gap + piece + ",")]
    return [(last.value.end, "," + gap + piece)]


def _under_a_header(text: str, data: dict[str, Any], change: Entry) -> Iterator[Edit]:
    """Add a line under the header of the nearest table that has one."""
    found = statements(text)
    for length in range(len(change.keys) - 1, 0, -1):
        for at, statement in enumerate(found):
            if statement.kind == TABLE and statement.path == change.keys[:length]:
                end = statement.end
                for each in found[at + 1 :]:
                    if each.kind != VALUE:
                        break
                    end = each.end
                yield _line(text, end, change.keys[length:], data, change)


def _at_the_top(text: str, change: Entry) -> Edit:
    end = 0
    for each in statements(text):
        if each.kind != VALUE:
            break
        end = each.end
    return _line(text, end, change.keys, {}, change)


def _line(text: str, at: int, keys: tuple[str, ...], data: dict[str, Any], change: Entry) -> Edit:
    newline = newline_of(text)
    written = inline([change.value] if change.item else change.value)
    open_line = at > 0 and text[at - 1] != "\n"
    line = f"{_dotted(keys)} = {written}"
    piece = newline + line if open_line else line + newline
    made = [change.keys] if change.item and _lookup(data, change.keys) is None else []
    return put_in(text, [(at, piece)], made)


def _lookup(data: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data


def _dotted(keys: tuple[str, ...]) -> str:
    import tomlkit

    return tomlkit.key(keys).as_string() if len(keys) > 1 else tomlkit.key(keys[0]).as_string()
