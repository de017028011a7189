"""Answer a question from memories, with evidence for and against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from told.memories.history import find_successors
from told.reasoning.answer import (
    ABOUT,
    DEPENDS,
    NO,
    SAID,
    UNKNOWN,
    YES,
    Answer,
    Argument,
    decide_verdict,
    make_side,
    weigh_memory,
)
from told.reasoning.graph import CONTRADICTS, SUPPORTS, TopicGraph, find_changes, find_related
from told.reasoning.question import OPEN, Question, parse_question
from told.reasoning.stance import AGAINST, FOR, is_doubtful, is_swapped, judge_statement
from told.reasoning.turns import SearchScope, search_turns
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, SUPERSEDED, USER, WAS, Memory

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading, TurnMatching

_EDGE_FACTOR = 0.6
_MIN_SHARE = 0.6  # of the question's words, in a superseded memory
_MIN_SAID = 0.5  # of the question's words, in a memory that answers it
_NO_WORD_FACTOR = 0.25  # of a memory that is only near in meaning
_MAX_PLACES = 3
_MAX_WORD = 40
_NOT_YOURS = "no word of yours: only agents or tools said so"
_NOT_PLAIN = "no memory says it plainly"


def reason(
    memories: Memories, reading: SessionReading, matching: TurnMatching, text: str, where: SearchScope
) -> Answer:
    """Answer a question from memories, without a model."""
    question = parse_question(text)
    around = find_related(memories, text, where.scopes, where.now, ended=True)
    answer = (
        _answer_open(question, around)
        if question.form == OPEN
        else _answer_whether(question, around, memories)
    )
    used = [piece.memory for side in answer.sides for piece in side.pieces]
    ids = {memory.id for memory in used}
    missing = _describe_missing(answer, used) if answer.verdict == UNKNOWN else []
    ended = (one.memory for one in around.of(SUPERSEDED))
    alike = [one for one in ended if question.measure_share(one.text) >= _MIN_SHARE][:_MAX_PLACES]
    before = find_changes(memories, used[0])[::-1] if used else []
    return replace(
        answer,
        history=tuple(before or alike),
        conflicts=tuple(pair for pair in around.conflicts() if ids.intersection((pair[0].id, pair[1].id))),
        missing=tuple(missing),
        places=search_turns(reading, matching, text, where).turns[:_MAX_PLACES],
        edges=tuple(edge for edge in around.edges if edge[0] in ids or edge[2] in ids),
    )  # fmt: skip


def _answer_open(question: Question, around: TopicGraph) -> Answer:
    """Answer with the memories that have most of the question's words; the user's come first."""
    side = make_side(SAID, (_make_argument(question, one.memory) for one in around.of(ACTIVE)))
    best = side.pieces[0] if side.pieces else None
    is_said = best is not None and best.is_firm and question.measure_share(best.memory.text) >= _MIN_SAID
    worth = best.worth if best else 0.0
    return Answer(question, SAID if is_said else UNKNOWN, worth, (replace(side, worth=worth),))


def _make_argument(question: Question, memory: Memory) -> Argument:
    return Argument(memory, weigh_memory(memory, question.measure_share(memory.text) or _NO_WORD_FACTOR))


def _answer_whether(question: Question, around: TopicGraph, memories: Memories) -> Answer:
    """Answer yes or no where a memory says it plainly."""
    judged = {
        one.memory.id: (one.memory, *judge_statement(question, one.memory.text)) for one in around.of(ACTIVE)
    }
    for heir, old in _find_swapped(question, around, memories):
        if heir.id in judged and not judged[heir.id][1]:
            judged[heir.id] = (judged[heir.id][0], AGAINST, f"replaced {old.id}")
    pieces: dict[str, list[Argument]] = {FOR: [], AGAINST: [], ABOUT: []}
    for memory, side, why in judged.values():
        if side:
            pieces[side].append(Argument(memory, weigh_memory(memory), why))
        elif question.touches(memory.text):
            pieces[ABOUT].append(_make_argument(question, memory))
    reached = list(_follow_edges(pieces, around))
    ids = {one.memory.id for one in reached}
    pieces[ABOUT] = [one for one in pieces[ABOUT] if one.memory.id not in ids]
    for one in reached:
        pieces[one.why].append(replace(one, why=""))
    sides = [make_side(name, pieces[name]) for name in (FOR, AGAINST)]
    disputes = (one.memory for one in reached if not one.via.startswith(SUPPORTS))
    verdict, worth = decide_verdict(sides, [one for one in disputes if one.trust == USER])
    if verdict in (YES, NO) and not any(piece.memory.locked for side in sides for piece in side.pieces):
        said = FOR if verdict == YES else AGAINST
        users = (one.memory.text for one in pieces[ABOUT] if one.memory.trust == USER)
        verdict = DEPENDS if any(is_doubtful(question, text, said) for text in users) else verdict
    return Answer(question, verdict, worth, (*sides, make_side(ABOUT, pieces[ABOUT])))


def _find_swapped(
    question: Question, around: TopicGraph, memories: Memories
) -> Iterator[tuple[Memory, Memory]]:
    """Yield what a correction says now, and what it was: an answer of which it swapped a word."""
    for node in around.of(SUPERSEDED):
        heir = next(reversed(find_successors(memories, node.memory)), None)
        says_yes = judge_statement(question, node.memory.text)[0] == FOR
        if heir and says_yes and is_swapped(question, node.memory.text, heir.text):
            yield heir, node.memory


def _follow_edges(pieces: dict[str, list[Argument]], around: TopicGraph) -> Iterator[Argument]:
    """Yield what supports or contradicts the evidence; `why` is the side that it takes."""
    nodes = {one.memory.id: one.memory for one in around.of(ACTIVE)}
    seen = {one.memory.id for side in (FOR, AGAINST) for one in pieces[side]}
    other = {FOR: AGAINST, AGAINST: FOR}
    for side in (FOR, AGAINST):
        for piece in pieces[side]:
            for source, kind, target in around.edges:
                linked = source if target == piece.memory.id else target if source == piece.memory.id else ""
                is_link = (kind == SUPPORTS and linked == source) or kind in (CONTRADICTS, WAS)
                if linked in nodes and linked not in seen and is_link:
                    seen.add(linked)
                    worth = round(min(piece.worth, weigh_memory(nodes[linked])) * _EDGE_FACTOR, 3)
                    takes = side if kind == SUPPORTS else other[side]
                    yield Argument(nodes[linked], worth, takes, f"{kind} {piece.memory.id}")


def _describe_missing(answer: Answer, used: list[Memory]) -> list[str]:
    if used:
        is_users = any(one.trust == USER or one.confirmed for one in used)
        return [_NOT_PLAIN if is_users else _NOT_YOURS]
    words = dict.fromkeys(answer.question.tokens)
    named = [repr(word[:_MAX_WORD]) for word in words if parse_question(word).keys]
    return [f"no memory mentions {', '.join(named[:4])}" if named else _NOT_PLAIN]
