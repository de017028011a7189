"""Write briefs: dated, attributed and fenced memories within a token budget."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from told.agents import label
from told.fence import Fence, wrap_in_tags
from told.recall.prompt import RecallRequest
from told.recall.recall import recall
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    CORRECTION,
    FACT,
    OBSERVATION,
    SUPERSEDED,
    TEAM,
    TOOL,
    USER,
    WARNING,
    WAS,
    Memory,
)
from told.text import clean, count_tokens, shorten

BUDGET = 450  # tokens
STATE, STANDING, WORK, BACKGROUND = "state", "standing", "work", "background"
LEARNED, UNREAD = "learned", "unread"
# What agents left comes after what the user said.
_HEADINGS = {
    STATE: "Recently:", STANDING: "Rules:", LEARNED: "Learned since this session began:",
    WORK: "Earlier work:", BACKGROUND: "Context:", UNREAD: "Typed in the last session, not read yet:",
}  # fmt: skip
_NOTICE = "From earlier sessions; what the user says now comes first."
_MAX_MEMORY, _MAX_CONTEXT, _MAX_FORMER = 600, 160, 80  # characters
_FORMER_MS = 7 * 86_400_000  # for which a line names what it replaced
RECENT_DAYS = 14  # a younger date is shown as its age, and a change leads


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a brief."""

    zone: str
    text: str
    memory: str = ""  # its id; empty if the line is not a memory
    at: int = 0


@dataclass(frozen=True, slots=True)
class Brief:
    """The lines an agent gets."""

    lines: tuple[Line, ...] = ()
    broken: tuple[str, ...] = ()  # memories left out because they cannot be judged

    @property
    def memories(self) -> tuple[str, ...]:
        """The ids of the memories in it."""
        return tuple(line.memory for line in self.lines if line.memory)

    @property
    def text(self) -> str:
        """The zones in order, each under its heading."""
        parts = []
        for zone, heading in _HEADINGS.items():
            lines = [line.text for line in self.lines if line.zone == zone]
            if lines:
                parts += [heading, *lines]
        return "\n".join(parts)


def make_prompt_brief(
    memories: Memories,
    request: RecallRequest,
    fence: Fence,
    *,
    budget: int = BUDGET,
    session: str = "",
    since: int = 0,
    known: Mapping[str, int] | None = None,
) -> Brief:
    """Make the brief for a prompt; empty if no memory fits.

    Args:
        memories: The open memories.
        request: The prompt and the place where it is asked.
        fence: Marks text of others.
        budget: The most tokens it may cost.
        session: The session, in which a memory is not shown again.
        since: When the session was last compacted; what was shown before may be shown again.
        known: Other memories the session knows, by id, and since when.
    """
    found = recall(memories, request)
    chosen = [one.memory for one in found.chosen]
    seen = memories.shown_in(session) if session and chosen else {}
    if known:
        seen |= {name: max(at, seen.get(name, 0)) for name, at in known.items()}
    if session:
        seen |= {one.id: at for one in chosen if one.id not in seen and (at := _last_said(one, session))}
    fresh = [one for one in chosen if not _is_known(one, seen.get(one.id, 0), since)]
    fresh.sort(key=lambda one: not one.is_decided_by_user)  # what others said takes no room from the user
    former = find_former(memories, fresh, request.now)
    changed = find_changed(memories, fresh, request.now)
    lines = [
        make_line(one, fence, request.now, former.get(one.id, ""), changed=one.id in changed) for one in fresh
    ]
    return replace(fit_budget(lines, budget), broken=found.broken)


def format_for_agent(brief: Brief) -> str:
    """Format a brief between tags that identify it in transcripts."""
    return wrap_in_tags(f"{_NOTICE}\n{brief.text}") if brief.lines else ""


def count_frame() -> int:
    """Return the tokens that `format_for_agent` adds to the lines."""
    return count_tokens(wrap_in_tags(f"{_NOTICE}\n"))


def find_former(memories: Memories, chosen: Iterable[Memory], now: int) -> dict[str, str]:
    """Return by id the text that each memory replaced in the last week, or probably replaces."""
    shown = {one.id: one for one in chosen}
    pairs = [(one.id, edge.target) for one in shown.values() for edge in one.edges if edge.kind == WAS]
    pairs += [(new, old) for new, ended in memories.superseded(shown).items() for old in ended]
    known = memories.get({old for _, old in pairs})
    former: dict[str, str] = {}
    for new, name in pairs:
        old = known.get(name)
        if old and old.trust == USER and old.scope == shown[new].scope and _is_former(old, new, now):
            former[new] = old.text
    return former


