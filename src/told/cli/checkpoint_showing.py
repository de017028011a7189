"""Shows a checkpoint that told keeps as a file: short, whole, or with all its fields as JSON."""

from __future__ import annotations

from told.cli.checkpoints import checkpoint_facts, checkpoint_head
from told.cli.output import cut, fitted, to_json
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_rows import cleaned
from told.ingest.checkpoint_text import text_of
from told.model import Handover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.reading import CheckpointRow

# Bytes of a short one: 500 tokens, without its head.
_SHORT_BYTES = 1600
_ROOMS = (600, 400, 280, 200, 150, 110, 80, 50, 30)
_LISTS = ("done", "pending", "decisions", "questions", "files", "plans", "references")
_PARTS = (
    ("overview", "Overview"), ("work_done", "Work done"), ("technical_details", "Technical details"),
    ("important_files", "Important files"), ("next_steps", "Next steps"), ("history", "History"),
)  # fmt: skip


def handover_in(context: Context, note: CheckpointRow) -> Handover:
    """Return a checkpoint as its file has it now; one without a file as it is known."""
    if note.path:
        try:
            # What somebody wrote into the file by hand may hold a secret, or what was forgotten.
            return cleaned(read_file(note.path), context.settings.home, context.redactor().redact)
        except NotTextError:
            pass  # it is gone, or no text any more: what it said last is known
    texts = {part: getattr(note, part) for part, _ in _PARTS}
    goal = note.overview or note.title
    more = tuple((heading, texts[part]) for part, heading in _PARTS if texts[part] and texts[part] != goal)
    return Handover(
        goal, more=more, title=note.title, status=note.status, id=note.public, agent=note.agent,
        session=note.session, project=note.project, at=note.at,
    )  # fmt: skip


def print_own(context: Context, note: CheckpointRow, arguments: Arguments) -> None:
    """Print one that told keeps."""
    handover = handover_in(context, note)
    if arguments.flag("json"):
        context.print(to_json(checkpoint_facts(context, note) | _fields(context, handover)))
        return
    context.print(checkpoint_head(context, note))
    if arguments.flag("full"):
        context.print(context.fence.block(f"{text_of(handover).rstrip()}\n\npath: {note.path}"))
        return
    lines = fitted(lambda room: _lines(handover, note.path, room), _ROOMS, _SHORT_BYTES)
    context.print(context.fence.block("\n".join(lines)))


def _lines(handover: Handover, path: str, room: int) -> list[str]:
    goal = " ".join(handover.goal.split())
    lines = [cut(goal, room)]
    for name in _LISTS:
        items = [" ".join(one.split()) for one in getattr(handover, name)]
        if items:
            lines.append(f"{name}: {_joined(items, room)}")
    for heading, text in (("notes", handover.notes), *handover.more):
        if text.strip():
            lines.append(f"{cut(heading.lower(), 40)}: {cut(' '.join(text.split()), room)}")
    return [*lines, f"path: {path}"]


def _joined(items: list[str], room: int) -> str:
    """Return as many items as there is room for, and how many more there are."""
    shown = cut(items[0], room)
    for place, item in enumerate(items[1:], 1):
        if len(shown.encode()) + len(item.encode()) + 2 > room:
            return f"{shown} (+{len(items) - place})"
        shown = f"{shown}; {item}"
    return shown


def _fields(context: Context, handover: Handover) -> dict[str, Any]:
    """Return all that a checkpoint says, as JSON shows it."""
    fence = context.fence
    lists = {
        name: [fence.block(one) if "\n" in one else fence.inline(one) for one in getattr(handover, name)]
        for name in _LISTS
    }
    return {
        "goal": fence.block(handover.goal), **lists,
        "notes": fence.block(handover.notes) if handover.notes.strip() else None,
        "more": [{"heading": fence.inline(head), "text": fence.block(text)} for head, text in handover.more],
        "by": handover.by, "branch": context.name(handover.branch) or None,
    }  # fmt: skip
