"""What the tool calls of Gemini CLI, and of agents that grew out of it, tell about files."""

from __future__ import annotations

from told.agents.text import text
from told.model import Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_HOW = {
    "read_file": "read",
    "write_file": "create",
    "replace": "edit", "edit": "edit", "notebook_edit": "edit",
}  # fmt: skip
_PATH = ("file_path", "absolute_path", "notebook_path", "path")


def touches(session: str, name: str, given: dict[str, Any], at: int) -> Iterator[Touch]:
    """Yield the file that a tool call reads or changes."""
    path = next((path for key in _PATH if (path := text(given.get(key)))), "")
    if path and name in _HOW:
        yield Touch(session, path, _HOW[name], at)
