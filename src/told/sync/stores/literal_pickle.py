"""Read the values in a pickle without loading it: nothing of it is imported or called."""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any

_MAX_BYTES = 4 * 1024 * 1024
_MARK = object()
_VALUES = {"MARK": _MARK, "NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_NEW: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_SET": list,
}  # fmt: skip
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARKED = ("TUPLE", "LIST", "DICT", "SETITEMS", "APPENDS", "ADDITEMS")
_OBJECTS = ("GLOBAL", "STACK_GLOBAL", "NEWOBJ", "REDUCE", "SETITEM", "APPEND", "BUILD")
_IGNORED = ("PROTO", "FRAME")


class Opaque:
    """An object that was not made; its state is kept."""

    def __init__(self) -> None:
        self.state: Any = None


def find_payload(content: Any) -> tuple[Any, dict[str, Any]] | None:
    """Return the id and the payload of a pickled point; None if it has none."""
    try:
        point = read_literals(content)
    except ValueError:
        return None
    state = point.state if isinstance(point, Opaque) else point
    for part in (state, *(state.values() if isinstance(state, dict) else ())):
        if isinstance(part, dict) and isinstance(part.get("payload"), dict):
            return part.get("id"), part["payload"]
    return None


def read_literals(content: Any) -> Any:
    """Return the value of a pickle, with an `Opaque` in place of each object.

    Raises:
        ValueError: it is not a pickle, or has what only running it would tell.
    """
    if not isinstance(content, bytes) or len(content) > _MAX_BYTES:
        raise ValueError("not a pickle")
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name == "STOP":
                return stack[-1]
            _apply(opcode.name, argument, stack, memo)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError("not a pickle") from error
    raise ValueError("not a pickle")


def _apply(name: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    if name in _IGNORED:
        return
    if name in _VALUES:
        stack.append(_VALUES[name])
    elif name in _NEW:
        stack.append(_NEW[name]())
    elif name in _TUPLES:
        stack[-_TUPLES[name] :] = [tuple(stack[-_TUPLES[name] :])]
    elif name in ("MEMOIZE", "BINPUT", "LONG_BINPUT"):
        memo[len(memo) if argument is None else argument] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET"):
        stack.append(memo[argument])
    elif name in _MARKED:
        _apply_marked(name, stack)
    elif name in _OBJECTS:
        _apply_object(name, stack)
    elif isinstance(argument, (str, int, float, bytes)):
        stack.append(argument)
    else:
        raise ValueError(name)


def _apply_object(name: str, stack: list[Any]) -> None:
    """Put an `Opaque` where a pickle would import or call something."""
    if name == "GLOBAL":
        stack.append(Opaque())
    elif name in ("STACK_GLOBAL", "NEWOBJ", "REDUCE"):
        stack[-2:] = [Opaque()]
    elif name == "SETITEM":
        value, key = stack.pop(), stack.pop()
        stack[-1][key] = value
    elif name == "APPEND":
        value = stack.pop()
        stack[-1].append(value)
    else:  # BUILD
        state = stack.pop()
        stack[-1].state = state


def _apply_marked(name: str, stack: list[Any]) -> None:
    start = len(stack) - 1 - stack[::-1].index(_MARK)
    values = stack[start + 1 :]
    del stack[start:]
    if name == "TUPLE":
        stack.append(tuple(values))
    elif name == "LIST":
        stack.append(values)
    elif name == "DICT":
        stack.append(dict(zip(values[::2], values[1::2], strict=True)))
    elif name == "SETITEMS":
        stack[-1].update(zip(values[::2], values[1::2], strict=True))
    else:
        stack[-1].extend(values)
