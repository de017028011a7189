"""Make the brief for a session start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from told.agents import label
from told.fence import Fence
from told.ingest.checkpoint_files import UnreadableError, read_checkpoint
from told.ingest.checkpoint_rows import to_row
from told.model import OPEN, TOOL, Handover
from told.recall.brief import BUDGET, STATE, Brief, Line, fit_budget, format_day, make_line
from told.recall.filters import find_reason_hidden
from told.store.memories.read import Memories
from told.store.memories.records import CORRECTION, DECISION, RULE, USER, WARNING, Memory
from told.store.sessions.read import CheckpointRow, Filter, SessionReader
from told.text import add_full_stop, clean, shorten

Redact = Callable[[Handover], Handover | None]

_MAX_GOAL, _MAX_NEXT, _MAX_STEP = 200, 260, 120  # characters of a checkpoint
_MAX_ASKED, _MAX_ANSWERED, _MAX_NOTE = 160, 280, 240  # characters of the last session
_MAX_STEPS = 3
_MAX_CHECKPOINTS, _MAX_NOTES, _MAX_SESSIONS = 20, 5, 8  # that are read
_MAX_FILE = 1 << 16  # bytes; reading a larger file takes too long for a start
_MAX_LOCKED, _MAX_RECENT, _MAX_PROVEN = 8, 4, 6  # memories
_MIN_CONFIDENCE = 0.5
_RECENT_MS = 30 * 86_400_000


@dataclass(frozen=True, slots=True)
class _StartBrief:
    """Reads the open work of a project."""

    reader: SessionReader
    sessions: Filter  # of the project
    fence: Fence
    now: int
    redact: Redact

    def find_own_checkpoint(self, agent: str, native: str, *, compacted: bool) -> list[Line]:
        """Return the open checkpoint of a continued session."""
        for session in self.reader.sessions_like(native, _MAX_SESSIONS):
            if (session.agent, session.native) != (agent, native):
                continue
            rows = self.reader.checkpoints(Filter(), _MAX_CHECKPOINTS, session_id=session.id, status=OPEN)
            for row, checkpoint in self._read_open(rows):
                when = " before the compaction" if compacted else ""
                head = f"- Your checkpoint{when} ({format_day(checkpoint.at)}, {row.public}):"
                return [self._make_line(head, row, checkpoint)]
        return []

    def find_open_work(self) -> list[Line]:
        """Return the open checkpoint and the end of the last session."""
        offer, session = self._find_open_checkpoint()
        return [*([offer] if offer else []), *self._describe_last_session(session, offered=bool(offer))]

    def _find_open_checkpoint(self) -> tuple[Line | None, str]:
        """Return the newest open checkpoint and its session.

        An automatic checkpoint counts only until another session leaves one.
        """
        recent = replace(self.sessions, since=max(self.now - _RECENT_MS, 1))
        rows = self.reader.checkpoints(recent, _MAX_CHECKPOINTS, status=OPEN)
        latest = ""
        if rows:
            every = self.reader.checkpoints(recent, _MAX_CHECKPOINTS)
            latest = next((row.session for row in every if row.path), "")
        for row, checkpoint in self._read_open(rows):
            is_last = checkpoint.by != TOOL or row.session == latest
            if is_last and self.now - checkpoint.at < _RECENT_MS:
                head = f"- Left open ({format_day(checkpoint.at)}, {label(row.agent)}, {row.public}):"
                return self._make_line(head, row, checkpoint), row.session
        return None, ""

    def _read_open(self, rows: Sequence[CheckpointRow]) -> Iterator[tuple[CheckpointRow, Handover]]:
        """Yield the checkpoints that are still open in their files."""
        for row in rows:
            try:
                if os.path.getsize(row.path) > _MAX_FILE:
                    yield row, _restore(row)
                    continue
                checkpoint = read_checkpoint(row.path)
            except (UnreadableError, OSError):
                continue
            if checkpoint.status != OPEN:
                continue
            # The store has only redacted text. A file that differs from it was edited.
            redacted = checkpoint if _is_stored(checkpoint, row) else self.redact(checkpoint)
            if redacted and (redacted.goal or redacted.title or redacted.pending or redacted.questions):
                yield row, redacted

    def _make_line(self, head: str, row: CheckpointRow, checkpoint: Handover) -> Line:
        open_points = (*checkpoint.pending, *checkpoint.questions)
        steps = [shorten(clean(one), _MAX_STEP) for one in open_points[:_MAX_STEPS]]
        text = shorten(clean(checkpoint.goal or checkpoint.title), _MAX_GOAL)
        if steps:
            more = len(open_points) - len(steps)
            rest = f" (+{more} more)" if more > 0 else ""
            goal = f"{add_full_stop(text)} " if text else ""
            text = f"{goal}Next: {shorten('; '.join(steps), _MAX_NEXT)}{rest}"
        text = self.fence.inline(text)  # never as the user's: anybody who can write the file may claim that
        return Line(STATE, f"{head} {text} All of it: `told show {row.public}`", "", checkpoint.at)

    def _describe_last_session(self, offered_session: str, *, offered: bool) -> list[Line]:
        """Return where the last session stopped, unless its checkpoint says so."""
        found = self.reader.sessions(self.sessions, 1)
        if not found:
            return []
        session = found[0]
        turns = self.reader.turns(session.id, 1, newest=True)
        lines = []
        if not offered or offered_session != session.public:
            asked = clean(session.summary or (turns[0].asked if turns else ""))
            head = f"- Last session ({format_day(session.ended)}, {label(session.agent)}, {session.public}):"
            text = f"{head} {self.fence.inline(shorten(asked, _MAX_ASKED), USER)}"
            lines.append(Line(STATE, text, "", session.ended))
        notes = self.reader.checkpoints(self.sessions, _MAX_NOTES, session_id=session.id)
        note = next((one for one in notes if not one.path), None)  # one that the agent itself wrote
        if note and note.next_steps and not offered:
            steps = self.fence.inline(shorten(clean(note.next_steps), _MAX_NOTE))
            lines.append(Line(STATE, f"- Left open: {steps}", "", note.at))
        if turns and turns[-1].answered:
            answered = self.fence.inline(_cut_end(turns[-1].answered))
            lines.append(Line(STATE, f"- It ended with: {answered}", "", turns[-1].at))
        return lines


def make_start_brief(
    memories: Memories,
    reader: SessionReader | None,
    sessions: Filter,
    scopes: Sequence[str],
    fence: Fence,
    *,
    now: int,
    redact: Redact,
    budget: int = BUDGET,
    continued: tuple[str, str, bool] = ("", "", False),
) -> Brief:
    """Make the brief for the start of a session.

    Args:
        memories: The open memories.
        reader: Reads the sessions, if there are any.
        sessions: Selects the sessions of this project.
        scopes: The active scopes.
        fence: Marks text of others.
        now: Milliseconds since 1970.
        redact: Redacts a checkpoint; returns None if it cannot.
        budget: The most tokens it may cost.
        continued: Agent and native id of the session that goes on, and whether it was compacted.
    """
    work: list[Line] = []
    if reader:
        start = _StartBrief(reader, sessions, fence, now, redact)
        agent, native, compacted = continued
        if native:
            work = start.find_own_checkpoint(agent, native, compacted=compacted)
        elif sessions.project:
            work = start.find_open_work()
    chosen = select_start_memories(memories, scopes, now)
    locked = [make_line(one, fence, now) for one in chosen if one.locked]
    others = [make_line(one, fence, now) for one in chosen if not one.locked]
    return fit_budget([*work[:1], *locked, *work[1:], *others], budget)


def select_start_memories(memories: Memories, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return locked rules, recent corrections and proven rules."""
    locked = memories.locked(scopes, _MAX_LOCKED)
    recent = _find_newest(memories, scopes, (CORRECTION, WARNING), _MAX_RECENT)
    rules = _find_newest(memories, scopes, (RULE, DECISION), 8 * _MAX_PROVEN)
    loaded = memories.load(dict.fromkeys((*locked, *recent, *rules)))
    valid = {
        row: one
        for row, one in loaded.items()
        if one.trust == USER
        and (one.locked or one.confidence >= _MIN_CONFIDENCE)
        and not find_reason_hidden(one, scopes, now)
    }
    proven = sorted(
        (row for row in rules if row in valid and row not in locked and CORRECTION not in valid[row].marks),
        key=lambda row: (-valid[row].confidence * (1.0 + valid[row].importance / 10), -row),
    )
    fresh = [row for row in recent if row in valid and now - valid[row].created < _RECENT_MS]
    return [valid[row] for row in dict.fromkeys((*locked, *fresh, *proven[:_MAX_PROVEN])) if row in valid]


