"""Search what agents saved without the user's word; an agent finds it, briefs never show it."""

from __future__ import annotations

from collections.abc import Sequence

from told.recall.search import MemoryMatch
from told.search.query import Query
from told.store.fts import match_any
from told.store.memories.protocol import Memories
from told.store.memories.records import AGENT, CANDIDATE, Memory
from told.words import split_words, stem

_MAX_FOUND = 3
_MAX_LOADED = 30
_WEIGHTS = (1.0, 0.5, 0.3)  # of text, words and extra words
_LEAST = 0.5  # share of the question's words that are in the text


def search_unconfirmed(memories: Memories, query: Query, scopes: Sequence[str]) -> list[MemoryMatch]:
    """Return the candidates that agents saved and that fit a question, best first.

    Args:
        memories: The open memories.
        query: The question.
        scopes: Where to look; empty for everywhere.
    """
    terms = tuple(dict.fromkeys((*query.must, *query.terms)))
    if not terms:
        return []
    hits = memories.match(match_any(terms), _WEIGHTS, _MAX_LOADED, scopes=scopes, status=CANDIDATE)
    loaded = memories.load([row for row, _ in hits])
    found = [loaded[row] for row, _ in hits if row in loaded]
    scores = {one.id: _measure_share(one, query.words) for one in found if is_unconfirmed(one)}
    fitting = [one for one in found if scores.get(one.id, 0.0) >= _LEAST]
    fitting.sort(key=lambda one: scores[one.id], reverse=True)
    return [MemoryMatch(one, scores[one.id], is_sure=False) for one in fitting[:_MAX_FOUND]]


def is_unconfirmed(memory: Memory) -> bool:
    """Tell whether an agent saved it and nothing confirmed it."""
    return memory.status == CANDIDATE and memory.trust == AGENT


def _measure_share(memory: Memory, words: Sequence[str]) -> float:
    """Return the share of words that a memory contains in some form."""
    text = f"{memory.text} {memory.words}".lower()
    known = {stem(word) for word in split_words(text)}
    return sum(stem(word) in known or word in text for word in words) / max(1, len(words))
