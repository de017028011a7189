"""`told checkpoints`: hand-over notes, those of the agents themselves and those that told keeps."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.output import count, cut, iso, to_json, when
from told.cli.sessions import about, beyond, here_or_everywhere, nothing, unread
from told.errors import UsageError
from told.guard.text import as_sentence
from told.ingest.checkpoint_rows import PLANS, QUESTIONS
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.reading import CheckpointRow

_PARTS = ("overview", "work_done", "technical_details", "important_files", "next_steps", "history")
_SAID = {"work_done": "done: ", "important_files": "files: ", "next_steps": "next: "}
_TITLE, _BELOW = 120, 200  # characters
_LEAST = 24
_EXPORT = "export"


def checkpoints(context: Context, arguments: Arguments) -> int:
    """Print notes, the latest first, with what each says is next; or one of them as Markdown."""
    if arguments.operands:
        return _one(context, arguments)
    if arguments.flag("copy"):
        raise UsageError("--copy needs a checkpoint: `told checkpoints export ID --copy`.")
    limit = arguments.number("limit", 5)
    scope, found, widened = here_or_everywhere(
        context, arguments, lambda wanted: context.reading.checkpoints(wanted, limit)
    )
    total = context.reading.count_checkpoints(scope.filter)
    if arguments.flag("json"):
        rows = [checkpoint_json(context, note, whole=False) for note in found]
        context.print(to_json(about(context, scope, widened) | {"total": total, "checkpoints": rows}))
        return 0 if found else 1
    if not found:
        elsewhere = context.reading.count_checkpoints(Filter()) > 0
        return nothing(context, "No checkpoints", scope, elsewhere=elsewhere)
    lines = []
    for note in found:
        status = f" {note.status}" if note.status else ""
        head = f"{when(note.at, context.now)} {note.public} {label(note.agent)} {note.session}{status}"
        room, below = _TITLE, _BELOW
        if context.is_at_terminal:  # a line for the note, and at most two for what is next
            room, below = max(_LEAST, context.width - len(head) - 1), 2 * context.width - 10
        lines.append(f"{head} {cut(note.title, room) or '(empty)'}")
        said, text = _below(note)
        if text and text != note.title:
            lines.append(f"  {said}{cut(in_one_line(text), min(below, _BELOW))}")
    shown = f"{len(found)} of " if len(found) < total else ""
    context.print(f"{shown}{count(total, 'checkpoint')}, {scope.name}{beyond(widened)}")
    context.print(context.fence.block("\n".join(lines)))
    unread(context)
    return 0


def _below(note: CheckpointRow) -> tuple[str, str]:
    """Return what stands below the title of a note, and what to call it."""
    if not note.path:
        return ("next: ", note.next_steps) if note.next_steps else ("", note.overview or note.work_done)
    steps, asked, questions = f"\n\n{note.next_steps}".partition(f"\n\n{QUESTIONS}:\n")
    pending = steps.partition(f"\n\n{PLANS}:\n")[0].strip()  # where a plan is says not what comes next
    if pending:
        return "next: ", f"{pending}{asked}{questions}"
    return ("open: ", questions) if questions else ("", note.overview or note.work_done)


def _one(context: Context, arguments: Arguments) -> int:
    verb, *ids = arguments.operands
    if verb != _EXPORT:
        given = cut(verb, 40)
        raise UsageError(
            f"`told checkpoints` takes `export ID`, not {given!r}. `told show ID` shows one, `told search"
            " WORDS` finds them."
        )
    if len(ids) != 1:
        raise UsageError("Say which one: `told checkpoints export ID`. `told checkpoints` lists them.")
    from told.cli.checkpoint_export import export

    return export(context, arguments, ids[0].strip())


def in_one_line(text: str) -> str:
    """Return a text in one line, its items without their marks."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    between = "; " if any(line.startswith("- ") for line in lines) else " "
    joined = between.join(line.removeprefix("- ") for line in lines)
    return " ".join(joined.replace(":; ", ": ").split())


def all_of(note: CheckpointRow) -> str:
    """Return all that a note says, one part behind the other in one line."""
    said = [note.title if note.title != note.overview else ""]  # that is made of the goal
    for part in _PARTS:
        text = getattr(note, part)
        if text:
            first, *others = text.split("\n\n")
            said += [f"{_SAID.get(part, '')}{in_one_line(first)}", *map(in_one_line, others)]
    return " ".join(as_sentence(one) for one in said if one)


def print_checkpoint(context: Context, note: CheckpointRow, arguments: Arguments) -> None:
    """Print one note: its parts cut, or whole with --full."""
    if note.path:
        from told.cli.checkpoint_showing import print_own

        print_own(context, note, arguments)
        return
    whole = arguments.flag("full")
    if arguments.flag("json"):
        context.print(to_json(checkpoint_json(context, note, whole=whole)))
        return
    context.print(checkpoint_head(context, note))
    lines = [note.title]
    for part in _PARTS:
        text = getattr(note, part)
        if text:
            shown = text if whole else cut(" ".join(text.split()), 300)
            lines.append(f"{part.replace('_', ' ')}: {shown}")
    context.print(context.fence.block("\n".join(lines)))


def checkpoint_head(context: Context, note: CheckpointRow) -> str:
    """Return the line above a note: when, id, agent, session, status, project."""
    status = f" {note.status}" if note.status else ""
    head = f"{when(note.at, context.now)} {note.public} {label(note.agent)} {note.session}{status}"
    return f"{head} {context.name(note.project)}".rstrip()


def checkpoint_facts(context: Context, note: CheckpointRow) -> dict[str, Any]:
    """Return which note it is, as JSON shows it."""
    own = {"status": note.status, "path": note.path} if note.path else {"number": note.number}
    return {
        "id": note.public, **own, "session": note.session, "agent": note.agent,
        "project": context.name(note.project) or None, "at": iso(note.at), "trust": "agent",
        "title": context.fence.inline(note.title),
    }  # fmt: skip


def checkpoint_json(context: Context, note: CheckpointRow, *, whole: bool) -> dict[str, Any]:
    """Return a note as JSON shows it."""
    shown = checkpoint_facts(context, note)
    for part in _PARTS:
        text = getattr(note, part)
        if text:
            shown[part] = context.fence.block(text if whole else cut(" ".join(text.split()), 300))
    return shown
