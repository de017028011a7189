"""Small readings that many agents' formats share: times, texts, one line about a tool call."""

from __future__ import annotations

from datetime import UTC, datetime

from told.agents._plans import plan_of
from told.guard.cutting import whole_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A line after that of a tool call: how it ended, if not well. What a tool put out is not kept.
FAILED = "(failed)"
REFUSED = "(refused)"  # the user did not allow it

# Long enough to recognise a command, short enough not to be tool output.
_STEP = 200

_MAIN_ARGUMENT = (
    "command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt",
)  # fmt: skip


def millis(value: Any) -> int:
    """Read a time: ISO text, or a number of seconds, milliseconds or microseconds. 0 when it is none."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, (int, float)):
        if not 0 < value < 1e17:  # also false for NaN
            return 0
        if value < 1e11:
            return int(value * 1000)
        return int(value) if value < 1e14 else int(value / 1000)
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return 0
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return max(0, int(moment.timestamp() * 1000))
    except (OverflowError, ValueError):
        return 0


def text(value: Any) -> str:
    """Return a value if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """Return a value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def is_failure(code: Any) -> bool:
    """Whether this is the exit code of a command that failed."""
    return isinstance(code, (int, float)) and not isinstance(code, bool) and code != 0


def step(tool: str, arguments: Any) -> str:
    """Describe a tool call in one short line: its name and the argument that says most.

    A call that writes the agent's own list of what to do is described by the whole list.
    """
    given = mapping(arguments)
    if plan := plan_of(tool, given):
        return f"[{tool}] {plan}"
    main: Any = next((given[name] for name in _MAIN_ARGUMENT if given.get(name)), "")
    if isinstance(main, list):
        main = " ".join(str(part) for part in main)
    told = str(main)
    if "git commit" in told and "\n\n" in told:
        told = _without_body(told)
    line = " ".join(told.split())
    return whole_words(f"[{tool}] {line}", _STEP).rstrip()


def _without_body(command: str) -> str:
    """Leave out the body of a commit's message, so that its subject has an end and what follows has room."""
    start = command.find("git commit")
    head, blank, body = command[start:].partition("\n\n")
    if not blank or not ("<<" in head or head.count('"') % 2 or head.count("'") % 2):
        return command
    end = max(body.rfind("\nEOF"), body.rfind('"'), body.rfind("'"))
    return f"{command[:start]}{head} ... {body[end:] if end >= 0 else ''}"
