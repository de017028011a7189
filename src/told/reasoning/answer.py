"""Weigh the arguments of an answer and decide its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from told.conflict.reading import read_claim
from told.pattern import lazy_pattern
from told.reasoning.graph import SessionMatches, TopicGraph, turn_id
from told.reasoning.question import Question, load_cues, shared_weight
from told.store.memories.records import AGENT, TEAM, USER, Memory

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading

_LOCKED_WEIGHT = 0.95
_TRUST = {USER: 1.0, AGENT: 0.5}
_TEAM, _TOOL = 0.7, 0.3
_EDGE_FACTOR = 0.6
_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Argument:
    """A memory as evidence for or against."""

    memory: Memory
    worth: float  # 0 to 1
    why: str = ""
    via: str = ""  # the edge it was reached by; empty for a direct match
    limited: bool = False  # it applies under a condition that the question does not name
    rival: bool = False  # it only names another choice
    changes: bool = False  # it says that something is no longer what it was

    @property
    def is_firm(self) -> bool:
        """Whether it decides: said by the user or confirmed, about the question itself."""
        return not self.via and not self.limited and self.worth >= MIN_WEIGHT


def weigh_memory(memory: Memory, fit: float) -> float:
    """Return the weight of a memory as evidence."""
    if memory.locked:
        return round(_LOCKED_WEIGHT * fit, 3)
    trust = _TRUST.get(memory.trust, _TEAM if memory.trust.startswith(TEAM) else _TOOL)
    trust = _TRUST[USER] if memory.confirmed else trust
    return round(memory.confidence * trust * fit, 3)


def combine_weights(pieces: Iterable[Argument]) -> float:
    """Combine the weights of arguments; each source counts once."""
    best: dict[str, float] = {}
    for piece in pieces:
        for source in find_sources(piece.memory):
            best[source] = max(best.get(source, 0.0), piece.worth)
    missing = 1.0
    for worth in best.values():
        missing *= 1.0 - worth
    return round(1.0 - missing, 3)


def find_sources(memory: Memory) -> list[str]:
    """Return the sessions of a memory; a day at the terminal is one source."""
    found = [one.session or f"{one.agent} {one.at // _DAY}" for one in memory.evidence]
    return list(dict.fromkeys(found)) or [memory.id]


def _follow_edges(
    pieces: Sequence[Argument], around: TopicGraph, steps: int = 2
) -> tuple[list[Argument], list[Argument]]:
    nodes = {one.memory.id: one.memory for one in around.nodes if one.memory.status == "active"}
    seen = {piece.memory.id for piece in pieces}
    supporting: list[Argument] = []
    opposing: list[Argument] = []
    frontier = [(piece.memory.id, piece.worth, True) for piece in pieces]
    for _ in range(steps):
        following = []
        for name, worth, agrees in frontier:
            for other, kind in _list_edges(name, around):
                memory = nodes.get(other)
                if memory is None or other in seen:
                    continue
                seen.add(other)
                same = agrees == (kind == "supports")
                own = min(worth, weigh_memory(memory, 1.0)) * _EDGE_FACTOR
                piece = Argument(memory, round(own, 3), via=f"{kind} {name}")
                (supporting if same else opposing).append(piece)
                following.append((other, own, same))
        frontier = following
    return supporting, opposing


def _list_edges(name: str, around: TopicGraph) -> list[tuple[str, str]]:
    found = []
    for source, kind, target in around.edges:
        if kind == "contradicts" and name in (source, target):
            found.append((target if name == source else source, kind))
        elif kind == "supports" and name == target:
            found.append((source, kind))
    return found


YES, NO, DEPENDS, CONTESTED, UNKNOWN = "yes", "no", "it depends", "contested", "unknown"
REASONS, SAID = "reasons", "said"
MIN_WEIGHT = 0.3  # of evidence, for a verdict
MIN_SHARE = 0.6  # of the question's words, for a memory about it


@dataclass(frozen=True, slots=True)
class Side:
    """The arguments of one side."""

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
    causes: tuple[Cause, ...] = ()
    history: tuple[Memory, ...] = ()  # superseded memories, latest first
    conflicts: tuple[tuple[Memory, Memory, str], ...] = ()
    missing: tuple[str, ...] = ()  # described in words
    places: tuple[str, ...] = ()  # turns about it, if no memory answers
    related: tuple[Memory, ...] = ()  # nearest memories, if none answers
    edges: tuple[tuple[str, str, str], ...] = ()

    @property
    def nothing(self) -> bool:
        """Return whether there is no evidence at all."""
        return not any(side.pieces for side in self.sides) and not self.causes


def extend_arguments(pro: list[Argument], con: list[Argument], around: TopicGraph) -> None:
    """Add arguments that are reached along edges."""
    known = {piece.memory.id for piece in (*pro, *con)}
    chains = (_follow_edges(pro, around), _follow_edges(con, around))
    for here, there, (supporting, opposing) in zip((pro, con), (con, pro), chains, strict=True):
        for into, more in ((here, supporting), (there, opposing)):
            new = [piece for piece in more if piece.memory.id not in known]
            known |= {piece.memory.id for piece in new}
            into.extend(new)


def make_side(name: str, pieces: Sequence[Argument]) -> Side:
    """Return a side with its arguments, strongest first."""
    return Side(name, tuple(sorted(pieces, key=argument_order)), combine_weights(pieces))


def argument_order(piece: Argument) -> tuple[float, int, str]:
    """Return the sort key of an argument: strongest, then newest first."""
    return (-piece.worth, -piece.memory.created, piece.memory.id)


def decide_verdict(sides: tuple[Side, Side], names: tuple[str, str]) -> tuple[str, float]:
    """Return the verdict between two sides, and its confidence.

    Only what a memory says explicitly, without a condition, decides. Where both sides have such evidence, a
    locked rule decides, or the latest statement if it says that something changed.
    """
    high, low = sorted((side.worth for side in sides), reverse=True)
    worth = round(high * (1.0 - low), 3)
    firm = [[one for one in side.pieces if one.is_firm] for side in sides]
    limited = [any(one.limited and not one.rival for one in side.pieces) for side in sides]
    if firm[0] and firm[1]:
        winner = _find_winner(firm)
        if winner is None:
            return (DEPENDS if _differ_by_scope(firm) else CONTESTED), worth
        return names[winner], worth
    if not firm[0] and not firm[1]:
        return (DEPENDS if any(limited) else UNKNOWN), worth
    winner = 0 if firm[0] else 1
    return (DEPENDS if limited[1 - winner] else names[winner]), worth


def _find_winner(firm: Sequence[Sequence[Argument]]) -> int | None:
    """Return the side with the locked rules, or with the latest change; None if that is not clear."""
    locked = [any(one.memory.locked for one in pieces) for pieces in firm]
    if locked[0] != locked[1]:
        return 0 if locked[0] else 1
    latest = [max(pieces, key=lambda one: _said_last(one.memory)) for pieces in firm]
    winner = 0 if _said_last(latest[0].memory) > _said_last(latest[1].memory) else 1
    is_later = _said_last(latest[0].memory) != _said_last(latest[1].memory)
    return winner if is_later and latest[winner].changes else None


def _said_last(memory: Memory) -> int:
    return max([memory.created, *(place.at for place in memory.evidence)])


def _differ_by_scope(firm: Sequence[Sequence[Argument]]) -> bool:
    """Return whether the best arguments of the sides have different scopes."""
    return firm[0][0].memory.scope != firm[1][0].memory.scope


_REASON_PHRASES, _REASON_UNSPACED = load_cues()["reason_phrases"], load_cues()["reason_unspaced"]
_MAX_TEXT = 6000
_MAX_REASON = 300
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])(?=\s)|(?<=[。！？])|\n")  # noqa: RUF001 - many languages
_TURN_WEIGHT, _ANSWER_WEIGHT, _SESSION_WEIGHT = 0.8, 0.5, 0.5
_SAME_QUESTION_WEIGHT = 0.9


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason that was given."""

    text: str
    trust: str
    worth: float
    memory: Memory | None = None
    place: str = ""  # the turn, if not in the memory itself
    at: int = 0


