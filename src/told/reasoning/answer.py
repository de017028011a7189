"""Weigh the memories for and against an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from told.reasoning.question import Question
from told.store.memories.records import AGENT, OBSERVATION, TEAM, USER, Memory

YES, NO, DEPENDS, CONTESTED, UNKNOWN, SAID = "yes", "no", "it depends", "contested", "unknown", "said"
ABOUT = "about it"  # the side of memories that answer neither yes nor no
_LOCKED_WEIGHT = 0.95
_TRUST = {USER: 1.0, AGENT: 0.5}
_TEAM, _TOOL = 0.7, 0.3
_MIN_WEIGHT = 0.3  # of evidence, for a verdict
_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Argument:
    """A memory as evidence."""

    memory: Memory
    worth: float  # 0 to 1
    why: str = ""
    via: str = ""  # the edge it was reached by; empty for a direct match

    @property
    def is_firm(self) -> bool:
        """Return whether it decides: the user said or confirmed it, about the question itself."""
        memory = self.memory
        is_users = bool(memory.confirmed) or (memory.trust == USER and memory.kind != OBSERVATION)
        return is_users and not self.via and self.worth >= _MIN_WEIGHT


@dataclass(frozen=True, slots=True)
class Side:
    """The arguments of one side, strongest first."""

    name: str
    pieces: tuple[Argument, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question."""

    question: Question
    verdict: str
    worth: float
    sides: tuple[Side, ...] = ()
    history: tuple[Memory, ...] = ()  # superseded memories, latest first
    conflicts: tuple[tuple[Memory, Memory, str], ...] = ()
    missing: tuple[str, ...] = ()  # described in words
    places: tuple[str, ...] = ()  # turns about it
    edges: tuple[tuple[str, str, str], ...] = ()

    @property
    def nothing(self) -> bool:
        """Return whether there is no evidence at all."""
        return not any(side.pieces for side in self.sides)


def weigh_memory(memory: Memory, fit: float = 1.0) -> float:
    """Return the weight of a memory as evidence."""
    if memory.locked:
        return round(_LOCKED_WEIGHT * fit, 3)
    trust = _TRUST.get(memory.trust, _TEAM if memory.trust.startswith(TEAM) else _TOOL)
    trust = _TRUST[USER] if memory.confirmed else trust
    return round(memory.confidence * trust * fit, 3)


def make_side(name: str, pieces: Iterable[Argument]) -> Side:
    """Return a side; of each session only the strongest argument counts."""
    ordered = sorted(pieces, key=lambda one: (-one.worth, -one.memory.created, one.memory.id))
    best: dict[str, float] = {}
    for piece in ordered:
        for source in _find_sources(piece.memory):
            best.setdefault(source, piece.worth)
    missing = 1.0
    for worth in best.values():
        missing *= 1.0 - worth
    return Side(name, tuple(ordered), round(1.0 - missing, 3))


def _find_sources(memory: Memory) -> list[str]:
    """Return the sessions of a memory; a day at the terminal is one source."""
    found = [one.session or f"{one.agent} {one.at // _DAY}" for one in memory.evidence]
    return list(dict.fromkeys(found)) or [memory.id]


def decide_verdict(sides: Sequence[Side], disputed: Iterable[Memory]) -> tuple[str, float]:
    """Return yes or no if the user's plain words agree, and the confidence.

    Where they disagree, a locked rule decides. `disputed` are memories of the user's that contradict it.
    """
    high, low = sorted((side.worth for side in sides), reverse=True)
    worth = round(high * (1.0 - low), 3)
    firm = [[one.memory for one in side.pieces if one.is_firm] for side in sides]
    if not any(firm):
        return UNKNOWN, worth
    locked = [any(one.locked for one in memories) for memories in firm]
    if locked[0] != locked[1]:
        return (YES if locked[0] else NO), worth
    if all(firm):
        return (DEPENDS if firm[0][0].scope != firm[1][0].scope else CONTESTED), worth
    if any(disputed):
        return CONTESTED, worth
    return (YES if firm[0] else NO), worth
