"""What an answer lacks, what was so before, and what contradicts."""

from __future__ import annotations

from told.memory._graph_polarity import claim
from told.memory._reason_answer import ABOUT, UNKNOWN
from told.memory._reason_question import WHY
from told.memory._reason_stance import share
from told.memory.why import before
from told.record import replaced
from told.search.tokens import key_of, tokens_of
from told.store.memory_records import ACTIVE, SUPERSEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._graph_turns import Spoken
    from told.memory._graph_walk import Around
    from told.memory._reason_answer import Reasoned
    from told.memory._reason_question import Question
    from told.store.memories import Memories
    from told.store.memory_records import Memory

_RELATED = 3
_MOST_TEXT = 2000
_LONGEST_WORD = 40
_NOT_YOURS = "no word of yours: only agents or tools said so"


def completed(answer: Reasoned, memories: Memories, around: Around, spoken: Spoken) -> Reasoned:
    """Add what is missing, what was so before, and what contradicts."""
    used = [piece.memory for side in answer.sides for piece in side.pieces]
    missing = list(answer.missing)
    if not used:
        missing += _unknown_words(answer.question, around)
    elif answer.verdict == UNKNOWN and answer.question.form != WHY:
        weak = all(memory.trust != "user" for memory in used)
        missing.append(_NOT_YOURS if weak else "too little is said about it")
    turns = spoken.turns if answer.verdict == UNKNOWN else ()
    places = [one.place for one in turns if _share(answer.question, f"{one.asked} {one.answered}") >= ABOUT]
    others = () if used else around.of(ACTIVE)
    typed = [word for word, _ in _as_said(answer.question)]
    near = [one.memory for one in others if any(word in one.memory.text.lower() for word in typed)]
    history = answer.history or _before(answer.question, memories, used, around)
    pairs = answer.conflicts or _contradictions(used, around)
    ids = {memory.id for memory in used}
    edges = tuple(edge for edge in around.edges if edge[0] in ids or edge[2] in ids)
    return replaced(
        answer, history=history, conflicts=pairs, missing=tuple(missing), edges=edges,
        places=tuple(places[:_RELATED]), related=tuple(near[:_RELATED]),
    )  # fmt: skip


def _share(question: Question, text: str) -> float:
    return share(question, claim(text))


def _before(
    question: Question, memories: Memories, used: Sequence[Memory], around: Around
) -> tuple[Memory, ...]:
    """Return what the strongest evidence took the place of; where nothing holds, what did so once."""
    if used:
        return tuple(before(memories, used[0].id))
    ended = [one.memory for one in around.of(SUPERSEDED)]
    return tuple(one for one in ended if _share(question, one.text) >= ABOUT)[:_RELATED]


def _contradictions(used: Sequence[Memory], around: Around) -> tuple[tuple[Memory, Memory, str], ...]:
    by_id = {memory.id: memory for memory in used}
    return tuple(
        (by_id[source], by_id[target], "they contradict each other")
        for source, kind, target in around.edges
        if kind == "contradicts" and source in by_id and target in by_id
    )


def _unknown_words(question: Question, around: Around) -> list[str]:
    """Say which words of a question no memory has."""
    texts = [one.memory.text.lower() for one in around.of(ACTIVE)]
    known = {key for one in around.of(ACTIVE) for key in claim(one.memory.text).reading.words}
    unknown = [
        repr(word[:_LONGEST_WORD]) for word, key in _as_said(question)
        if key not in known and not any(word in text for text in texts)
    ]  # fmt: skip
    if not unknown:
        return ["no memory says this of it"]
    return [f"no memory says anything of {', '.join(unknown[:4])}"]


def _as_said(question: Question) -> list[tuple[str, str]]:
    """Return the words of a question as they were typed, each with the form in which it is compared."""
    typed = dict.fromkeys(tokens_of(question.text[:_MOST_TEXT].lower()))
    return [(word, key_of(word)) for word in typed if key_of(word) in question.words]