def find_causes(
    question: Question, found: Sequence[tuple[Memory, float]], spoken: SessionMatches, reading: SessionReading
) -> list[Cause]:
    """Return the reasons that memories, each with its fit, and turns give, best first."""
    given: dict[str, Cause] = {}
    for memory, fit in found:
        worth = weigh_memory(memory, fit)
        for sentence in _find_reasons(memory.text):
            _add_cause(given, Cause(sentence, memory.trust, worth, memory, at=memory.created))
        for cause in _find_evidence_causes(question, memory, worth, reading):
            _add_cause(given, cause)
    for turn in spoken.turns:
        for text, by_user in ((turn.asked, turn.by_user), (turn.answered, False)):
            for sentence in _find_reasons(text):
                fit = shared_weight(question, read_claim(sentence))
                if text is turn.answered:  # an answer need not repeat the question's words
                    fit = max(fit, _SAME_QUESTION_WEIGHT * shared_weight(question, read_claim(turn.asked)))
                if fit >= MIN_SHARE:
                    worth = round(_SESSION_WEIGHT * fit * (1.0 if by_user else _ANSWER_WEIGHT), 3)
                    trust = "user" if by_user else "agent"
                    _add_cause(given, Cause(sentence, trust, worth, None, turn.place, turn.at))
    return sorted(given.values(), key=lambda one: (-one.worth, -one.at, one.text))


def _find_evidence_causes(
    question: Question, memory: Memory, worth: float, reading: SessionReading
) -> Iterator[Cause]:
    for one in memory.evidence[:4]:
        place = turn_id(reading, one.session, one.turn)
        for sentence in _find_reasons(one.quote):
            yield Cause(sentence, memory.trust, round(worth * _TURN_WEIGHT, 3), memory, place, one.at)
        for row in reading.sessions_like(one.session, 1) if one.session else ():
            turn = reading.turn(row.id, one.turn)
            if turn is None:
                continue
            for text, by_user in ((turn.asked, not row.kind), (turn.answered, False)):
                for sentence in _find_reasons(text):
                    if shared_weight(question, read_claim(sentence)) > 0:
                        trust = "user" if by_user else "agent"
                        own = worth * (_TURN_WEIGHT if by_user else _ANSWER_WEIGHT)
                        yield Cause(sentence, trust, round(own, 3), memory, place, one.at)


def _add_cause(given: dict[str, Cause], cause: Cause) -> None:
    key = " ".join(cause.text.lower().split()).strip(" .!")
    if key not in given or given[key].worth < cause.worth:
        given[key] = cause


def _find_reasons(text: str) -> Iterator[str]:
    for part in _SENTENCE_END.split(text[:_MAX_TEXT]):
        sentence = " ".join(part.split())
        lower = f" {sentence.lower()} "
        says = any(cue in lower for cue in _REASON_PHRASES) or any(
            cue in sentence for cue in _REASON_UNSPACED
        )
        if says and len(sentence) <= _MAX_REASON and not sentence.endswith(("?", "？")):  # noqa: RUF001
            yield sentence
