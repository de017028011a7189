"""Make the brief for a session start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from told.agents import find_agent, label
from told.fence import Fence
from told.ingest.checkpoint_files import UnreadableError, read_checkpoint
from told.ingest.checkpoint_rows import to_row
from told.model import OPEN, TOOL, Handover
from told.recall.brief import (
    STANDING,
    WORK,
    Brief,
    Line,
    find_changed,
    find_former,
    fit_budget,
    format_age,
    make_line,
)
from told.recall.filters import find_newer, find_reason_hidden
from told.recall.score import measure_use
from told.store.memories.protocol import Memories
from told.store.memories.records import CORRECTION, DECISION, FACT, RULE, TEAM, USER, WARNING, Memory
from told.store.sessions.read import CheckpointRow, Filter, SessionRow
from told.text import add_full_stop, clean, shorten

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading

Redact = Callable[[Handover, str], Handover | None]  # of a checkpoint and its path

BUDGET = 800  # tokens
_MAX_GOAL, _MAX_NEXT, _MAX_STEP = 200, 260, 120  # characters of a checkpoint
_MAX_ASKED, _MAX_ANSWERED, _MAX_NOTE = 160, 160, 240  # characters of the last session
_MAX_STEPS = 3
_MAX_CHECKPOINTS, _MAX_NOTES, _MAX_SESSIONS = 20, 5, 8  # that are read
_MAX_FILE = 1 << 16  # bytes; reading a larger file takes too long for a start
_MAX_CHANGED = 6  # memories
_MAX_RULES, _MAX_FACTS = 200, 60  # memories that are loaded
_RECENT_MS = 30 * 86_400_000


@dataclass(frozen=True, slots=True)
class StartedSession:
    """The session that gets a brief."""

    agent: str = ""
    native: str = ""  # the agent's id of it
    continued: bool = False  # it was resumed or compacted, and knows where it stopped
    compacted: bool = False
    has_lost_briefs: bool = False
    known: Mapping[str, int] = field(default_factory=dict)  # memories that it still has, and since when


@dataclass(frozen=True, slots=True)
class _StartBrief:
    """Reads the open work of a project."""

    reader: SessionReading
    sessions: Filter  # of the project
    fence: Fence
    now: int
    redact: Redact
    own: StartedSession

    def find_own_checkpoint(self) -> list[Line]:
        """Return the open checkpoint of a continued session."""
        for session in self._find_own_sessions():
            rows = self.reader.checkpoints(Filter(), _MAX_CHECKPOINTS, session_id=session.id, status=OPEN)
            for row, checkpoint in self._read_open(rows):
                when = " before the compaction" if self.own.compacted else ""
                head = f"- Your checkpoint{when} ({format_age(checkpoint.at, self.now)}, {row.public}):"
                return [self._make_line(head, row, checkpoint)]
        return []

    def _find_own_sessions(self) -> list[SessionRow]:
        own = (self.own.agent, self.own.native)
        found = self.reader.sessions_like(self.own.native, _MAX_SESSIONS) if self.own.native else []
        return [one for one in found if (one.agent, one.native) == own]

    def find_open_work(self) -> tuple[list[Line], list[Line]]:
        """Return the open checkpoint, and the end of the last session before this one."""
        own = frozenset(one.public for one in self._find_own_sessions())
        offer, session = self._find_open_checkpoint(own)
        last = self._describe_last_session(own, session, offered=bool(offer))
        return [offer] if offer else [], last

    def _find_open_checkpoint(self, own: frozenset[str]) -> tuple[Line | None, str]:
        """Return the newest open checkpoint and its session.

        An automatic checkpoint counts only until another session leaves one.
        """
        recent = self.sessions._replace(since=max(self.now - _RECENT_MS, 1))
        rows = self.reader.checkpoints(recent, _MAX_CHECKPOINTS, status=OPEN)
        rows = [row for row in rows if row.session not in own]
        latest = ""
        if rows:
            every = self.reader.checkpoints(recent, _MAX_CHECKPOINTS)
            latest = next((row.session for row in every if row.path and row.session not in own), "")
        for row, checkpoint in self._read_open(rows):
            is_last = checkpoint.by != TOOL or row.session == latest
            if is_last and self.now - checkpoint.at < _RECENT_MS:
                when = format_age(checkpoint.at, self.now)
                head = f"- Left open ({when}, {label(row.agent)}, {row.public}):"
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
            made = to_row(checkpoint, row.path)
            stored = row.title, row.overview, row.next_steps
            # The store has only redacted text. A file that differs from it was edited.
            is_stored = (made.title, made.overview, made.next_steps) == stored
            redacted = checkpoint if is_stored else self.redact(checkpoint, row.path)
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
        return Line(WORK, f"{head} {text} All of it: `told show {row.public}`", "", checkpoint.at)

    def _describe_last_session(
        self, own: frozenset[str], offered_session: str, *, offered: bool
    ) -> list[Line]:
        """Return where the last session stopped, unless its checkpoint says so."""
        found = self.reader.sessions(self.sessions, len(own) + _MAX_SESSIONS)
        session = next((one for one in found if one.public not in own and self._is_of_user(one)), None)
        if session is None:
            return []
        turns = self.reader.turns(session.id, 1, newest=True)
        lines = []
        if not offered or offered_session != session.public:
            asked = clean(session.summary or (turns[0].asked if turns else ""))
            when = format_age(session.ended, self.now)
            head = f"- Last session ({when}, {label(session.agent)}, {session.public}):"
            text = f"{head} {self.fence.inline(shorten(asked, _MAX_ASKED), USER)}"
            lines.append(Line(WORK, text, "", session.ended))
        notes = self.reader.checkpoints(self.sessions, _MAX_NOTES, session_id=session.id)
        note = next((one for one in notes if not one.path), None)  # one that the agent itself wrote
        if note and note.next_steps and not offered:
            steps = self.fence.inline(shorten(clean(note.next_steps), _MAX_NOTE))
            lines.append(Line(WORK, f"- Left open: {steps}", "", note.at))
        answer = _cut_end(turns[-1].answered) if turns else ""
        if answer and self.fence.defuse(answer) == answer:  # an answer has no tags; an injected one may
            lines.append(Line(WORK, f"- It ended with: {self.fence.inline(answer)}", "", turns[-1].at))
        return lines

    def _is_of_user(self, session: SessionRow) -> bool:
        """Tell whether a session is the user's own; a repository may bring some too."""
        agent = find_agent(session.agent)
        if agent is None or agent.project_layouts:
            return False
        try:
            owner = os.stat(self.reader.source_path(session.id)).st_uid
        except OSError:  # the agent deleted it; told has read it before
            return True
        return not hasattr(os, "getuid") or owner == os.getuid()


