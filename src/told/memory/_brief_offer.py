"""The checkpoint that the start of a session is offered: what was left open, and where all of it stands."""

from __future__ import annotations

from told.agents.labels import label
from told.guard.files import NotReadableError, read_document
from told.guard.text import clean, one_line
from told.ingest.checkpoint_text import parsed
from told.memory.brief import STATE, Line, day
from told.model import OPEN, TOOL
from told.record import record, replaced
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from told.guard.fence import Fence
    from told.model import Handover
    from told.store.reading import CheckpointRow, Reading

_GOAL, _NEXT, _ITEM = 200, 260, 120  # characters
_STEPS = 3
_LOOKED_AT = 20  # the latest notes of a project
_OFFERED_MS = 30 * 86_400_000
_LIKE = 8
_LARGEST = 1 << 20  # bytes of a file


@record
class Offer:
    """A line of a brief, and the session that it is about."""

    line: Line
    session: str  # told's id of it


def left_open(reading: Reading, wanted: Filter, fence: Fence, now: int) -> Offer | None:
    """Return the newest checkpoint of a project that is open.

    One that told made itself counts only until another session has left one.

    Args:
        reading: The sessions.
        wanted: Which are of the project.
        fence: What marks others' words.
        now: When, in ms since 1970.
    """
    rows = reading.checkpoints(replaced(wanted, since=max(now - _OFFERED_MS, 1)), _LOOKED_AT)
    rows = [row for row in rows if row.path]
    for row, note in _open_ones(rows):
        is_last = note.by != TOOL or row.session == rows[0].session
        if is_last and now - note.at < _OFFERED_MS:
            head = f"- Left open ({day(note.at)}, {label(row.agent)}, {row.public}):"
            return Offer(_line(head, row, note, fence), row.session)
    return None


def own(reading: Reading, agent: str, native: str, fence: Fence, *, compacted: bool) -> Line | None:
    """Return the open checkpoint of a session that goes on.

    Args:
        reading: The sessions.
        agent: Whose session it is.
        native: The agent's own id of it.
        fence: What marks others' words.
        compacted: It goes on after a compaction, and lost what was said before.
    """
    found = (
        one for one in reading.sessions_like(native, _LIKE) if (one.agent, one.native) == (agent, native)
    )
    for session in found:
        rows = [row for row in reading.checkpoints(Filter(), _LOOKED_AT, session_id=session.id) if row.path]
        for row, note in _open_ones(rows):
            when = " before the compaction" if compacted else ""
            return _line(f"- Your checkpoint{when} ({day(note.at)}, {row.public}):", row, note, fence)
    return None


def _open_ones(rows: Iterable[CheckpointRow]) -> Iterable[tuple[CheckpointRow, Handover]]:
    """Yield those whose files say that they are open: somebody may have edited one just now."""
    for row in rows:
        note = _read(row.path) if row.status == OPEN else None
        if note is not None and note.status == OPEN:
            yield row, note


def _read(path: str) -> Handover | None:
    try:
        return parsed(read_document(path, _LARGEST).decode("utf-8-sig", "replace"), path)
    except NotReadableError:
        return None


def _line(head: str, row: CheckpointRow, note: Handover, fence: Fence) -> Line:
    steps = [one_line(clean(one), _ITEM) for one in (*note.pending, *note.questions)[:_STEPS]]
    more = len(note.pending) + len(note.questions) - len(steps)
    said = one_line(clean(note.goal or note.title), _GOAL)
    if steps:
        rest = f" (+{more} more)" if more > 0 else ""
        said = f"{said.rstrip('.')}. Next: {one_line('; '.join(steps), _NEXT)}{rest}"
    said = fence.inline(said)  # whoever may write the file may also write there that the user did
    return Line(STATE, f"{head} {said} All of it: `told show {row.public}`", "", note.at)
