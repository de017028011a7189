"""Finds fenced code in the text of a checkpoint: a line of it that begins like a heading is none."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MARKS = ("```", "~~~")
_LONGEST = 16  # characters of a mark; no one writes longer ones


def opens(line: str) -> str:
    """Return the mark with which a line begins code; empty if it does not."""
    if not line.startswith(_MARKS):
        return ""
    size = len(line) - len(line.lstrip(line[0]))
    if size > _LONGEST or (line[0] == "`" and "`" in line[size:]):
        return ""
    return line[:size]


def fenced(lines: Sequence[str], ends: Callable[[str], bool] = lambda _: False) -> list[bool]:
    """Tell of each line whether it belongs to code, with the marks around it.

    Code that nothing closes is none: it would swallow all that follows.

    Args:
        lines: The text.
        ends: Tells of a line whether it ends whatever stands before it.
    """
    found = [False] * len(lines)
    never: dict[str, int] = {}  # marks that nothing closes, up to which line
    at = 0
    while at < len(lines):
        mark = opens(lines[at])
        close = _closing(lines, at, mark, ends, never) if mark else 0
        if close:
            found[at : close + 1] = [True] * (close + 1 - at)
        at = max(at, close) + 1
    return found


def _closing(
    lines: Sequence[str], at: int, mark: str, ends: Callable[[str], bool], never: dict[str, int]
) -> int:
    """Return the line that closes a mark; 0 if none does."""
    if at < never.get(mark, 0):
        return 0
    for place in range(at + 1, len(lines)):
        line = lines[place].rstrip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return place
        if ends(lines[place]):
            break
    else:
        place = len(lines)
    never[mark] = place
    return 0