def make_start_brief(
    memories: Memories,
    reader: SessionReading | None,
    sessions: Filter,
    scopes: Sequence[str],
    fence: Fence,
    *,
    now: int,
    redact: Redact,
    budget: int = BUDGET,
    session: StartedSession | None = None,
) -> Brief:
    """Make the brief for the start of a session.

    Open work and what changed lately come first. All rules and decisions follow while they fit: locked ones,
    those needed in every session, then the most needed. Facts fill what is left.

    Args:
        memories: The open memories.
        reader: Reads the sessions, if there are any.
        sessions: Selects the sessions of this project.
        scopes: The active scopes.
        fence: Marks text of others.
        now: Milliseconds since 1970.
        redact: Redacts a checkpoint; returns None if it cannot, or the user has not approved its file.
        budget: The most tokens it may cost.
        session: The session that gets it.
    """
    own = session or StartedSession()
    offer: list[Line] = []
    last: list[Line] = []
    if reader:
        start = _StartBrief(reader, sessions, fence, now, redact, own)
        if own.has_lost_briefs:
            offer = start.find_own_checkpoint()
        elif sessions.project and not own.continued:
            offer, last = start.find_open_work()
    found = select_start_memories(memories, scopes, now, own.known)
    former = find_former(memories, found.memories, now)
    lines = [
        make_line(one, fence, now, former.get(one.id, ""), changed=one.id in found.changed)
        for one in found.memories
    ]
    changed = [line for line in lines[found.locked :] if line.memory in found.changed]
    rest = [line for line in lines[found.locked :] if line.memory not in found.changed]
    return _fit_locked_first([*offer, *lines[: found.locked], *changed, *last, *rest], found, budget)


