"""Find what is already known of a statement: the same words, or a candidate that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from told.conflict.compare import find_repeated
from told.search.query import parse_query
from told.store.memories.read import Memories
from told.store.memories.records import (
    CANDIDATE,
    CAPTURE,
    DISMISSED,
    FORGOTTEN,
    GLOBAL,
    USER,
    Evidence,
    Memory,
)

_SAME = 0.6  # share of a captured quote that another quote must contain
_COLUMN_WEIGHTS = (1.0, 1.0, 0.5)
_MAX_TERMS, _MAX_COMPARED = 16, 8


def find_same_words(memories: Memories, agent: str, session: str, quote: str) -> list[Memory]:
    """Return the memories made from a quote of a session, the best match first.

    A captured memory matches if the quote has most of its words, another one if it has most of the quote's.
    Dismissed ones are included, so that they do not come back; forgotten ones have no words any more.
    """
    if not session or not quote:
        return []
    found = []
    for memory in memories.load(memories.of_session(session)).values():
        if memory.status == FORGOTTEN or memory.trust != USER:
            continue
        places = [one for one in memory.evidence if (one.agent, one.session) == (agent, session)]
        share = max((_measure_share(memory, one, quote) for one in places), default=0.0)
        if share >= _SAME:
            found.append((-share, memory.created, memory.number, memory))
    return [one[-1] for one in sorted(found, key=lambda one: one[:-1])]


def _measure_share(memory: Memory, place: Evidence, quote: str) -> float:
    """Return the share of the captured quote that both quotes have in one piece."""
    captured, other = (place.quote, quote) if memory.worded_by == CAPTURE else (quote, place.quote)
    if captured == other:
        return 1.0
    words, others = _split(captured), _split(other)
    if not words or not others:
        return 0.0
    run = SequenceMatcher(None, words, others, autojunk=False).find_longest_match()
    return run.size / len(words)


def _split(quote: str) -> list[str]:
    """Return the words of a quote, or its characters where spaces do not separate words."""
    return quote.lower().split() if quote.isascii() else list("".join(quote.lower().split()))


def find_unconfirmed(
    memories: Memories, text: str, scope: str, now: int, *, status: str = CANDIDATE
) -> Memory | None:
    """Return the candidate of a scope that says the same as a statement.

    Args:
        memories: The open memories.
        text: The statement.
        scope: Its scope.
        now: The time that words like "yesterday" refer to.
        status: Candidate or dismissed.
    """
    return next(iter(_find_same(memories, text, (scope,), now, status)), None)


def find_rejected(memories: Memories, text: str, scope: str, now: int) -> Memory | None:
    """Return the memory that the user rejected, in a scope or globally, and that says the same."""
    scopes = tuple(dict.fromkeys((scope, GLOBAL)))
    found = _find_same(memories, text, scopes, now, DISMISSED)
    return next((one for one in found if one.is_rejected), None)


def _find_same(memories: Memories, text: str, scopes: Sequence[str], now: int, status: str) -> list[Memory]:
    terms = list(dict.fromkeys(parse_query(text, now).terms))[:_MAX_TERMS]
    if not terms:
        return []
    rows = memories.match(" OR ".join(terms), _COLUMN_WEIGHTS, _MAX_COMPARED, scopes=scopes, status=status)
    loaded = memories.load([row for row, _ in rows])
    near = [loaded[row] for row, _ in rows if row in loaded]
    return find_repeated(near, text)


def may_confirm(memory: Memory, session: str, trust: str, *, sure: bool) -> bool:
    """Tell whether a statement that says the same confirms a candidate.

    Args:
        memory: The candidate, or a dismissed one.
        session: Where the statement was said.
        trust: Of the statement; only the user's word confirms.
        sure: told is sure of the statement, or it was given with a command.
    """
    if trust != USER:
        return False
    if memory.status == DISMISSED and memory.was != CANDIDATE:  # by the judge, not expired
        return sure
    return sure or (bool(session) and all(place.session != session for place in memory.evidence))
