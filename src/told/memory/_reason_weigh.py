"""How sure it is: what independent sessions say adds up, and what contradicts it takes away.

A statement is worth its confidence, times the trust in who said it, times how much of the question it is
about; a locked one counts as 0.95. Sessions are independent, statements of one session are not: of each
session the strongest counts, and together they are worth 1 - (1 - a)(1 - b)…. Every step along an edge
costs 40 %. A verdict is worth what speaks for it times (1 - what speaks against it).
"""

from __future__ import annotations

from told.record import record
from told.store.memory_records import AGENT, TEAM, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from told.memory._graph_walk import Around
    from told.store.memory_records import Memory

LOCKED = 0.95
_TRUST = {USER: 1.0, AGENT: 0.5}
_TEAM, _TOOL = 0.7, 0.3
_STEP = 0.6
_DAY = 86_400_000


@record
class Piece:
    """A memory as evidence."""

    memory: Memory
    worth: float  # 0 to 1
    why: str = ""
    via: str = ""  # along which edge it comes in; empty if it speaks for itself
    limited: bool = False


def worth_of(memory: Memory, fit: float) -> float:
    """Return what a statement is worth as evidence."""
    if memory.locked:
        return round(LOCKED * fit, 3)
    trust = _TRUST.get(memory.trust, _TEAM if memory.trust.startswith(TEAM) else _TOOL)
    return round(memory.confidence * trust * fit, 3)


def together(pieces: Iterable[Piece]) -> float:
    """Return what pieces of evidence are worth together."""
    best: dict[str, float] = {}
    for piece in pieces:
        for source in sources(piece.memory):
            best[source] = max(best.get(source, 0.0), piece.worth)
    missing = 1.0
    for worth in best.values():
        missing *= 1.0 - worth
    return round(1.0 - missing, 3)


def sources(memory: Memory) -> list[str]:
    """Return the sessions that a memory comes from; what was typed on one day is one source."""
    found = [one.session or f"{one.agent} {one.at // _DAY}" for one in memory.evidence]
    return list(dict.fromkeys(found)) or [memory.id]


def along_edges(pieces: Sequence[Piece], around: Around, steps: int = 2) -> tuple[list[Piece], list[Piece]]:
    """Return what supports some pieces, and what contradicts them, with what it is worth from there."""
    nodes = {one.memory.id: one.memory for one in around.nodes if one.memory.status == "active"}
    seen = {piece.memory.id for piece in pieces}
    supporting: list[Piece] = []
    opposing: list[Piece] = []
    frontier = [(piece.memory.id, piece.worth, True) for piece in pieces]
    for _ in range(steps):
        following = []
        for name, worth, agrees in frontier:
            for other, kind in _neighbours(name, around):
                memory = nodes.get(other)
                if memory is None or other in seen:
                    continue
                seen.add(other)
                same = agrees == (kind == "supports")
                own = min(worth, worth_of(memory, 1.0)) * _STEP
                piece = Piece(memory, round(own, 3), via=f"{kind} {name}")
                (supporting if same else opposing).append(piece)
                following.append((other, own, same))
        frontier = following
    return supporting, opposing


def _neighbours(name: str, around: Around) -> list[tuple[str, str]]:
    found = []
    for source, kind, target in around.edges:
        if kind == "contradicts" and name in (source, target):
            found.append((target if name == source else source, kind))
        elif kind == "supports" and name == target:
            found.append((source, kind))
    return found
