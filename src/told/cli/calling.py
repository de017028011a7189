"""Runs one command within a process that goes on, and returns what it says."""

from __future__ import annotations

from told.cli.arguments import parse
from told.cli.commands import command_named
from told.cli.context import Visit
from told.cli.main import run_command
from told.errors import ToldError, UsageError
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from told.cli.context import Context
    from told.memory.authority import Caller

_CUT = "…"


@record
class Outcome:
    """What a command came to."""

    code: int
    text: str  # what it printed, or the sentence that says what is wrong
    cut: bool = False  # there was more than there was room for


def called(
    words: Sequence[str], environ: Mapping[str, str], *, folder: str | None = None,
    caller: Caller | None = None, project: str = "", room: int = 0,
) -> Outcome:  # fmt: skip
    """Run a command and return its exit code and text; nothing is left open.

    Args:
        words: The command and what it is given, as at a terminal.
        environ: The variables that told runs with.
        folder: The folder that it is about; the current one if None, no folder at all if empty.
        caller: Who asks; if None, whoever the variables say.
        project: A project's name, or a folder, that is asked about.
        room: At most so many bytes of text; all of it if 0.
    """
    pieces: list[str] = []

    def write(context: Context) -> None:
        pieces.extend(context.pieces())

    try:
        command = command_named(words[0])
        if command is None or command.bare:
            raise UsageError(f"{words[0]!r} cannot be run from here.")
        visit = Visit(caller, folder, project)
        code = run_command(command, parse(command, words[1:]), environ, write, visit)
    except ToldError as error:
        return Outcome(error.exit_code, str(error))
    return _fitted(code, pieces, room)


def _fitted(code: int, pieces: list[str], room: int) -> Outcome:
    text = "\n".join(pieces)
    if not room or len(text.encode()) <= room:
        return Outcome(code, text)
    kept: list[str] = []
    for piece in pieces:
        size = len(piece.encode()) + 1
        if size > room:
            kept.append(_shortened(piece, room))
            break
        kept.append(piece)
        room -= size
    return Outcome(code, "\n".join(kept), cut=True)


def _shortened(piece: str, room: int) -> str:
    """Return what fits of a text that may be fenced; the fence stays whole."""
    opening, _, rest = piece.partition("\n")
    body, _, closing = rest.rpartition("\n")
    if not body or not opening.startswith("<") or closing != f"</{opening[1:]}":
        return _CUT
    room = max(0, room - len(opening.encode()) - len(closing.encode()) - 8)
    kept = body.encode()[:room].decode("utf-8", "ignore")
    line = kept.rfind("\n")
    kept = kept[:line] if line > len(kept) // 2 else kept
    return f"{opening}\n{kept.rstrip()}{_CUT}\n{closing}"
