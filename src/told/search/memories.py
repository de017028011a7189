"""From a question to the memories that answer it: what holds first, what has ended last."""

from __future__ import annotations

from told.record import record
from told.search.plan import plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.search.analyse import Query
    from told.store.memory_search import MemoryRow, MemorySearch


_COLUMNS = (1.0, 0.6, 0.4)
_RANKED = 10  # memories that may be ranked, for each that is looked at
_BY_OTHERS = 0.8  # the same words, if no user said them
_LOCKED = 1.1
_ENDING = 3  # letters by which forms of a word differ
_SHORTEST = 3


@record
class Answer:
    """A memory that answers a question."""

    memory: MemoryRow
    score: float
    cover: float  # which share of the question's words it has
    holds: bool  # neither ended, nor kept apart, nor expired


@record
class Bar:
    """How well a memory must fit."""

    near: float = 0.25  # how much of the best one's score it has
    cover: float = 0.0  # which share of the question's words it has
    looked_at: int = 60  # how many are taken from the index


def search_memories(
    store: MemorySearch, query: Query, now: int, scopes: Sequence[str] = (), bar: Bar | None = None
) -> list[Answer]:
    """Return the memories that answer a question: those that hold, the best first, then the others.

    Args:
        store: Where they are.
        query: The question.
        now: The moment of asking, in ms since 1970.
        scopes: Only those of these scopes; all if none is given.
        bar: How well they must fit.
    """
    bar = bar or Bar()
    for must in dict.fromkeys((query.must, ())):
        matched = _matched(store, query, must, scopes, bar.looked_at)
        if matched:
            break
    else:
        return []
    loaded = store.load([row for row, _ in matched])
    found = [_scored(loaded[row], score, query, now) for row, score in matched if row in loaded]
    if query.window and not query.words:  # only a time is asked for
        low, high = query.window
        found = [one for one in found if low <= one.memory.created < high or low <= one.memory.updated < high]
    found = [one for one in found if one.cover >= bar.cover and not _is_past(one.memory, now)]
    best = max((one.score for one in found), default=0.0)
    found = [one for one in found if one.score >= bar.near * best]
    found.sort(key=lambda one: (not one.holds, -one.score, -one.memory.created, one.memory.id))
    return found


def _matched(
    store: MemorySearch, query: Query, must: tuple[str, ...], scopes: Sequence[str], limit: int
) -> list[tuple[int, float]]:
    """Return rows and scores of what has the words, ended ones as well."""
    terms = dict.fromkeys((*must, *query.terms))
    count, budget = store.memory_count(), _RANKED * limit
    # Few memories can all be ranked: then how often a word occurs makes no difference to what is asked for.
    frequencies = {term: 1 if count <= budget else store.frequency(term, budget + 1) for term in terms}
    if not all(frequencies[phrase] for phrase in must):
        return []
    expression = plan({term: frequencies[term] for term in query.terms}, count, budget, must=must)
    if not expression:
        return []
    newest = budget if sum(frequencies.values()) > budget else 0
    return store.match(expression, _COLUMNS, limit, scopes=scopes, ended=True, newest=newest)


def _scored(memory: MemoryRow, score: float, query: Query, now: int) -> Answer:
    cover = _cover(memory, query.words)
    # Among few memories rarity says little, so it also counts how much of the question one has.
    worth = (max(0.0, -score) + 2.0) * (0.25 + cover)
    worth *= (1.0 if memory.trust == "user" else _BY_OTHERS) * (_LOCKED if memory.locked else 1.0)
    holds = memory.status == "active" and not _is_past(memory, now)
    return Answer(memory, round(worth, 3), cover, holds)


def _cover(memory: MemoryRow, words: Sequence[str]) -> float:
    if not words:
        return 1.0
    text = f"{memory.text} {memory.words}".lower()
    return sum(_stem(word) in text for word in words) / len(words)


def _stem(word: str) -> str:
    return word[: max(_SHORTEST, len(word) - _ENDING)] if len(word) > _SHORTEST + 1 else word


def _is_past(memory: MemoryRow, now: int) -> bool:
    return 0 < memory.expires <= now
