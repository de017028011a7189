"""Remembers a statement: makes a memory of it, or counts it as said again, and ends what it replaces."""

from __future__ import annotations

from told.errors import UsageError
from told.memory.compare import by_user, compare
from told.memory.proposals import propose
from told.record import record
from told.store.memory_records import ACTIVE, AGENT, ARCHIVED, OBSERVATION, QUARANTINED, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.memory.capture import Statement
    from told.memory.describe import Described
    from told.memory.pen import Pen
    from told.store.memory_records import Memory

MOST = 4000  # characters of a memory
TERMINAL = "terminal"
# What is believed before anything happened: of two statements, the user's.
_PRIOR = {USER: (4.0, 1.0), AGENT: (1.0, 1.0)}
# Of the least certain statements that are kept about four in ten are worth it, of the surest nearly all.
_LEAST, _SURER = 0.3, 0.55
_IMPORTANCE = {
    "rule": 8.0, "correction": 7.0, "warning": 7.0, "decision": 6.0, "preference": 6.0, "fact": 5.0,
}  # fmt: skip


@record
class Said:
    """A statement that is to be remembered, without secrets."""

    text: str
    scope: str
    kind: str = ""  # if it is not given: guessed for the user's word, an observation otherwise
    locked: bool = False
    trust: str = USER
    quote: str = ""
    agent: str = TERMINAL
    session: str = ""
    turn: int = 0
    at: int = 0  # when it was said; 0 is now
    about: Described | Statement | None = None  # what it shows by itself, if that is known
    label: str = ""  # of an observation: what it was
    seed: str = ""  # what its id is made from; chance if there is none
    certainty: float = 1.0  # that it is worth keeping at all


@record
class Remembered:
    """What came of it."""

    memory: Memory
    again: bool = False  # it was known
    counted: bool = False  # and that it was said again says something about it
    ended: tuple[tuple[Memory, str], ...] = ()  # what it replaced, and why
    kept: tuple[tuple[Memory, str], ...] = ()  # what it contradicts and what stays all the same
    proposals: tuple[str, ...] = ()


def checked(text: str) -> str:
    """Return a text in the form in which it is kept: one line.

    Raises:
        UsageError: nothing is left of it, or it is too long.
    """
    whole = " ".join(text.split())
    if not any(map(str.isalnum, whole)):
        raise UsageError("There is nothing to remember in that.")
    if len(whole) > MOST:
        raise UsageError(f"That is too long to remember: {len(whole):,} characters. Say it in {MOST:,}.")
    return whole


def remember(pen: Pen, said: Said) -> Remembered:
    """Remember a statement, all in one step.

    What repeats a memory counts for that one. What replaces another ends it, unless it is locked; what an
    agent says ends nothing that the user said, but makes a proposal.
    """
    found = compare(pen.memories, said.text, said.scope, pen.now)
    if found.repeats:
        return _again(pen, said, found.repeats[0])
    mine = pen.caller.is_user
    ends = [pair for pair in found.replaces if mine or not by_user(pair[0])]
    asks = [] if mine else [one for one in found.replaces if by_user(one[0]) and one[0].status == ACTIVE]
    memory = write_down(pen, said, status=QUARANTINED if asks else "")
    for old, why in ends:
        pen.note("supersede", old.id, by=memory, why=why)
    for old, why in found.kept:
        pen.note("edge", memory, kind="contradicts", target=old.id, why=why)
    proposals = [propose(pen, "correct", old.id, by=memory) for old, _ in asks]
    pen.write()
    return Remembered(pen.read(memory), ended=tuple(ends), kept=found.kept, proposals=tuple(proposals))


def write_down(pen: Pen, said: Said, *, status: str = "", kind: str = "remember") -> str:
    """Note the operation that makes a memory; return its id."""
    about = said.about
    if about is None:
        from told.memory.describe import describe

        about = describe(said.text)
    name = said.kind or (about.kind if said.trust == USER else OBSERVATION)
    alpha, beta = _prior(said)
    payload: dict[str, Any] = {
        "text": said.text, "kind": name, "scope": said.scope, "trust": said.trust,
        "importance": _IMPORTANCE.get(name, 4.0), "alpha": alpha, "beta": beta,
        "triggers": [[one.kind, one.value] for one in about.triggers], "entities": list(about.entities),
        "evidence": [place_of(said, pen.now)],
    }  # fmt: skip
    if said.locked and pen.caller.is_user:
        payload["locked"] = True
    if said.at:
        payload["created"] = said.at
    if said.label:
        payload["label"] = said.label
    if status:
        payload["status"] = status
    memory = pen.new_id(said.seed)
    pen.note(kind, memory, **payload)
    return memory


def _prior(said: Said) -> tuple[float, float]:
    """Return what is believed of a statement before anything happened; the less, the more it was a guess."""
    alpha, beta = _PRIOR.get(said.trust, (1.0, 1.0))
    if said.certainty >= 1:
        return alpha, beta
    weight = alpha + beta
    guess = round(min(alpha, weight * (_LEAST + _SURER * said.certainty)), 3)
    return guess, round(weight - guess, 3)


def _again(pen: Pen, said: Said, old: Memory) -> Remembered:
    """Count that something was said again: against it if it was shown and did not help, else for it."""
    if old.status == ARCHIVED:
        pen.note("restore", old.id, why="said again")
    counts = pen.caller.is_user or not by_user(old)
    if counts:
        against = old.shown and old.status != ARCHIVED  # what was put away could not help
        pen.note("repeat" if against else "confirm", old.id, evidence=[place_of(said, pen.now)])
    if said.locked and pen.caller.is_user and not old.locked:
        pen.note("lock", old.id)
    pen.write()
    return Remembered(pen.read(old.id), again=True, counted=counts)


def place_of(said: Said, now: int) -> dict[str, Any]:
    """Return where a statement was said, as evidence."""
    return {
        "agent": said.agent, "session": said.session, "turn": said.turn,
        "quote": said.quote or said.text, "at": said.at or now,
    }  # fmt: skip
