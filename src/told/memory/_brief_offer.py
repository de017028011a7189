"""The checkpoint that the start of a session is offered: what was left open, and where all of it stands."""

from __future__ import annotations

import os

from told.agents.labels import label
from told.guard.text import as_sentence, clean, one_line
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_rows import note_of
from told.memory.brief import STATE, Line, day
from told.model import OPEN, TOOL, Handover
from told.record import record, replaced
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from told.guard.fence import Fence
    from told.store.reading import CheckpointRow, Reading

    Clean = Callable[[Handover], Handover | None]

_GOAL, _NEXT, _ITEM = 200, 260, 120  # characters
_STEPS = 3
_LOOKED_AT = 20  # the latest notes of a project
_OFFERED_MS = 30 * 86_400_000
_LIKE = 8
_LARGE = 1 << 16  # bytes of a file


@record
class Offer:
    """A line of a brief, and the session that it is about."""

    line: Line
    session: str  # told's id of it


def left_open(reading: Reading, wanted: Filter, fence: Fence, now: int, clean_one: Clean) -> Offer | None:
    """Return the newest checkpoint of a project that is open.

    One that told made itself counts only until another session has left one.

    Args:
        reading: The sessions.
        wanted: Which are of the project.
        fence: What marks others' words.
        now: When, in ms since 1970.
        clean_one: Takes out of a checkpoint what may not be said; None if nobody knows what that is.
    """
    lately = replaced(wanted, since=max(now - _OFFERED_MS, 1))
    rows = reading.checkpoints(lately, _LOOKED_AT, status=OPEN)
    if not rows:
        return None
    latest = next((row.session for row in reading.checkpoints(lately, _LOOKED_AT) if row.path), "")
    for row, note in _open_ones(rows, clean_one):
        is_last = note.by != TOOL or row.session == latest
        if is_last and now - note.at < _OFFERED_MS:
            head = f"- Left open ({day(note.at)}, {label(row.agent)}, {row.public}):"
            return Offer(_line(head, row, note, fence), row.session)
    return None


def own(
    reading: Reading, agent: str, native: str, fence: Fence, clean_one: Clean, *, compacted: bool
) -> Line | None:  # fmt: skip
    """Return the open checkpoint of a session that goes on.

    Args:
        reading: The sessions.
        agent: Whose session it is.
        native: The agent's own id of it.
        fence: What marks others' words.
        clean_one: Takes out of a checkpoint what may not be said; None if nobody knows what that is.
        compacted: It goes on after a compaction, and lost what was said before.
    """
    found = (
        one for one in reading.sessions_like(native, _LIKE) if (one.agent, one.native) == (agent, native)
    )
    for session in found:
        rows = reading.checkpoints(Filter(), _LOOKED_AT, session_id=session.id, status=OPEN)
        for row, note in _open_ones(rows, clean_one):
            when = " before the compaction" if compacted else ""
            return _line(f"- Your checkpoint{when} ({day(note.at)}, {row.public}):", row, note, fence)
    return None


def _open_ones(rows: Iterable[CheckpointRow], clean_one: Clean) -> Iterable[tuple[CheckpointRow, Handover]]:
    """Yield those whose files say that they are open: somebody may have edited one just now."""
    for row in rows:
        try:
            if os.path.getsize(row.path) > _LARGE:  # to read it would take longer than a start may
                yield row, _as_known(row)
                continue
            note = read_file(row.path)
        except (NotTextError, OSError):
            continue
        if note.status != OPEN:
            continue
        # What the store has is clean. A file that says something else was edited, or holds what was cut.
        fit = note if _says_the_same(note, row) else clean_one(note)
        if fit is not None and (fit.goal or fit.title or fit.pending or fit.questions):
            yield row, fit


def _as_known(row: CheckpointRow) -> Handover:
    steps = row.next_steps[: 2 * _NEXT].split("\n")
    return Handover(
        row.overview, pending=tuple(one.removeprefix("- ") for one in steps), title=row.title, at=row.at
    )


def _says_the_same(note: Handover, row: CheckpointRow) -> bool:
    said = note_of(note, row.path)
    return (said.title, said.overview, said.next_steps) == (row.title, row.overview, row.next_steps)


def _line(head: str, row: CheckpointRow, note: Handover, fence: Fence) -> Line:
    steps = [one_line(clean(one), _ITEM) for one in (*note.pending, *note.questions)[:_STEPS]]
    more = len(note.pending) + len(note.questions) - len(steps)
    said = one_line(clean(note.goal or note.title), _GOAL)
    if steps:
        rest = f" (+{more} more)" if more > 0 else ""
        goal = f"{as_sentence(said)} " if said else ""
        said = f"{goal}Next: {one_line('; '.join(steps), _NEXT)}{rest}"
    said = fence.inline(said)  # whoever may write the file may also write there that the user did
    return Line(STATE, f"{head} {said} All of it: `told show {row.public}`", "", note.at)