def _fit_locked_first(lines: Sequence[Line], found: StartMemories, budget: int) -> Brief:
    """Fit lines, and say how many locked rules do not fit."""
    locked = {one.id for one in found.memories[: found.locked]}

    def count(missing: int) -> Line:
        rules = "rule" if missing == 1 else "rules"
        return Line(STANDING, f"- {missing} more locked {rules}: `told memories --locked`")

    def count_missing(brief: Brief) -> int:
        return found.all_locked - len(locked.intersection(brief.memories))

    brief = fit_budget(lines, budget)
    if not count_missing(brief):
        return brief
    note = count(found.all_locked + 1)  # the longest, so that the budget is kept
    brief = fit_budget([note, *lines], budget)
    if note not in brief.lines:
        return brief
    kept = brief.lines[1:]
    at = max((place for place, line in enumerate(kept, 1) if line.memory in locked), default=0)
    return Brief((*kept[:at], count(count_missing(brief)), *kept[at:]))


@dataclass(frozen=True, slots=True)
class StartMemories:
    """The memories for a start, most important first."""

    memories: tuple[Memory, ...]
    locked: int  # that many come first
    all_locked: int  # how many there are
    changed: frozenset[str]  # ids of those that replaced others lately


def select_start_memories(
    memories: Memories, scopes: Sequence[str], now: int, known: Mapping[str, int] | None = None
) -> StartMemories:
    """Return locked rules, what changed lately, the other rules and decisions, and facts.

    Args:
        memories: The open memories.
        scopes: The active scopes.
        now: Milliseconds since 1970.
        known: Memories that the session has, and since when; it gets only locked and newer ones.
    """
    known = known or {}
    informed = min(known.values(), default=0)
    locked = memories.locked(scopes)
    marked = _find_newest(memories, scopes, (CORRECTION, WARNING), _MAX_CHANGED + len(known))
    rules = _find_newest(memories, scopes, (RULE, DECISION), _MAX_RULES)
    facts = _find_newest(memories, scopes, (FACT,), _MAX_FACTS)
    loaded = memories.load(dict.fromkeys((*locked[:_MAX_RULES], *marked, *rules, *facts)))
    valid = {
        row: one
        for row, one in loaded.items()
        if (one.trust == USER or (one.confirmed and one.trust.startswith(TEAM)))
        and one.id not in known
        and (one.locked or one.created >= informed)
        and not find_reason_hidden(one, scopes, now)
    }
    outdated = find_newer(memories, list(valid.values()), scopes, now)
    valid = {row: one for row, one in valid.items() if one.id not in outdated}
    changed = find_changed(memories, valid.values(), now)

    def sort_key(row: int) -> tuple[bool, int]:
        return valid[row].id not in changed, -valid[row].created

    def need_key(row: int) -> tuple[bool, bool, float, int]:
        one = valid[row]
        # How much sessions need it, by what happened with it so far.
        need = round(one.confidence * (1.0 + one.importance / 10) * (1.0 + measure_use(one)), 2)
        return one.kind == FACT, not one.always, -need, -row

    first = sorted((row for row in valid if valid[row].locked), key=sort_key)
    lately = sorted((row for row in valid if valid[row].id in changed), key=sort_key)[:_MAX_CHANGED]
    ordered = dict.fromkeys((*first, *lately, *sorted(valid, key=need_key)))
    hidden = sum(row in loaded and row not in valid for row in locked)
    return StartMemories(
        tuple(valid[row] for row in ordered), len(first), len(locked) - hidden, frozenset(changed)
    )


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


def _cut_end(text: str) -> str:
    """Return the last sentences of an answer, on one line."""
    line = " ".join(clean(text).split())
    if len(line) <= _MAX_ANSWERED:
        return line
    tail = line[-_MAX_ANSWERED:]
    start = tail.find(". ")
    return "…" + (tail[start + 2 :] if 0 <= start < _MAX_ANSWERED // 2 else tail.partition(" ")[2])