def _find_newest(memories: Memories, scopes: Sequence[str], kinds: Sequence[str], limit: int) -> list[int]:
    """Return the newest rows of some kinds."""
    rows = [
        row for scope in scopes for kind in kinds
        for row in memories.listed(scopes=(scope,), kinds=(kind,), limit=limit)
    ]  # fmt: skip
    return sorted(set(rows), reverse=True)[:limit]


def _restore(row: CheckpointRow) -> Handover:
    """Make a checkpoint from its row."""
    steps = row.next_steps[: 2 * _MAX_NEXT].split("\n")
    pending = tuple(one.removeprefix("- ") for one in steps)
    return Handover(row.overview, pending=pending, title=row.title, at=row.at)


def _is_stored(checkpoint: Handover, row: CheckpointRow) -> bool:
    made = to_row(checkpoint, row.path)
    return (made.title, made.overview, made.next_steps) == (row.title, row.overview, row.next_steps)


def _cut_end(text: str) -> str:
    """Return the last sentences of an answer, on one line."""
    line = " ".join(clean(text).split())
    if len(line) <= _MAX_ANSWERED:
        return line
    tail = line[-_MAX_ANSWERED:]
    start = tail.find(". ")
    return "…" + (tail[start + 2 :] if 0 <= start < _MAX_ANSWERED // 2 else tail.partition(" ")[2])
