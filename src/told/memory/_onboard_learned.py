"""One thing that a project's files say of it, and the names under which such things are grouped."""

from __future__ import annotations

from told.record import record
from told.store.memory_records import FACT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory._onboard_files import Document

WHAT, STACK, COMMANDS = "what it is", "stack", "commands"
ENVIRONMENT, LAYOUT, HISTORY, INSTRUCTIONS = "environment", "layout", "history", "instructions"
GROUPS = (WHAT, STACK, COMMANDS, ENVIRONMENT, LAYOUT, HISTORY, INSTRUCTIONS)
_LONGEST = 500  # characters


@record
class Learned:
    """A statement, and where in the project it stands."""

    group: str
    topic: str  # what it is about: stays the same when the file says something else about that
    text: str
    path: str
    line: int = 0  # from 1; 0 is the whole file
    quote: str = ""
    kind: str = FACT


def from_line(group: str, topic: str, text: str, document: Document, line: int) -> Learned:
    """Return what a line of a file says; the line is the evidence."""
    return Learned(group, topic, short(text), document.path, line, short(document.quote(line)))


def short(text: str) -> str:
    """Return a text on one line of bearable length."""
    line = " ".join(text.split(None, _LONGEST))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


def ticked(command: str) -> str:
    """Return a command as it is quoted in a statement."""
    one = " ".join(command.split())
    one = one if len(one) <= 160 else f"{one[:159].rstrip()}…"
    return f"`{one.replace('`', chr(39))}`"
