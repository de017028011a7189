"""`told checkpoints`: hand-over notes that the agents themselves wrote."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.output import count, cut, iso, to_json, when
from told.cli.sessions import about, beyond, here_or_everywhere, nothing, unread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.reading import CheckpointRow

_PARTS = ("overview", "work_done", "technical_details", "important_files", "next_steps", "history")


def checkpoints(context: Context, arguments: Arguments) -> int:
    """Print notes, the latest first, with what each says is next."""
    limit = arguments.number("limit", 5)
    scope, found, widened = here_or_everywhere(
        context, arguments, lambda wanted: context.reading.checkpoints(wanted, limit)
    )
    if arguments.flag("json"):
        rows = [checkpoint_json(context, note, whole=False) for note in found]
        context.print(to_json(about(context, scope, widened) | {"checkpoints": rows}))
        return 0 if found else 1
    if not found:
        return nothing(context, "No checkpoints", scope)
    lines = []
    for note in found:
        lines.append(
            f"{when(note.at, context.now)} {note.public} {label(note.agent)} {note.session} {note.title}"
        )
        text = note.next_steps or note.overview or note.work_done
        if text:
            said = "next: " if note.next_steps else ""
            lines.append(f"  {said}{cut(' '.join(text.split()), 200)}")
    context.print(f"{count(len(found), 'checkpoint')}, {scope.name}{beyond(widened)}")
    context.print(context.fence.block("\n".join(lines)))
    unread(context)
    return 0


def print_checkpoint(context: Context, note: CheckpointRow, arguments: Arguments) -> None:
    """Print one note: its parts cut, or whole with --full."""
    whole = arguments.flag("full")
    if arguments.flag("json"):
        context.print(to_json(checkpoint_json(context, note, whole=whole)))
        return
    head = f"{when(note.at, context.now)} {note.public} {label(note.agent)} {note.session}"
    context.print(f"{head} {context.name(note.project)}".rstrip())
    lines = [note.title]
    for part in _PARTS:
        text = getattr(note, part)
        if text:
            shown = text if whole else cut(" ".join(text.split()), 300)
            lines.append(f"{part.replace('_', ' ')}: {shown}")
    context.print(context.fence.block("\n".join(lines)))


def checkpoint_json(context: Context, note: CheckpointRow, *, whole: bool) -> dict[str, Any]:
    """Return a note as JSON shows it."""
    shown: dict[str, Any] = {
        "id": note.public, "number": note.number, "session": note.session, "agent": note.agent,
        "project": context.name(note.project) or None, "at": iso(note.at), "trust": "agent",
        "title": context.fence.inline(note.title),
    }  # fmt: skip
    for part in _PARTS:
        text = getattr(note, part)
        if text:
            shown[part] = context.fence.block(text if whole else cut(" ".join(text.split()), 300))
    return shown
