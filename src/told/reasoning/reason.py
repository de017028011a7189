"""Answer a question from memories, with evidence for and against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from told.conflict.compare import find_conflicts
from told.conflict.reading import Claim, read_claim
from told.memories.history import find_predecessors, find_successors
from told.reasoning.answer import (
    CONTESTED,
    MIN_SHARE,
    MIN_WEIGHT,
    NO,
    REASONS,
    SAID,
    UNKNOWN,
    YES,
    Answer,
    Argument,
    Side,
    argument_order,
    combine_weights,
    decide_verdict,
    extend_arguments,
    find_causes,
    make_side,
    weigh_memory,
)
from told.reasoning.graph import Node, SearchScope, SessionMatches, TopicGraph, find_related, search_turns
from told.reasoning.question import CHOICE, VALUE, WHY, Question, parse_question, shared_weight
from told.reasoning.stance import AGAINST, FOR, Stance, find_replaced_words, judge_side, judge_statement
from told.search.tokens import canonical_stem, tokenize
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, SUPERSEDED, Memory

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading, TurnMatching

_MAX_RELATED = 3
_MAX_TEXT = 2000
_MAX_WORD = 40
_NOT_YOURS = "no word of yours: only agents or tools said so"


def _complete_answer(
    answer: Answer, memories: Memories, around: TopicGraph, spoken: SessionMatches
) -> Answer:
    used = [piece.memory for side in answer.sides for piece in side.pieces]
    missing = list(answer.missing)
    if not used:
        missing += _describe_unknown_words(answer.question, around)
    elif answer.verdict == UNKNOWN and answer.question.form != WHY:
        weak = all(memory.trust != "user" and not memory.confirmed for memory in used)
        missing.append(_NOT_YOURS if weak else "too little is said about it")
    turns = spoken.turns if answer.verdict == UNKNOWN else ()
    places = [
        one.place for one in turns if _share(answer.question, f"{one.asked} {one.answered}") >= MIN_SHARE
    ]
    others = () if used else around.of(ACTIVE)
    typed = [word for word, _ in _typed_words(answer.question)]
    near = [one.memory for one in others if any(word in one.memory.text.lower() for word in typed)]
    history = answer.history or _find_history(answer.question, memories, used, around)
    pairs = answer.conflicts or _find_contradictions(used, around)
    ids = {memory.id for memory in used}
    edges = tuple(edge for edge in around.edges if edge[0] in ids or edge[2] in ids)
    return replace(
        answer, history=history, conflicts=pairs, missing=tuple(missing), edges=edges,
        places=tuple(places[:_MAX_RELATED]), related=tuple(near[:_MAX_RELATED]),
    )  # fmt: skip


def _share(question: Question, text: str) -> float:
    return shared_weight(question, read_claim(text))


def _find_history(
    question: Question, memories: Memories, used: Sequence[Memory], around: TopicGraph
) -> tuple[Memory, ...]:
    """Return what the strongest evidence superseded, or superseded matches."""
    if used:
        return tuple(find_predecessors(memories, used[0].id))
    ended = [one.memory for one in around.of(SUPERSEDED)]
    return tuple(one for one in ended if _share(question, one.text) >= MIN_SHARE)[:_MAX_RELATED]


def _find_contradictions(
    used: Sequence[Memory], around: TopicGraph
) -> tuple[tuple[Memory, Memory, str], ...]:
    by_id = {memory.id: memory for memory in used}
    return tuple(
        (by_id[source], by_id[target], "they contradict each other")
        for source, kind, target in around.edges
        if kind == "contradicts" and source in by_id and target in by_id
    )


def _describe_unknown_words(question: Question, around: TopicGraph) -> list[str]:
    texts = [one.memory.text.lower() for one in around.of(ACTIVE)]
    known = {key for one in around.of(ACTIVE) for key in read_claim(one.memory.text).reading.words}
    unknown = [
        repr(word[:_MAX_WORD]) for word, key in _typed_words(question)
        if key not in known and not any(word in text for text in texts)
    ]  # fmt: skip
    if not unknown:
        return ["no memory says this of it"]
    return [f"no memory says anything of {', '.join(unknown[:4])}"]


def _typed_words(question: Question) -> list[tuple[str, str]]:
    """Return the words of a question as typed, each with its stem."""
    typed = dict.fromkeys(tokenize(question.text[:_MAX_TEXT].lower()))
    return [(word, canonical_stem(word)) for word in typed if canonical_stem(word) in question.words]


_MIN_LOOSE_SHARE = 0.5  # of the question's words, if no memory reaches the minimum
_WANTED_FACTOR = 1.3  # for a time, place or number if one is asked for
_NEAR_BEST = 0.8


def reason(
    memories: Memories, reading: SessionReading, matching: TurnMatching, text: str, where: SearchScope
) -> Answer:
    """Answer a question from memories, without a model."""
    question = parse_question(text)
    around = find_related(memories, text, where.scopes, where.now)
    spoken = search_turns(reading, matching, text, where.project, where.now)
    found = [(one, read_claim(one.memory.text)) for one in around.of(ACTIVE)]
    if question.form == WHY:
        answer = _answer_why(question, found, spoken, reading)
    elif question.form == VALUE:
        answer = _answer_value(question, found, memories)
    elif question.form == CHOICE:
        answer = _answer_choice(question, found, around)
    else:
        answer = _answer_whether(question, found, around, memories)
    return _complete_answer(answer, memories, around, spoken)


def _weigh_sides(
    names: tuple[str, str], around: TopicGraph, judged: Iterable[tuple[Node, Stance]]
) -> tuple[Side, Side]:
    """Return the sides for and against, with what is reached along edges."""
    pieces: dict[str, list[Argument]] = {FOR: [], AGAINST: []}
    for node, stance in judged:
        if stance.side:
            worth = weigh_memory(node.memory, stance.fit)
            piece = Argument(
                node.memory, worth, stance.why, limited=stance.limited, rival=stance.rival,
                changes=stance.changes,
            )  # fmt: skip
            pieces[stance.side].append(piece)
    extend_arguments(pieces[FOR], pieces[AGAINST], around)
    return make_side(names[0], pieces[FOR]), make_side(names[1], pieces[AGAINST])


def _answer_whether(
    question: Question, found: Sequence[tuple[Node, Claim]], around: TopicGraph, memories: Memories
) -> Answer:
    judged = {node.memory.id: (node, judge_statement(question, node.memory.text)) for node, _ in found}
    for old in around.of(SUPERSEDED):
        heir = next(reversed(find_successors(memories, old.memory)), None)
        node = judged.get(heir.id, (None, None))[0] if heir else None
        if node is None or heir is None or (judged[heir.id][1].side and not judged[heir.id][1].limited):
            continue
        if judge_statement(question, old.memory.text).side == FOR and find_replaced_words(
            question, old.memory.text, heir.text
        ):
            judged[heir.id] = (node, Stance(AGAINST, why=f"replaced {old.memory.id}", changes=True))
    sides = _weigh_sides((FOR, AGAINST), around, judged.values())
    verdict, worth = decide_verdict(sides, (YES, NO))
    return Answer(question, verdict, worth, sides)


def _answer_choice(question: Question, found: Sequence[tuple[Node, Claim]], around: TopicGraph) -> Answer:
    sides, denied = [], []
    for place, (name, _) in enumerate(question.sides):
        judged = [(node, judge_side(question, place, node.memory.text)) for node, _ in found]
        side, against = _weigh_sides((name, f"not {name}"), around, judged)
        sides.append(Side(name, side.pieces, round(side.worth * (1.0 - against.worth), 3)))
        denied.append(against)
    names = (question.sides[0][0], question.sides[1][0])
    verdict, worth = decide_verdict((sides[0], sides[1]), names)
    if verdict in names:
        place = names.index(verdict)
        verdict, worth = decide_verdict((sides[place], denied[place]), (verdict, denied[place].name))
    elif verdict == UNKNOWN:  # nothing supports a choice, but something may oppose one
        bans = [one for one in denied if any(piece.is_firm for piece in one.pieces)]
        if len(bans) == 1:
            verdict, worth = bans[0].name, bans[0].worth
        elif bans:
            verdict, worth = "neither", min(one.worth for one in bans)
    return Answer(question, verdict, worth, (*sides, *(one for one in denied if one.pieces)))


def _answer_value(question: Question, found: Sequence[tuple[Node, Claim]], memories: Memories) -> Answer:
    fits = [(node, statement, shared_weight(question, statement)) for node, statement in found]
    least = MIN_SHARE if any(fit >= MIN_SHARE for _, _, fit in fits) else _MIN_LOOSE_SHARE
    fitting = []
    for node, statement, fit in fits:
        if fit >= least:
            piece = Argument(node.memory, weigh_memory(node.memory, fit))
            factor = _WANTED_FACTOR if _has_wanted(statement, question.wants) else 1.0
            order = (-piece.worth * factor, -node.fit, -node.memory.created, node.memory.id)
            fitting.append((order, piece))
    pieces = [piece for _, piece in sorted(fitting, key=lambda one: one[0])]
    if not pieces:
        return Answer(question, UNKNOWN, 0.0)
    best = pieces[0]
    near = [piece for piece in pieces if piece.worth >= _NEAR_BEST * best.worth]
    opposed = [
        pair for pair in find_conflicts([piece.memory for piece in near])
        if best.memory.id in (pair[0].id, pair[1].id)
    ]  # fmt: skip
    against = {one.id for pair in opposed for one in pair[:2]} - {best.memory.id}
    lower = combine_weights(piece for piece in pieces if piece.memory.id in against)
    worth = round(combine_weights([best]) * (1.0 - lower), 3)
    verdict = CONTESTED if lower and not best.memory.locked else SAID if best.worth >= MIN_WEIGHT else UNKNOWN
    side = Side(SAID, tuple(pieces), combine_weights([best]))
    history = tuple(find_predecessors(memories, best.memory.id))
    return Answer(question, verdict, worth, (side,), history=history, conflicts=tuple(opposed))


def _answer_why(
    question: Question, found: Sequence[tuple[Node, Claim]], spoken: SessionMatches, reading: SessionReading
) -> Answer:
    about = [(node.memory, shared_weight(question, statement)) for node, statement in found]
    about = [(memory, fit) for memory, fit in about if fit >= MIN_SHARE]
    given = find_causes(question, about, spoken, reading)
    pieces = sorted(
        (Argument(memory, weigh_memory(memory, fit)) for memory, fit in about), key=argument_order
    )
    sides = (Side(SAID, tuple(pieces), combine_weights(pieces)),)
    missing = 1.0
    for source in {cause.place or (cause.memory.id if cause.memory else "") for cause in given}:
        own = [one.worth for one in given if (one.place or (one.memory.id if one.memory else "")) == source]
        missing *= 1.0 - max(own)
    worth = round(1.0 - missing, 3)
    verdict = REASONS if given else UNKNOWN
    without = () if given or not pieces else ("nobody said why",)
    return Answer(question, verdict, worth, sides, tuple(given), missing=without)


def _has_wanted(statement: Claim, wanted: str) -> bool:
    """Return whether a statement contains the wanted time, place or number."""
    reading = statement.reading
    times = reading.values.keys() & {"weekday", "interval", "clock", "dates"}
    if wanted == "time":
        return bool(times or any(one.unit in ("time", "clock") for one in reading.counts))
    if wanted == "place":
        return bool(reading.names or reading.places)
    return wanted == "number" and bool(reading.counts)
