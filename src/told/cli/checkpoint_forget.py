"""`told forget cID`: takes checkpoints away for good, the file and all that the search knows of it."""

from __future__ import annotations

from told.cli.checkpoint_naming import own_checkpoint
from told.cli.checkpoints import checkpoint_head
from told.cli.output import count, cut, to_json
from told.errors import UsageError
from told.hook.debugging import drop as drop_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.reading import CheckpointRow


def means_checkpoints(arguments: Arguments) -> bool:
    """Tell whether ids of checkpoints were given; they begin with another letter than those of memories.

    Raises:
        UsageError: there are memories among them.
    """
    notes = [one for one in arguments.operands if one.startswith("c")]
    if notes and len(notes) < len(arguments.operands):
        raise UsageError("Forget checkpoints and memories in commands of their own.")
    return bool(notes)


def forget_checkpoints(context: Context, arguments: Arguments) -> int:
    """Forget checkpoints by id; without --force only say what would go."""
    notes = list(dict.fromkeys(own_checkpoint(context, given.strip()) for given in arguments.operands))
    force = arguments.flag("force")
    if force and not context.caller.is_user:
        raise UsageError("Only the user can make told forget a checkpoint. An agent may close it: `told"
                         f" checkpoint --close {notes[0].public}`.")  # fmt: skip
    if force:
        from told.ingest.checkpoint_forgetting import forget_checkpoint

        for note in notes:
            forget_checkpoint(context.connection, context.settings.home, note.public)
        drop_log(context.settings.home)
    context.rows = len(notes)
    if arguments.flag("json"):
        shown = [{"id": note.public, "path": note.path, "session": note.session} for note in notes]
        context.print(to_json({"count": len(shown), "forgotten": force, "checkpoints": shown}))
        return 0
    many = count(len(notes), "checkpoint")
    if force:
        context.print(f"Forgot {many}: {', '.join(note.public for note in notes)}.")
    else:
        context.print(f"Would forget {many} for good; add --force to do it.")
        for note in notes:
            context.print(_row(context, note))
    rows = [row for note in notes for row in context.reading.sessions_like(note.session, 1)]
    sessions = ", ".join(dict.fromkeys(row.public for row in rows if row.turns))
    if sessions:
        context.print(f"What was said in {sessions} stays: `told forget --session ID` takes that, too.")
    return 0


def _row(context: Context, note: CheckpointRow) -> str:
    return f"{checkpoint_head(context, note)}: {context.fence.inline(cut(note.title, 200))}\n  {note.path}"
