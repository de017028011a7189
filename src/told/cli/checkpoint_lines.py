"""Checkpoints in a few words: their lines in lists and in search results."""

from __future__ import annotations

from told.agents import label
from told.cli.context import Context, cut, when
from told.store.sessions.checkpoints import PLANS, QUESTIONS
from told.store.sessions.read import CheckpointRow
from told.text import add_full_stop

PARTS = ("overview", "work_done", "technical_details", "important_files", "next_steps", "history")
_SAID = {"work_done": "done: ", "important_files": "files: ", "next_steps": "next: "}
_NEXT = 200  # characters


def next_line(note: CheckpointRow) -> str:
    """Return the next step of a note, or its overview, on one line."""
    said, text = _next_step(note)
    return f"{said}{cut(join_lines(text), _NEXT)}" if text and text != note.title else ""


def _next_step(note: CheckpointRow) -> tuple[str, str]:
    """Return the label and text of the line below a note's title."""
    if not note.path:
        return ("next: ", note.next_steps) if note.next_steps else ("", note.overview or note.work_done)
    steps, asked, questions = f"\n\n{note.next_steps}".partition(f"\n\n{QUESTIONS}:\n")
    pending = steps.partition(f"\n\n{PLANS}:\n")[0].strip()  # the place of a plan is no next step
    if pending:
        return "next: ", f"{pending}{asked}{questions}"
    return ("open: ", questions) if questions else ("", note.overview or note.work_done)


def join_lines(text: str) -> str:
    """Return a text on one line, its items without bullets."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    between = "; " if any(line.startswith("- ") for line in lines) else " "
    joined = between.join(line.removeprefix("- ") for line in lines)
    return " ".join(joined.replace(":; ", ": ").split())


def checkpoint_line(note: CheckpointRow) -> str:
    """Return all parts of a note on one line."""
    said = [note.title if note.title != note.overview else ""]  # that is made of the goal
    for part in PARTS:
        text = getattr(note, part)
        if text:
            first, *others = text.split("\n\n")
            said += [f"{_SAID.get(part, '')}{join_lines(first)}", *map(join_lines, others)]
    return " ".join(add_full_stop(one) for one in said if one)


def checkpoint_head(context: Context, note: CheckpointRow) -> str:
    """Return the line above a note: time, id, agent, session, status, project."""
    status = f" {note.status}" if note.status else ""
    head = f"{when(note.at, context.now)} {note.public} {label(note.agent)} {note.session}{status}"
    return f"{head} {context.name(note.project)}".rstrip()
