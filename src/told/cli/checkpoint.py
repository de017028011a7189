"""`told checkpoint`: writes a hand-over note of a session, so that the next one can go on."""

from __future__ import annotations

from told.cli.checkpoint_fields import Given, from_arguments, from_fields, from_json
from told.cli.checkpoint_input import piped
from told.cli.checkpoint_making import handover_of
from told.cli.checkpoint_naming import own_checkpoint
from told.cli.checkpoint_session import row_of
from told.cli.output import cut, to_json
from told.errors import UsageError
from told.memory.checkpoint import close, keep
from told.record import replaced
from told.store.ids import is_checkpoint_id, public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.authority import Caller
    from told.memory.checkpoint import Kept

_STDIN = "-"
# What somebody types who means another command.
_INSTEAD = {
    "close": "told checkpoint --close ID", "export": "told checkpoints export ID", "list": "told checkpoints",
    "show": "told show ID", "forget": "told forget ID", "help": "told checkpoint --help",
}  # fmt: skip


def checkpoint(context: Context, arguments: Arguments) -> int:
    """Write a checkpoint, or close one; print its id, its status and where it is."""
    closing = arguments.text("close").strip()
    if closing:
        return _close(context, arguments, closing)
    _check_words(arguments.operands)
    given = _given(arguments)
    kept = _write(context, given, context.caller)
    context.rows = 1
    context.print(
        to_json(as_json(context, kept)) if arguments.flag("json") else said(context, kept, given.unknown)
    )
    return 0


def checkpoint_from(context: Context, fields: dict[str, Any], caller: Caller) -> Kept:
    """Write a checkpoint of fields as JSON has them; `said` tells what became of it.

    Raises:
        UsageError: a field is wrong, or there is nothing to write.
    """
    return _write(context, from_fields(fields), caller)


def said(context: Context, kept: Kept, unknown: tuple[str, ...] = ()) -> str:
    """Return in one line what became of a checkpoint: its id, its status, its file."""
    again = " (there already)" if kept.again else ""
    names = ", ".join(context.name(name) for name in unknown)
    left = f" (not taken: {names})" if unknown else ""
    return f"{kept.handover.id} {kept.handover.status} {kept.path}{again}{left}"


def as_json(context: Context, kept: Kept) -> dict[str, Any]:
    """Return what became of a checkpoint as JSON says it."""
    one = kept.handover
    row = row_of(context, one.agent, one.session)
    public = row.public if row else public_id("s", one.agent, one.session)
    return {
        "id": one.id, "path": kept.path, "status": one.status, "session": public, "agent": one.agent,
        "native_id": context.name(one.session), "again": kept.again,
    }  # fmt: skip


def _check_words(words: list[str]) -> None:
    """Make sure that the words are a goal, and no other command."""
    instead = _INSTEAD.get(words[0]) if words else None
    if instead and (len(words) == 1 or (len(words) == 2 and is_checkpoint_id(words[1]))):
        raise UsageError(f"If you mean `{instead}`, type that; if it is the goal, use --goal.")


def _given(arguments: Arguments) -> Given:
    """Return what is to be written: from the words and options, or from standard input."""
    if not arguments.flag("stdin") and arguments.operands != [_STDIN]:
        return from_arguments(arguments)
    options = [one.name for one in arguments.command.options if one.value and arguments[one.name]]
    if set(options) - {"session"} or arguments.operands not in ([], [_STDIN]):
        raise UsageError("With --stdin all fields come from there. Give no other words or options.")
    given = from_json(piped())
    return replaced(given, session=arguments.text("session") or given.session)


def _write(context: Context, given: Given, caller: Caller) -> Kept:
    made = handover_of(context, given, caller)
    home = context.settings.home
    kept = keep(
        context.connection, home, made.handover, context.redactor().redact, name=made.name, root=made.root
    )
    if kept.again and given.status not in ("", kept.handover.status):  # it is there, and is to be closed now
        close(context.connection, home, kept.handover.id)
        kept = replaced(kept, handover=replaced(kept.handover, status=given.status), again=False)
    return kept


def _close(context: Context, arguments: Arguments, closing: str) -> int:
    others = [one.name for one in arguments.command.options if one.name not in ("close", "json", "status")]
    if arguments.operands or any(arguments[name] for name in others):
        raise UsageError("--close only closes a checkpoint. Give the rest in a command of its own.")
    if arguments.text("status") not in ("", "closed"):
        raise UsageError(f"--close closes it; leave out --status {cut(arguments.text('status'), 20)!r}.")
    note = own_checkpoint(context, closing)
    close(context.connection, context.settings.home, note.public)
    context.rows = 1
    shown = {"id": note.public, "path": note.path, "status": "closed", "session": note.session}
    if arguments.flag("json"):
        context.print(to_json(shown | {"again": note.status == "closed"}))
    else:
        again = " (it was already)" if note.status == "closed" else ""
        context.print(f"{note.public} closed {note.path}{again}")
    return 0
