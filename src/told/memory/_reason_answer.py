"""An answer of `told reason`: its two sides, what they are worth, and the verdict between them."""

from __future__ import annotations

from told.memory._reason_weigh import Piece, along_edges, together
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._graph_walk import Around
    from told.memory._reason_causes import Cause
    from told.memory._reason_question import Question
    from told.store.memory_records import Memory

YES, NO, DEPENDS, CONTESTED, UNKNOWN = "yes", "no", "it depends", "contested", "unknown"
REASONS, SAID = "reasons", "said"
LEAST = 0.3  # what evidence must be worth for a verdict
ABOUT = 0.6  # share of a question's words that a memory about it has
_CLEARLY = 2.0  # by how much one side must outweigh the other
_ONLY_LOCKED = 0.5  # what the other side is worth when only one has a locked rule


@record
class Side:
    """The evidence of one side."""

    name: str
    pieces: tuple[Piece, ...]
    worth: float


@record
class Reasoned:
    """The answer to a question."""

    question: Question
    verdict: str
    worth: float
    sides: tuple[Side, ...] = ()
    causes: tuple[Cause, ...] = ()
    history: tuple[Memory, ...] = ()  # what was so before, the latest first
    conflicts: tuple[tuple[Memory, Memory, str], ...] = ()
    missing: tuple[str, ...] = ()  # in words
    places: tuple[str, ...] = ()  # turns that speak of it, where no memory answers
    related: tuple[Memory, ...] = ()  # the nearest, where no memory answers
    edges: tuple[tuple[str, str, str], ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether no memory and no turn says anything to it."""
        return not any(side.pieces for side in self.sides) and not self.causes


def extend(pro: list[Piece], con: list[Piece], around: Around) -> None:
    """Add what stands behind the evidence, along edges."""
    known = {piece.memory.id for piece in (*pro, *con)}
    chains = (along_edges(pro, around), along_edges(con, around))
    for here, there, (supporting, opposing) in zip((pro, con), (con, pro), chains, strict=True):
        for into, more in ((here, supporting), (there, opposing)):
            new = [piece for piece in more if piece.memory.id not in known]
            known |= {piece.memory.id for piece in new}
            into.extend(new)


def side_of(name: str, pieces: Sequence[Piece]) -> Side:
    """Return a side with its evidence, the strongest first."""
    return Side(name, tuple(sorted(pieces, key=strongest)), together(pieces))


def strongest(piece: Piece) -> tuple[float, int, str]:
    """Order evidence: the strongest first, then the newest."""
    return (-piece.worth, -piece.memory.created, piece.memory.id)


def verdict_between(sides: tuple[Side, Side], names: tuple[str, str]) -> tuple[str, float]:
    """Return a verdict between two sides, and how sure it is."""
    locked = [any(piece.memory.locked and not piece.via for piece in side.pieces) for side in sides]
    first, second = (side.worth for side in sides)
    if locked[0] != locked[1]:
        first, second = (first, second * _ONLY_LOCKED) if locked[0] else (first * _ONLY_LOCKED, second)
    winner = 0 if first >= second else 1
    high, low = max(first, second), min(first, second)
    worth = round(high * (1.0 - low), 3)
    if high < LEAST:
        return UNKNOWN, worth
    if low >= LEAST and high < _CLEARLY * low:
        return (DEPENDS if _differ_by_scope(sides) else CONTESTED), worth
    best = sides[winner].pieces
    if best and best[0].limited and low < LEAST:
        return DEPENDS, worth
    return names[winner], worth


def _differ_by_scope(sides: tuple[Side, Side]) -> bool:
    """Tell whether what speaks for each side is for another scope, or limited to something."""
    tops = [side.pieces[0] for side in sides if side.pieces]
    return len(tops) > 1 and (
        tops[0].memory.scope != tops[1].memory.scope or any(piece.limited for piece in tops)
    )
