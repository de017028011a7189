"""Makes a hand-over note of what a session's transcript shows, in its own words: no model is asked."""

from __future__ import annotations

from told.guard.text import as_sentence, clean, one_line, tokens
from told.memory._checkpoint_done import changed_anything, done, planned, worked
from told.memory._checkpoint_places import files, has_changed, plans, references
from told.memory._checkpoint_talk import about_to, is_telling, left_open, questions
from told.model import TOOL, Handover
from told.record import replaced
from told.store.memory_records import ACTIVE, CORRECTION, DECISION, RULE, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from told.store.memories import Memories
    from told.store.reading import Reading, SessionRow, TurnRow

BUDGET = 600  # tokens of the whole note
_TURNS = 40  # the last ones that are looked at
_GOAL, _NOW, _ITEM = 240, 200, 200  # characters
_TITLE = 80
_ROOT = 4  # letters
_MOST = 6  # items of a part
_DECIDED = (DECISION, CORRECTION, RULE)
_LISTS = ("done", "pending", "decisions", "files", "plans", "references", "questions")
# What can best be done without comes first.
_TO_CUT = ("references", "files", "done", "decisions", "plans", "questions", "pending")


def made_from(
    reading: Reading, memories: Memories | None, session: SessionRow, now: int, *, project: str = "",
    root: str = "", under_way: bool = False, changed: Callable[[], Sequence[str]] | None = None,
) -> Handover | None:  # fmt: skip
    """Return the note for whoever goes on with a session's work; None if there is nothing to go on with.

    Args:
        reading: The sessions.
        memories: The open memories: what was decided in the session is among them.
        session: Which.
        now: When, in ms since 1970.
        project: The key of its project.
        root: The folder of the project; where it is not given, that of the session.
        under_way: The agent is in the middle of what it was last asked.
        changed: Says which files changed since the session began, for one whose transcript does not say.
    """
    turns = reading.turns(session.id, _TURNS, newest=True)
    if not turns or session.kind:
        return None
    first = reading.turns(session.id, 1)[0] if session.turns > len(turns) else turns[0]
    root = root or _root(session)
    touched = reading.files_of(session.id)
    is_work = changed_anything(turns)
    last = _last(turns)
    named = files(touched, root)
    if is_work and changed is not None and not has_changed(touched):
        named = [*changed()][: 2 * _MOST] or named
    found = Handover(
        _goal(first, turns), tuple(done(turns, root)), tuple(_pending(turns, under_way=under_way)),
        tuple(_decisions(memories, session)), tuple(named), tuple(plans(touched, root)),
        tuple(references(reading.refs_of(session.id), turns)),
        () if under_way else tuple(questions(last.answered)[:2]),
        title=_title(session, first, turns), agent=session.agent, session=session.native,
        project=project, folder=session.cwd, branch=session.branch, at=now, by=TOOL,
    )  # fmt: skip
    is_worth = (
        found.done
        or found.pending
        or found.decisions
        or has_changed(touched)
        or (is_work and found.questions)
    )
    return _fitted(found) if found.goal and is_worth else None


def last_worked(reading: Reading, session: SessionRow) -> int:
    """Return when the last turn began in which something was asked for or done; 0 if there is none."""
    turns = reading.turns(session.id, _TURNS, newest=True)
    return _last(turns).at if turns else 0


def _last(turns: Sequence[TurnRow]) -> TurnRow:
    """Return the turn that says how things stand: thanks and farewells behind it change nothing."""
    return next((one for one in reversed(turns) if worked(one) or is_telling(one.asked)), turns[-1])


def _title(session: SessionRow, first: TurnRow, turns: Sequence[TurnRow]) -> str:
    title = session.title or next((one.asked for one in (first, *turns) if is_telling(one.asked)), "")
    return one_line(clean(title), _TITLE)


def _roots(text: str) -> set[str]:
    """Return the beginnings of the words that say most: "the docs must be updated" is "update the docs"."""
    return {word[:_ROOT] for word in text.lower().split() if len(word) >= _ROOT}


def _goal(first: TurnRow, turns: Sequence[TurnRow]) -> str:
    """Return what the user first asked for, and what it is about now if the work moved on."""
    told = [turn.asked for turn in (first, *turns) if is_telling(turn.asked)]
    if not told:
        return next((one_line(clean(turn.asked), _GOAL) for turn in (first, *turns) if turn.asked), "")
    goal = one_line(clean(told[0]), _GOAL)
    now = one_line(clean(told[-1]), _NOW)
    return goal if told[-1] == told[0] else f"{as_sentence(goal)} Later: {now}"


def _pending(turns: Sequence[TurnRow], *, under_way: bool) -> list[str]:
    last = turns[-1] if under_way else _last(turns)
    found = planned(turns)
    asked = one_line(clean(last.asked), _NOW)
    if under_way or (not last.answered and is_telling(last.asked)):
        asked = asked or one_line(clean(next((one.asked for one in reversed(turns) if one.asked), "")), _NOW)
        said = about_to(last.answered)
        found = [f"Asked last, not finished: {asked}", *found, *([f"About to: {said}"] if said else [])]
    else:
        said = about_to(last.answered) if worked(last) else ""
        known = [_roots(one) for one in found]
        left = [f"About to: {said}"] if said else left_open(last.answered)
        found += [one for one in left if not any(roots and roots <= _roots(one) for roots in known)]
    return [one_line(clean(one), _ITEM) for one in dict.fromkeys(found)][:_MOST]


def _decisions(memories: Memories | None, session: SessionRow) -> list[str]:
    """Return what the user decided, corrected and ruled in the session, the earliest first."""
    if memories is None:
        return []
    found = [
        one for one in memories.load(memories.of_session(session.native)).values()
        if one.status == ACTIVE and one.trust == USER and one.kind in _DECIDED
        and any((place.agent, place.session) == (session.agent, session.native) for place in one.evidence)
    ]  # fmt: skip
    found.sort(key=lambda one: (one.created, one.number, one.id))
    return [one_line(clean(one.text), _ITEM) for one in found][-_MOST:]


def _root(session: SessionRow) -> str:
    below = f"/{session.part}" if session.part else ""
    return session.cwd.removesuffix(below) if below else session.cwd


def _fitted(note: Handover) -> Handover:
    """Leave out what can best be done without until the note is short enough."""
    while _size(note) > BUDGET:
        rest = {name: getattr(note, name) for name in _TO_CUT}
        name = next((name for name in _TO_CUT if len(rest[name]) > 1), "")
        if not name:
            break
        keeps_last = name in ("done", "decisions", "references")
        note = replaced(note, **{name: rest[name][1:] if keeps_last else rest[name][:-1]})
    return note


def _size(note: Handover) -> int:
    return tokens(
        "\n".join((note.title, note.goal, *(one for name in _LISTS for one in getattr(note, name))))
    )
