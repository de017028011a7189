"""Match memories by words, ended ones included, for evidence that has a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from told.search.query import Query
from told.search.rank import plan_query
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, Memory

_COLUMN_WEIGHTS = (1.0, 0.6, 0.4)
_RANKED = 10  # memories that may be ranked for each one that is returned
_UNTRUSTED_SHARE = 0.8
_LOCKED_BONUS = 1.1
_MAX_ENDING = 3  # letters by which forms of a word differ
_MIN_STEM = 3
_NEAR = 0.25  # share of the best score
_LIMIT = 60  # memories taken from the index


class MemoryMatch(NamedTuple):
    """A memory that answers a question."""

    memory: Memory
    score: float
    cover: float  # share of the question's words that it contains


def search_memories(store: Memories, query: Query, now: int, scopes: Sequence[str] = ()) -> list[MemoryMatch]:
    """Return the memories with words of a question, current ones first, then by score."""
    for must in dict.fromkeys((query.must, ())):
        matched = _match(store, query, must, scopes)
        if matched:
            break
    else:
        return []
    loaded = store.load([row for row, _ in matched])
    found = [_score(loaded[row], score, query) for row, score in matched if row in loaded]
    if query.window and not query.words:  # only a time is asked for
        low, high = query.window
        found = [one for one in found if low <= one.memory.created < high or low <= one.memory.updated < high]
    found = [one for one in found if not 0 < one.memory.expires <= now]
    best = max((one.score for one in found), default=0.0)
    found = [one for one in found if one.score >= _NEAR * best]
    found.sort(key=lambda one: (one.memory.status != ACTIVE, -one.score, -one.memory.created, one.memory.id))
    return found


def _match(
    store: Memories, query: Query, must: tuple[str, ...], scopes: Sequence[str]
) -> list[tuple[int, float]]:
    """Return the rows and bm25 scores of matches, ended ones included."""
    terms = dict.fromkeys((*must, *query.terms))
    count, budget = store.memory_count(), _RANKED * _LIMIT
    # All of few memories can be ranked, so frequencies do not change the plan.
    frequencies = {term: 1 if count <= budget else store.frequency(term, budget + 1) for term in terms}
    if not all(frequencies[phrase] for phrase in must):
        return []
    expression = plan_query({term: frequencies[term] for term in query.terms}, count, budget, must=must)
    if not expression:
        return []
    newest = budget if sum(frequencies.values()) > budget else 0
    return store.match(
        expression, _COLUMN_WEIGHTS, _LIMIT, scopes=scopes, ended=True, archived=False, newest=newest
    )


def _score(memory: Memory, score: float, query: Query) -> MemoryMatch:
    cover = _measure_cover(memory, query.words)
    # Rarity says little among few memories, so coverage counts too.
    worth = (max(0.0, -score) + 2.0) * (0.25 + cover)
    worth *= (1.0 if memory.trust == "user" else _UNTRUSTED_SHARE) * (_LOCKED_BONUS if memory.locked else 1.0)
    return MemoryMatch(memory, round(worth, 3), cover)


def _measure_cover(memory: Memory, words: Sequence[str]) -> float:
    if not words:
        return 1.0
    text = f"{memory.text} {memory.words}".lower()
    return sum(_stem(word) in text for word in words) / len(words)


def _stem(word: str) -> str:
    return word[: max(_MIN_STEM, len(word) - _MAX_ENDING)] if len(word) > _MIN_STEM + 1 else word