def _is_former(old: Memory, new: str, now: int) -> bool:
    """Tell whether a memory gave way to another one, if for good then lately."""
    if old.superseded_by == new:
        return old.status == SUPERSEDED and now - old.last[0] <= _FORMER_MS
    return old.status == ACTIVE and not old.locked


def find_changed(memories: Memories, chosen: Iterable[Memory], now: int) -> set[str]:
    """Return the ids of memories that replaced others lately, or correct them."""
    recent = [one for one in chosen if is_recent(one.created, now)]
    replacing = memories.superseded([one.id for one in recent])
    return {one.id for one in recent if one.id in replacing or CORRECTION in one.marks}


def is_recent(at: int, now: int) -> bool:
    """Tell whether a time is shown as its age."""
    return 0 <= _count_days(at, now) <= RECENT_DAYS


def make_line(memory: Memory, fence: Fence, now: int, former: str = "", *, changed: bool = False) -> Line:
    """Make the line of a memory: its text, context, kind, date and author.

    Args:
        memory: The memory.
        fence: Marks text of others.
        now: Milliseconds since 1970.
        former: The text that it probably replaces.
        changed: Whether it replaced another lately.
    """
    text = shorten(clean(memory.text), _MAX_MEMORY)
    text = fence.plain(text) if memory.trust == USER else fence.inline(text, memory.trust)
    if memory.context:
        # Often from the answer before it: never shown as the user's words.
        text += f" (context: {fence.inline(shorten(clean(memory.context), _MAX_CONTEXT))})"
    if former:
        text += f" (was: {fence.plain(shorten(clean(former), _MAX_FORMER))})"
    locked = ", locked" if memory.locked else ""
    age = f"{'changed ' if changed else ''}{format_age(memory.created, now)}"
    marks = f"{memory.kind_name}{locked}, {age}, {_describe_author(memory)}"
    zone = STATE if changed and memory.is_decided_by_user else _choose_zone(memory, now)
    return Line(zone, f"- {text} ({marks})", memory.id, memory.created)


def fit_budget(lines: Iterable[Line], budget: int) -> Brief:
    """Take lines, best first, while the text stays within the budget."""
    fitting: tuple[Line, ...] = ()
    for line in lines:
        if count_tokens(Brief((*fitting, line)).text) <= budget:
            fitting = (*fitting, line)
    return Brief(fitting)


def format_age(at: int, now: int) -> str:
    """Format a time as `today`, `2 days ago`, or a local date if it is older."""
    if not is_recent(at, now):
        return format_day(at)
    days = _count_days(at, now)
    return ("today", "yesterday")[days] if days < 2 else f"{days} days ago"


def _count_days(at: int, now: int) -> int:
    """Return how many local midnights have passed since a time; -1 if that is unknown."""
    try:
        first, last = (date(*time.localtime(one // 1000)[:3]) for one in (at, now))
    except (OverflowError, ValueError, OSError):
        return -1
    return (last - first).days if at > 0 else -1


def format_day(at: int) -> str:
    """Format a time as a local date."""
    if at <= 0:
        return "undated"
    try:
        return time.strftime("%Y-%m-%d", time.localtime(at // 1000))
    except (OverflowError, ValueError, OSError):
        return "undated"


def make_shown_payload(brief: Brief, session: str) -> dict[str, object]:
    """Make the journal payload for a brief that was shown."""
    return {"memories": list(brief.memories), "session": session, "tokens": count_tokens(brief.text)}


def _is_known(memory: Memory, at: int, since: int) -> bool:
    """Tell whether a session still has a memory, which nobody had to say again."""
    return 0 < at >= since and not any(one.at > at for one in memory.evidence)


def _last_said(memory: Memory, session: str) -> int:
    """Return when a memory was last said in a session."""
    return max((one.at for one in memory.evidence if one.session == session), default=0)


def _choose_zone(memory: Memory, now: int) -> str:
    if not memory.is_decided_by_user:
        return BACKGROUND
    if {CORRECTION, WARNING}.intersection(memory.marks) and is_recent(memory.created, now):
        return STATE
    return BACKGROUND if memory.kind in (FACT, OBSERVATION) else STANDING


def _describe_author(memory: Memory) -> str:
    agents = [one.agent for one in memory.evidence if one.agent]
    where = label(agents[-1]) if agents else ""
    where = where if where.isascii() and where.isalnum() else ""
    if memory.trust == USER:
        return f"you in {where}" if where and where != "terminal" else "you"
    if memory.trust.startswith(TEAM):
        return "a colleague"
    return "from a tool" if memory.trust == TOOL else where or "an agent"
