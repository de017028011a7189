"""`told checkpoints`: list, show and export hand-over notes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.checkpoint_lines import PARTS, checkpoint_head, next_line
from told.cli.context import Context, count, count_shown, cut, cut_line, iso, when
from told.cli.sessions import (
    coverage_json,
    find_checkpoint,
    find_own_checkpoint,
    nothing_found,
    print_rows,
    print_table,
    query_here_or_everywhere,
)
from told.cli.terminal.tables import checkpoint_table
from told.errors import MissingError, UsageError
from told.ingest.checkpoint_approval import UNAPPROVED, approve
from told.ingest.checkpoint_files import UnreadableError, read_checkpoint
from told.ingest.checkpoint_markdown import format_checkpoint
from told.ingest.checkpoint_rows import clean_checkpoint, drop_rows
from told.model import Handover
from told.store.sessions.read import CheckpointRow, Filter
from told.text import fit_lines

_TITLE = 120  # characters
_MOST_UNAPPROVED, _IDS_SHOWN = 100, 5


def checkpoints(context: Context, arguments: Arguments) -> None:
    """List checkpoints, latest first, or export one as Markdown."""
    if arguments.operands[:1] == ["approve"]:
        _approve(context, arguments.operands[1:])
        return
    if arguments.operands:
        _export(context, arguments)
        return
    if arguments.flag("copy"):
        raise UsageError("--copy needs a checkpoint: `told checkpoints export ID --copy`.")
    limit = arguments.number("limit", 5)
    scope, found = query_here_or_everywhere(
        context, arguments, lambda wanted: context.reading.checkpoints(wanted, limit)
    )
    total = context.reading.count_checkpoints(scope.filter)
    if context.as_json:
        rows = [checkpoint_json(context, note, full=False) for note in found]
        context.print_json(
            coverage_json(context, scope, len(found)) | {"total": total, "checkpoints": rows},
            found=found,
        )
        return
    if not found:
        elsewhere = context.reading.count_checkpoints(Filter()) > 0
        raise nothing_found(context, "No checkpoints", scope, elsewhere=elsewhere)
    header = count_shown(len(found), total, "checkpoint", scope.title)
    if context.is_at_terminal:
        table = checkpoint_table(context, found, [next_line(note) for note in found])
        print_table(context, header, table)
        print_unapproved(context, scope.filter)
        return
    lines = []
    for note in found:
        status = f" {note.status}" if note.status else ""
        head = f"{when(note.at, context.now)} {note.public} {label(note.agent)} {note.session}{status}"
        lines.append(f"{head} {cut(note.title, _TITLE) or '(empty)'}")
        if step := next_line(note):
            lines.append(f"  {step}")
    print_rows(context, header, lines)
    print_unapproved(context, scope.filter)


def print_unapproved(context: Context, wanted: Filter) -> None:
    """Print how many checkpoints came with a repository and wait for the user's yes."""
    waiting = context.reading.checkpoints(wanted._replace(since=0), _MOST_UNAPPROVED, status=UNAPPROVED)
    if waiting:
        ids = " ".join(note.public for note in waiting[:_IDS_SHOWN])
        many = count(len(waiting), "checkpoint")
        context.print(f"From the repository, not yet approved: {many}. `told checkpoints approve {ids}`")


def _approve(context: Context, ids: Sequence[str]) -> None:
    """Let agents be offered checkpoints that came with a repository."""
    from told.cli.index import import_checkpoints  # noqa: PLC0415 - listing does not import

    if not context.caller.is_user:
        context.refuse_agent("approve checkpoints")
    if not ids:
        raise UsageError("Give ids: `told checkpoints approve ID…`. `told checkpoints` lists them.")
    notes = [find_own_checkpoint(context, one) for one in dict.fromkeys(ids)]
    for note in notes:
        approve(context.home, note.path)
    drop_rows(context.connection, [note.path for note in notes])
    import_checkpoints(context)
    names = ", ".join(note.public for note in notes)
    context.report(f"Approved {names}.", {"count": len(notes), "approved": [note.public for note in notes]})


def print_checkpoint(context: Context, note: CheckpointRow, arguments: Arguments) -> None:
    """Print one note, in full with --full."""
    if note.path:
        _print_own(context, note, arguments)
        return
    full = arguments.flag("full")
    if context.as_json:
        context.print_json(checkpoint_json(context, note, full=full))
        return
    context.print(checkpoint_head(context, note))
    lines = [note.title]
    for part in PARTS:
        text = getattr(note, part)
        if text:
            shown = text if full else cut_line(text, 300)
            lines.append(f"{part.replace('_', ' ')}: {shown}")
    context.print(context.fence.block("\n".join(lines)))


def _checkpoint_facts(context: Context, note: CheckpointRow) -> dict[str, Any]:
    own = {"status": note.status, "path": note.path} if note.path else {"number": note.number}
    return {
        "id": note.public, **own, "session": note.session, "agent": note.agent,
        "project": context.name(note.project) or None, "at": iso(note.at), "trust": "agent",
        "title": context.fence.inline(note.title),
    }  # fmt: skip


def checkpoint_json(context: Context, note: CheckpointRow, *, full: bool) -> dict[str, Any]:
    """Return a note for JSON."""
    shown = _checkpoint_facts(context, note)
    for part in PARTS:
        text = getattr(note, part)
        if text:
            shown[part] = context.fence.block(text if full else cut_line(text, 300))
    return shown


