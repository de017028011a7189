"""The brief for the start of a session: where the last one stopped, what holds here, what was corrected."""

from __future__ import annotations

from told.agents.labels import label
from told.guard.text import clean, one_line
from told.memory._brief_offer import left_open, own
from told.memory._recall_filters import never_shown
from told.memory.brief import BUDGET, STATE, Line, day, fitted, line_of
from told.store.memory_records import CORRECTION, DECISION, PREFERENCE, RULE, USER, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.guard.fence import Fence
    from told.memory._brief_offer import Clean, Offer
    from told.memory.brief import Brief
    from told.store.memories import Memories
    from told.store.memory_records import Memory
    from told.store.reading import Filter, Reading

_ASKED, _ANSWERED, _NEXT = 160, 280, 240  # characters
_NOTES = 5  # the latest of a session
_LOCKED, _RECENT, _STANDING = 8, 4, 6  # memories
_PROVEN = 0.5  # confidence of what is said unasked
_DAY = 86_400_000
_LATELY = 30 * _DAY


def start_brief(
    memories: Memories, reading: Reading | None, wanted: Filter, scopes: Sequence[str], fence: Fence, *,
    now: int, clean_one: Clean, budget: int = BUDGET, goes_on: tuple[str, str, bool] = ("", "", False),
) -> Brief:  # fmt: skip
    """Return what a session should know before anything is asked.

    Args:
        memories: The open memories.
        reading: The sessions, if there are any.
        wanted: Which sessions are of this project.
        scopes: Whose memories hold here.
        fence: What marks others' words.
        now: When, in ms since 1970.
        clean_one: Takes out of a checkpoint what may not be said; None if nobody knows what that is.
        budget: How many tokens it may cost.
        goes_on: The agent and its own id of a session that goes on, and whether it was compacted.
    """
    last = _lately(reading, wanted, fence, now, clean_one=clean_one, goes_on=goes_on) if reading else []
    held = standing(memories, scopes, now)
    locked = [line_of(one, fence, now) for one in held if one.locked]
    others = [line_of(one, fence, now) for one in held if not one.locked]
    return fitted([*last[:1], *locked, *last[1:], *others], budget)


def _lately(
    reading: Reading, wanted: Filter, fence: Fence, now: int, *, clean_one: Clean,
    goes_on: tuple[str, str, bool],
) -> list[Line]:  # fmt: skip
    """Return what was left open: by the session itself if it goes on, else in its project."""
    agent, native, compacted = goes_on
    if native:
        line = own(reading, agent, native, fence, clean_one, compacted=compacted)
        return [line] if line else []
    if not wanted.project:
        return []
    offer = left_open(reading, wanted, fence, now, clean_one)
    last = last_session(reading, wanted, fence, offer)
    return [offer.line, *last] if offer else last


def last_session(reading: Reading, wanted: Filter, fence: Fence, offer: Offer | None = None) -> list[Line]:
    """Return where the last session of a project stopped, and what it left open unless that is offered."""
    found = reading.sessions(wanted, 1)
    if not found:
        return []
    session = found[0]
    turns = reading.turns(session.id, 1, newest=True)
    asked = session.summary or (turns[0].asked if turns else "")
    head = f"- Last session ({day(session.ended)}, {label(session.agent)}, {session.public}):"
    lines = []
    if offer is None or offer.session != session.public:
        asked = fence.inline(one_line(clean(asked), _ASKED), USER)
        lines.append(Line(STATE, f"{head} {asked}", "", session.ended))
    # Of told's own the one that is open is offered.
    notes = [one for one in reading.checkpoints(wanted, _NOTES, session_id=session.id) if not one.path][:1]
    if notes and notes[0].next_steps and offer is None:
        steps = one_line(clean(notes[0].next_steps), _NEXT)
        lines.append(Line(STATE, f"- Left open: {fence.inline(steps)}", "", notes[0].at))
    if turns and turns[-1].answered:
        lines.append(
            Line(STATE, f"- It ended with: {fence.inline(_end_of(turns[-1].answered))}", "", turns[-1].at)
        )
    return lines


def standing(memories: Memories, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return what holds whatever is asked: locked rules, recent corrections, rules that proved themselves."""
    locked = memories.locked(scopes, _LOCKED)
    recent = _newest(memories, scopes, (CORRECTION, WARNING), _RECENT)
    rules = _newest(memories, scopes, (RULE, PREFERENCE, DECISION), 8 * _STANDING)
    loaded = memories.load(dict.fromkeys((*locked, *recent, *rules)))
    fit = {
        row: one for row, one in loaded.items()
        if one.trust == USER and (one.locked or one.confidence >= _PROVEN)
        and not never_shown(one, scopes, now)
    }  # fmt: skip
    proven = sorted(
        (row for row in rules if row in fit and row not in locked),
        key=lambda row: (-fit[row].confidence * (1.0 + fit[row].importance / 10), -row),
    )
    fresh = [row for row in recent if row in fit and now - fit[row].created < _LATELY]
    return [fit[row] for row in dict.fromkeys((*locked, *fresh, *proven[:_STANDING])) if row in fit]


def _newest(memories: Memories, scopes: Sequence[str], kinds: Sequence[str], limit: int) -> list[int]:
    """Return the rows of the newest memories of some kinds; one by one, the index has them in order."""
    rows = [row for scope in scopes for kind in kinds for row in memories.newest((scope,), (kind,), limit)]
    return sorted(rows, reverse=True)[:limit]


def _end_of(text: str) -> str:
    """Return the last sentences of an answer, on one line."""
    line = " ".join(clean(text).split())
    if len(line) <= _ANSWERED:
        return line
    tail = line[-_ANSWERED:]
    start = tail.find(". ")
    return "…" + (tail[start + 2 :] if 0 <= start < _ANSWERED // 2 else tail.partition(" ")[2])
