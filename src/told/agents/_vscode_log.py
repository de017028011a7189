"""Rebuilds a VS Code chat session from its mutation log."""

from __future__ import annotations

from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import parse
from told.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHOLE, _SET, _PUSH, _DELETE = 0, 1, 2, 3


def rebuild(path: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the state that a log's entries lead to, and what could not be applied."""
    try:
        content = read_document(path)
    except NotReadableError as error:
        return {}, [Problem(0, str(error))]
    state: dict[str, Any] = {}
    problems: list[Problem] = []
    begun = False
    raw_lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, raw in enumerate(raw_lines, 1):
        if not raw.strip():
            continue
        entry = parse(raw)
        if not isinstance(entry, dict):
            if number < len(raw_lines):  # else the editor is still writing it
                problems.append(Problem(number, entry if isinstance(entry, str) else "not a JSON object"))
            continue
        if entry.get("kind") == _WHOLE and isinstance(entry.get("v"), dict):
            state, begun = entry["v"], True
            continue
        if not begun:
            problems.append(Problem(number, "a change before the state that it changes"))
            begun = True
        if not _apply(state, entry):
            problems.append(Problem(number, "a change that does not fit the session"))
    return state, problems


def _apply(state: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Apply one entry to the state; false when it does not fit."""
    kind, path = entry.get("kind"), entry.get("k")
    if kind not in (_SET, _PUSH, _DELETE) or isinstance(kind, bool):
        return False
    if not isinstance(path, list) or not path or not all(isinstance(name, (str, int)) for name in path):
        return False
    container: Any = state
    for name in path[:-1]:
        container = _item(container, name)
    last = path[-1]
    if kind == _PUSH:
        current = _item(container, last)
        kept = _kept(current if isinstance(current, list) else [], entry.get("i"))
        added = entry.get("v")
        return _put(container, last, kept + (added if isinstance(added, list) else []))
    return _put(container, last, entry.get("v") if kind == _SET else None)


def _item(container: Any, name: str | int) -> Any:
    if isinstance(container, dict):
        return container.get(str(name))
    if isinstance(container, list) and isinstance(name, int) and 0 <= name < len(container):
        return container[name]
    return None


def _put(container: Any, name: str | int, value: Any) -> bool:
    if isinstance(container, dict):
        container[str(name)] = value
        return True
    if isinstance(container, list) and isinstance(name, int) and 0 <= name <= len(container):
        container[name : name + 1] = [value]
        return True
    return False


def _kept(current: list[Any], length: Any) -> list[Any]:
    return current[:length] if isinstance(length, int) and length >= 0 else current