_SHORT_BYTES = 1600  # of a short note: 500 tokens
_ROOMS = (600, 400, 280, 200, 150, 110, 80, 50, 30)
_LISTS = ("done", "pending", "decisions", "questions", "files", "plans", "references")
_HEADINGS = (
    ("overview", "Overview"), ("work_done", "Work done"), ("technical_details", "Technical details"),
    ("important_files", "Important files"), ("next_steps", "Next steps"), ("history", "History"),
)  # fmt: skip


def _read_handover(context: Context, note: CheckpointRow) -> Handover:
    """Return a checkpoint from its file, or else from the store."""
    if note.path:
        try:
            # Text that somebody added by hand may contain a secret, or what was forgotten.
            return clean_checkpoint(read_checkpoint(note.path), context.home, context.redact)
        except UnreadableError:
            pass  # it is gone or unreadable: the store has its last text
    texts = {part: getattr(note, part) for part, _ in _HEADINGS}
    goal = note.overview or note.title
    more = tuple((heading, texts[part]) for part, heading in _HEADINGS if texts[part] and texts[part] != goal)
    return Handover(
        goal, more=more, title=note.title, status=note.status, id=note.public, agent=note.agent,
        session=note.session, project=note.project, at=note.at,
    )  # fmt: skip


def _print_own(context: Context, note: CheckpointRow, arguments: Arguments) -> None:
    handover = _read_handover(context, note)
    if context.as_json:
        context.print_json(_checkpoint_facts(context, note) | _fields(context, handover))
        return
    context.print(checkpoint_head(context, note))
    if arguments.flag("full"):
        context.print(context.fence.block(f"{format_checkpoint(handover).rstrip()}\n\npath: {note.path}"))
        return
    lines = fit_lines(lambda room: _lines(handover, note.path, room), _ROOMS, _SHORT_BYTES)
    context.print(context.fence.block("\n".join(lines)))


def _lines(handover: Handover, path: str, room: int) -> list[str]:
    lines = [cut_line(handover.goal, room)]
    for name in _LISTS:
        items = [" ".join(one.split()) for one in getattr(handover, name)]
        if items:
            lines.append(f"{name}: {_joined(items, room)}")
    for heading, text in (("notes", handover.notes), *handover.more):
        if text.strip():
            lines.append(f"{cut(heading.lower(), 40)}: {cut_line(text, room)}")
    return [*lines, f"path: {path}"]


def _joined(items: list[str], room: int) -> str:
    """Return as many items as fit, and how many more there are."""
    shown = cut(items[0], room)
    for place, item in enumerate(items[1:], 1):
        if len(shown.encode()) + len(item.encode()) + 2 > room:
            return f"{shown} (+{len(items) - place})"
        shown = f"{shown}; {item}"
    return shown


def _fields(context: Context, handover: Handover) -> dict[str, Any]:
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


# Programs that copy standard input to the clipboard.
CLIPBOARD_PROGRAMS = (
    ("pbcopy",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("clip.exe",),
)
_COPY_SECONDS = 5.0
_NO_CLIPBOARD = "No clipboard program found: install wl-clipboard, xclip or xsel, or leave out --copy."


def _export(context: Context, arguments: Arguments) -> None:
    verb, *ids = arguments.operands
    if verb != "export":
        raise UsageError(
            f"`told checkpoints` takes `export ID` or `approve ID`, not {cut(verb, 40)!r}. `told show ID`"
            " shows one, `told search WORDS` finds them."
        )
    if len(ids) != 1:
        raise UsageError("Give one id: `told checkpoints export ID`. `told checkpoints` lists them.")
    note = find_checkpoint(context, ids[0].strip())
    text = format_checkpoint(_read_handover(context, note))
    shown = {"id": note.public, "status": note.status or None, "path": note.path or None}
    if arguments.flag("copy"):
        program = _copy_to_clipboard(text, context.environ)
        said = f"Copied {note.public} to the clipboard: {count(len(text), 'character')}."
        context.report(said, shown | {"copied": True, "with": program})
    elif context.as_json:
        context.print_json(shown | {"markdown": context.fence.block(text), "trust": "agent"})
    else:
        # A person gets the file; an agent must see where others' words begin and end.
        context.print(text.rstrip("\n") if context.caller.is_user else context.fence.block(text))


def _copy_to_clipboard(text: str, environ: Mapping[str, str]) -> str:
    failed = ""
    folders = os.pathsep.join(filter(os.path.isabs, environ.get("PATH", "").split(os.pathsep)))
    for name, *words in CLIPBOARD_PROGRAMS:
        path = shutil.which(name, path=folders)
        if not path:
            continue
        content = text.encode("utf-16-le") if name == "clip.exe" else text.encode("utf-8", "replace")
        try:
            done = subprocess.run(  # noqa: S603 - one of the programs above; the text goes to its input
                [path, *words], input=content, env=dict(environ), timeout=_COPY_SECONDS, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            failed = failed or name
            continue
        if done.returncode == 0:
            return name
        failed = failed or name
    if failed:
        raise MissingError(f"{failed} cannot reach the clipboard from here. Leave out --copy to print it.")
    raise MissingError(_NO_CLIPBOARD)
