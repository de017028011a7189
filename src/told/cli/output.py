"""Prints for people and agents alike: short rows, compact JSON, others' text fenced."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


# A branch, a project or a folder that has more than these could be a sentence that steers its reader.
_IN_NAMES = {ord(char): None for char in "._-/@:+#~"}


def to_json(value: Any) -> str:
    """Return compact JSON. The json module would cost as much time as the query."""
    from _json import encode_basestring

    if isinstance(value, str):
        return str(encode_basestring(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{encode_basestring(str(key))}:{to_json(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(to_json, value)) + "]"
    if isinstance(value, float):
        return repr(round(value, 3))
    return str(value)


def when(at: int, now: int) -> str:
    """Return a time as a short local date and time; with the year only if it is another one.

    Args:
        at: milliseconds; 0 is unknown.
        now: milliseconds.
    """
    if at <= 0:
        return "undated    "
    then = _local(at)
    form = "%m-%d %H:%M" if then.tm_year == _local(now).tm_year else "%Y-%m-%d %H:%M"
    return time.strftime(form, then)


def iso(at: int) -> str | None:
    """Return a time as ISO text in UTC, for machines."""
    if at <= 0:
        return None
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at // 1000))
    except (OverflowError, OSError, ValueError):
        return None


def _local(at: int) -> time.struct_time:
    try:
        return time.localtime(at // 1000)
    except (OverflowError, OSError, ValueError):
        return time.localtime(0)


def is_plain(name: str) -> bool:
    """Whether a name is nothing but a name: short, one word, of ASCII letters, digits and `._-/@:+#~`."""
    bare = name.translate(_IN_NAMES)
    return len(name) <= 80 and name.isascii() and (bare.isalnum() or not bare)


def count(number: int, word: str) -> str:
    """Return a number with its noun, in the plural where it must be."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def cut(text: str, room: int) -> str:
    """Cut a text to at most `room` bytes of UTF-8, at a word where one is near, with an ellipsis."""
    raw = text.encode()
    if len(raw) <= room:
        return text
    if room < 4:
        return ""
    kept = raw[: room - 3].decode("utf-8", "ignore")
    space = kept.rfind(" ")
    if space > len(kept) * 2 // 3:
        kept = kept[:space]
    return kept.rstrip() + "…"


def short_path(path: str, root: str, room: int) -> str:
    """Return a path below its project's root, with its middle left out when it is long."""
    if root and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    if len(path.encode()) <= room:
        return path
    tail = path.encode()[-(room - 3) :].decode("utf-8", "ignore")
    slash = tail.find("/")
    return "…" + (tail[slash:] if 0 <= slash < len(tail) - 8 else tail)


def fitted(lines_for: Callable[[int], list[str]], rooms: Sequence[int], most: int) -> list[str]:
    """Return lines with the widest room for a text in which all of them fit into so many bytes."""
    lines: list[str] = []
    for room in rooms:
        lines = lines_for(room)
        if sum(len(line.encode()) + 1 for line in lines) <= most:
            break
    return lines
