"""The text that told hands an agent: chosen within a budget of tokens, dated, attributed, and fenced."""

from __future__ import annotations

import time

from told.guard.fence import enclosed
from told.guard.text import clean, one_line, tokens
from told.memory.recall import recall
from told.record import record
from told.store.memory_records import CORRECTION, FACT, OBSERVATION, TEAM, TOOL, USER, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from told.guard.fence import Fence
    from told.memory.recall import Ask
    from told.store.memories import Memories
    from told.store.memory_records import Memory

BUDGET = 450
STATE, STANDING, BACKGROUND = "state", "standing", "background"
ZONES = (STATE, STANDING, BACKGROUND)
_HEADS = {STATE: "Lately:", STANDING: "Holds here:", BACKGROUND: "Good to know:"}
_NOTICE = "From earlier sessions; what the user says now comes first."
_LONGEST = 600  # characters of one memory
_DAY = 86_400_000
_LATELY = 3 * _DAY
_AGAIN = _DAY // 8  # a line may be said again when so much time has passed since


@record
class Line:
    """One line of a brief."""

    zone: str
    text: str  # as it is printed
    memory: str = ""  # its id; empty for what is no memory
    at: int = 0


@record
class Brief:
    """What an agent is handed."""

    lines: tuple[Line, ...] = ()

    @property
    def memories(self) -> tuple[str, ...]:
        """The ids of the memories in it."""
        return tuple(line.memory for line in self.lines if line.memory)

    @property
    def text(self) -> str:
        """All of it: the zones in order, each under its heading."""
        parts = []
        for zone in ZONES:
            of_zone = [line.text for line in self.lines if line.zone == zone]
            if of_zone:
                parts += [_HEADS[zone], *of_zone]
        return "\n".join(parts)


def prompt_brief(
    memories: Memories, ask: Ask, fence: Fence, *, budget: int = BUDGET, session: str = "", since: int = 0,
    known: Mapping[str, int] | None = None,
) -> Brief:  # fmt: skip
    """Return what a prompt needs; nothing when nothing fits.

    Args:
        memories: The open memories.
        ask: The prompt and from where it is asked.
        fence: What marks others' words.
        budget: How many tokens it may cost.
        session: What was shown in this session is not shown again soon.
        since: When the session was last compacted: what was shown before may be shown again.
        known: What else the session knows, by id, and since when.
    """
    chosen = [one.memory for one in recall(memories, ask).chosen]
    seen = memories.shown_in(session) if session and chosen else {}
    if known:
        seen |= {name: max(at, seen.get(name, 0)) for name, at in known.items()}
    if session:
        seen |= {one.id: at for one in chosen if one.id not in seen and (at := _said_in(one, session))}
    fresh = [one for one in chosen if not _known(one, seen.get(one.id, 0), since, ask.now)]
    return fitted([line_of(one, fence, ask.now) for one in fresh], budget)


def handed(brief: Brief) -> str:
    """Return a brief as an agent is handed it, between tags by which it is known again in transcripts."""
    return enclosed(f"{_NOTICE}\n{brief.text}") if brief.lines else ""


def line_of(memory: Memory, fence: Fence, now: int) -> Line:
    """Return a memory as a line: its kind, when and by whom it was said, and what it says."""
    text = one_line(clean(memory.text), _LONGEST)
    if memory.trust != USER:
        text = fence.inline(text, memory.trust)
    marks = f"{memory.kind}{', locked' if memory.locked else ''}, {day(memory.created)}, {_speaker(memory)}"
    return Line(_zone(memory, now), f"- {text} ({marks})", memory.id, memory.created)


def fitted(lines: Iterable[Line], budget: int) -> Brief:
    """Take lines in the order of their worth while the whole text stays within the budget."""
    kept: list[Line] = []
    for line in lines:
        if tokens(Brief((*kept, line)).text) <= budget:
            kept.append(line)
    return Brief(tuple(kept))


def day(at: int) -> str:
    """Return the local date of a moment."""
    if at <= 0:
        return "undated"
    try:
        year, month, date = time.localtime(at // 1000)[:3]
    except (OverflowError, ValueError, OSError):
        return "undated"
    return f"{year}-{month:02}-{date:02}"


def shown_payload(brief: Brief, session: str) -> dict[str, object]:
    """Return what the journal notes when a brief was handed over."""
    return {"memories": list(brief.memories), "session": session, "tokens": tokens(brief.text)}


def _known(memory: Memory, at: int, since: int, now: int) -> bool:
    """Tell whether a line was said in this session, lately, and nothing happened to it since."""
    return 0 < at >= since and now - at < _AGAIN and not _changed_since(memory, at)


def _said_in(memory: Memory, session: str) -> int:
    """Return when a memory was last said in a session; what was said there needs no line there."""
    return max((one.at for one in memory.evidence if one.session == session), default=0)


def _changed_since(memory: Memory, at: int) -> bool:
    return any(one.at > at for one in memory.evidence)


def _zone(memory: Memory, now: int) -> str:
    if memory.kind in (CORRECTION, WARNING) and now - memory.created < _LATELY:
        return STATE
    return BACKGROUND if memory.kind in (FACT, OBSERVATION) else STANDING


def _speaker(memory: Memory) -> str:
    from told.agents.labels import label  # most prompts get no line

    agents: Sequence[str] = [one.agent for one in memory.evidence if one.agent]
    where = label(agents[-1]) if agents else ""
    where = where if where.isascii() and where.isalnum() else ""
    if memory.trust == USER:
        return f"you in {where}" if where and where != "terminal" else "you"
    if memory.trust.startswith(TEAM):
        return "a colleague"
    return "from a tool" if memory.trust == TOOL else where or "an agent"
