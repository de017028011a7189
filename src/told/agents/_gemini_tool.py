"""What the tool calls of Gemini CLI, and of agents that grew out of it, tell about files."""

from __future__ import annotations

from told.agents.text import FAILED, REFUSED, items, mapping, text
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
_ENDINGS = {"error": FAILED, "cancelled": REFUSED}
_EXIT = "\nExit Code: "
# What Gemini CLI itself writes behind a command's output and its exit code.
_BEHIND = ("Signal:", "Error:", "Background PIDs:", "Process Group PGID:", "</untrusted_context>")
_PATH = ("file_path", "absolute_path", "notebook_path", "path")


def touches(session: str, name: str, given: dict[str, Any], at: int) -> Iterator[Touch]:
    """Yield the file that a tool call reads or changes."""
    path = next((path for key in _PATH if (path := text(given.get(key)))), "")
    if path and name in _HOW:
        yield Touch(session, path, _HOW[name], at)


def ending(call: dict[str, Any]) -> str:
    """Return how a call ended, if not well; of a shell command only its output tells, which "succeeded"."""
    how = _ENDINGS.get(text(call.get("status")), "")
    if how or call.get("name") != "run_shell_command":
        return how
    for part in items(call.get("result")):
        response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        _, found, rest = text(response.get("output")).rpartition(_EXIT)
        code, *behind = rest.partition("\n\n")[0].split("\n")
        is_last = all(not line or line.startswith(_BEHIND) for line in behind)
        if found and is_last and code.strip().lstrip("-").isdecimal() and code.strip() != "0":
            return FAILED
    return ""
