"""What the tool calls of Claude Code tell: the files they touch and the commits they make."""

from __future__ import annotations

import re

from told.agents.text import items, mapping, text
from told.model import Ref, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_HOW = {
    "Read": "read", "NotebookRead": "read",
    "Write": "create",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
}  # fmt: skip
_COMMITTED = re.compile(r"^\[[^\]\n]{1,300} ([0-9a-f]{7,40})\] ", re.MULTILINE)
_MAX_OUTPUT = 64 * 1024


def touches(session: str, name: str, given: dict[str, Any], at: int) -> Iterator[Touch]:
    """Yield the file that a tool call reads or changes."""
    path = text(given.get("file_path")) or text(given.get("notebook_path"))
    if path and name in _HOW:
        yield Touch(session, path, _HOW[name], at)


def shell_edits(session: str, result: dict[str, Any], at: int) -> Iterator[Touch]:
    """Yield the files that a shell command changed, which Claude Code finds out by itself."""
    for path in items(mapping(result.get("bashEditDiff")).get("changedFiles")):
        if text(path):
            yield Touch(session, path, "edit", at)


def awaits(name: str, given: dict[str, Any]) -> bool:
    """Whether the output of a tool call is worth reading."""
    return name == "Bash" and "git commit" in text(given.get("command"))


def commits(session: str, output: str, at: int) -> Iterator[Ref]:
    """Yield the commits that the output of `git commit` names."""
    for found in _COMMITTED.finditer(output[:_MAX_OUTPUT]):
        yield Ref(session, "commit", found[1], at)
