"""What memories say to a question: evidence for and against, how sure it is, and a verdict."""

from __future__ import annotations

from told.memory._graph_polarity import Claim, claim, conflicts
from told.memory._graph_turns import Spoken, spoken_of
from told.memory._graph_walk import Around, Node, walk
from told.memory._reason_answer import (
    ABOUT,
    CONTESTED,
    LEAST,
    NO,
    REASONS,
    SAID,
    UNKNOWN,
    YES,
    Reasoned,
    Side,
    extend,
    side_of,
    strongest,
    verdict_between,
)
from told.memory._reason_causes import causes
from told.memory._reason_gaps import completed
from told.memory._reason_question import CHOICE, VALUE, WHY, Question, asked
from told.memory._reason_stance import AGAINST, FOR, on_claim, on_side, share
from told.memory._reason_weigh import Piece, together, worth_of
from told.memory.why import before
from told.store.memory_records import ACTIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory.wonder import Where
    from told.store.matching import Matching
    from told.store.memories import Memories
    from told.store.reading import Reading

_PERHAPS = 0.5  # share of a question's words that a memory has which may be about it
_WANTED = 1.3  # what a time, place or number counts where one is asked for
_NEAR = 0.8


def reason(memories: Memories, reading: Reading, matching: Matching, text: str, where: Where) -> Reasoned:
    """Answer a question from memories, without a model. Same input, same output."""
    question = asked(text)
    around = walk(memories, text, where.scopes, where.now)
    spoken = spoken_of(reading, matching, text, where.project, where.now)
    found = [(one, claim(one.memory.text)) for one in around.of(ACTIVE)]
    if question.form == WHY:
        answer = _why(question, found, spoken, reading)
    elif question.form == VALUE:
        answer = _value(question, found, memories)
    elif question.form == CHOICE:
        answer = _choice(question, found, around)
    else:
        answer = _whether(question, found, around)
    return completed(answer, memories, around, spoken)


def _whether(question: Question, found: Sequence[tuple[Node, Claim]], around: Around) -> Reasoned:
    pieces: dict[str, list[Piece]] = {FOR: [], AGAINST: []}
    for node, statement in found:
        stance = on_claim(question, statement)
        if stance.side:
            worth = worth_of(node.memory, stance.fit)
            pieces[stance.side].append(Piece(node.memory, worth, stance.why, limited=stance.limited))
    extend(pieces[FOR], pieces[AGAINST], around)
    sides = (side_of(FOR, pieces[FOR]), side_of(AGAINST, pieces[AGAINST]))
    verdict, worth = verdict_between(sides, (YES, NO))
    return Reasoned(question, verdict, worth, sides)


def _choice(question: Question, found: Sequence[tuple[Node, Claim]], around: Around) -> Reasoned:
    sides, denied, torn = [], [], False
    for place, (name, _) in enumerate(question.sides):
        pieces: dict[str, list[Piece]] = {FOR: [], AGAINST: []}
        for node, statement in found:
            stance = on_side(question, place, statement)
            if stance.side:
                worth = worth_of(node.memory, stance.fit)
                pieces[stance.side].append(Piece(node.memory, worth, stance.why, limited=stance.limited))
        extend(pieces[FOR], pieces[AGAINST], around)
        side, against = side_of(name, pieces[FOR]), side_of(f"not {name}", pieces[AGAINST])
        sides.append(Side(name, side.pieces, round(side.worth * (1.0 - against.worth), 3)))
        denied.append(against)
        torn = torn or min(side.worth, against.worth) >= LEAST
    names = (question.sides[0][0], question.sides[1][0])
    verdict, worth = verdict_between((sides[0], sides[1]), names)
    if verdict == UNKNOWN:  # nothing is said for either, but something against one
        bans = [one for one in denied if one.worth >= LEAST]
        if torn:
            verdict = CONTESTED
        elif len(bans) == 1:
            verdict, worth = bans[0].name, bans[0].worth
        elif bans:
            verdict, worth = "neither", min(one.worth for one in bans)
    return Reasoned(question, verdict, worth, (*sides, *(one for one in denied if one.pieces)))


def _value(question: Question, found: Sequence[tuple[Node, Claim]], memories: Memories) -> Reasoned:
    fits = [(node, statement, share(question, statement)) for node, statement in found]
    least = ABOUT if any(fit >= ABOUT for _, _, fit in fits) else _PERHAPS
    fitting = [
        (worth_of(node.memory, fit) * (_WANTED if _gives(statement, question.wants) else 1.0), node, fit)
        for node, statement, fit in fits
        if fit >= least
    ]
    fitting.sort(key=lambda one: (-one[0], -one[1].fit, -one[1].memory.created, one[1].memory.id))
    pieces = [Piece(node.memory, worth_of(node.memory, fit)) for _, node, fit in fitting]
    if not pieces:
        return Reasoned(question, UNKNOWN, 0.0)
    best = pieces[0]
    near = [piece for piece in pieces if piece.worth >= _NEAR * best.worth]
    opposed = [
        pair for pair in conflicts([piece.memory for piece in near])
        if best.memory.id in (pair[0].id, pair[1].id)
    ]  # fmt: skip
    against = {one.id for pair in opposed for one in pair[:2]} - {best.memory.id}
    lower = together(piece for piece in pieces if piece.memory.id in against)
    worth = round(together([best]) * (1.0 - lower), 3)
    verdict = CONTESTED if lower and not best.memory.locked else SAID if best.worth >= LEAST else UNKNOWN
    side = Side(SAID, tuple(pieces), together([best]))
    history = tuple(before(memories, best.memory.id))
    return Reasoned(question, verdict, worth, (side,), history=history, conflicts=tuple(opposed))


def _why(
    question: Question, found: Sequence[tuple[Node, Claim]], spoken: Spoken, reading: Reading
) -> Reasoned:
    about = [(node.memory, share(question, statement)) for node, statement in found]
    about = [(memory, fit) for memory, fit in about if fit >= ABOUT]
    given = causes(question, about, spoken, reading)
    pieces = sorted((Piece(memory, worth_of(memory, fit)) for memory, fit in about), key=strongest)
    sides = (Side(SAID, tuple(pieces), together(pieces)),)
    missing = 1.0
    for source in {cause.place or (cause.memory.id if cause.memory else "") for cause in given}:
        own = [one.worth for one in given if (one.place or (one.memory.id if one.memory else "")) == source]
        missing *= 1.0 - max(own)
    worth = round(1.0 - missing, 3)
    verdict = REASONS if given else UNKNOWN
    without = () if given or not pieces else ("nobody said why",)
    return Reasoned(question, verdict, worth, sides, tuple(given), missing=without)


def _gives(statement: Claim, wanted: str) -> bool:
    """Tell whether a statement has what is asked for: a time, a place or a number."""
    reading = statement.reading
    times = reading.values.keys() & {"weekday", "interval", "clock", "dates"}
    if wanted == "time":
        return bool(times or any(one.unit in ("time", "clock") for one in reading.counts))
    if wanted == "place":
        return bool(reading.names or reading.places)
    return wanted == "number" and bool(reading.counts)
