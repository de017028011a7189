"""Search memories as a brief recalls them, and rank them together with sessions.

A search uses the layers of recall without the limits of a brief. In the joint ranking, the memories that a
brief for the same words would show come first, at most three. The rest is ordered by fit: of a memory, its
share of the score that a brief asks for; of a session, its share of the best session's score. Equals come
newest first, sessions before memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from told.recall.filters import ELSEWHERE
from told.recall.prompt import RecallRequest
from told.recall.recall import ENOUGH, IS_NEWER, OVERRULED, TOO_LITTLE, Recalled, recall
from told.recall.score import WORDS
from told.search.query import Query
from told.search.rank import MIN_QUESTION_WORDS, SessionGroup
from told.store.fts import match_all
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, AGENT, TOOL, Memory
from told.words import WORD, split_words, stem

MAX_FIRST = 3  # memories before the first session
# Of a memory that a brief would leave out; a shared topic alone is a guess.
MIN_FIT, MIN_FIT_WITHOUT_WORDS = 0.6, 1.5
_FULL = 0.20  # the score of a memory that fits well
_OWN_REASONS = ("", TOO_LITTLE, ENOUGH, OVERRULED, ELSEWHERE)  # a brief's own reasons to leave a memory out
_MAX_LISTED = 500  # newest memories among which a named time is looked for


class MemoryQuestion(NamedTuple):
    """What memories are searched for, and which."""

    query: Query
    scopes: tuple[str, ...]  # empty for all
    now: int
    folder: str = ""  # the current folder below the project's root
    since: int = 0
    agent: str = ""  # of the evidence

    def accepts(self, memory: Memory) -> bool:
        """Tell whether a memory is recent enough and from the wanted agent."""
        is_from_agent = not self.agent or any(place.agent == self.agent for place in memory.evidence)
        return is_from_agent and last_said(memory) >= self.since


class MemoryMatch(NamedTuple):
    """A memory that answers a question."""

    memory: Memory
    score: float  # 1 is what a brief asks for
    is_sure: bool  # a brief would show it, or it contains every word


def last_said(memory: Memory) -> int:
    """Return when a memory was last said or changed."""
    return max(memory.created, memory.updated, *(place.at for place in memory.evidence), 0)


def is_from(memory: Memory, window: tuple[int, int]) -> bool:
    """Tell whether a memory was said or changed within a time."""
    start, end = window
    times = (memory.created, memory.updated, *(place.at for place in memory.evidence))
    return any(start <= at < end for at in times)


def search_memories(memories: Memories, question: MemoryQuestion) -> list[MemoryMatch]:
    """Return the memories that answer a question, best first."""
    query = question.query
    scopes = question.scopes or tuple(
        dict.fromkeys(scope for status, _, scope, *_ in memories.counts() if status == ACTIVE)
    )
    if query.window and not query.words:  # only a time is asked for
        rows = memories.listed(scopes=scopes, limit=_MAX_LISTED, observations=False)
        listed = [one for one in memories.load(rows).values() if is_from(one, query.window)]
        found = [MemoryMatch(one, 1.0, is_sure=False) for one in listed]
    else:
        request = RecallRequest(query.text, scopes, question.now, question.folder, tools=True, search=True)
        recalled = recall(memories, request)
        found = _score(query, recalled.chosen, recalled.left_out)
        if query.must:
            quoted = memories.load(memories.latest(match_all(query.must), _MAX_LISTED, scopes=scopes))
            scores = {one.memory.id: one.score for one in found}
            exact = [MemoryMatch(one, scores.get(one.id, 1.0), is_sure=True) for one in quoted.values()]
            found = exact or found
    found = [one for one in found if question.accepts(one.memory) and _is_current(one.memory, question.now)]
    return sorted(found, key=_sort_key)


def _score(query: Query, chosen: Sequence[Recalled], others: Iterable[Recalled]) -> list[MemoryMatch]:
    shown = {one.memory.id for one in chosen}
    least = MIN_FIT_WITHOUT_WORDS if len(query.words) >= MIN_QUESTION_WORDS else inf
    is_question = len(query.words) > 1  # a single word has to be there
    found = []
    for one in (*chosen, *others):
        memory, fit = one.memory, round(one.score / _FULL, 3)
        is_whole = not _is_only_said_by_agent(memory) and _contains_all(memory, query.words)
        if is_whole and one.against.endswith(IS_NEWER):  # probably outdated, and these are its words
            found.append(MemoryMatch(memory, min(fit, MIN_FIT), is_sure=False))
        if one.against not in _OWN_REASONS:
            continue
        has_words = WORDS in one.parts
        is_shown = memory.id in shown and fit >= 1 and memory.trust != TOOL and (has_words or is_question)
        is_sure = is_whole or is_shown
        if is_sure or fit >= (MIN_FIT if has_words else least):
            is_timely = not query.window or is_from(memory, query.window)
            found.append(MemoryMatch(memory, fit, is_sure and is_timely))
    return found


def _contains_all(memory: Memory, words: Sequence[str]) -> bool:
    text = f"{memory.text} {memory.words}".lower()
    known = {stem(part) for word in split_words(text) for part in (word, *WORD.findall(word))}
    return bool(words) and all(stem(word) in known if word.isascii() else word in text for word in words)


def _is_only_said_by_agent(memory: Memory) -> bool:
    """Tell whether only an agent or a tool said it."""
    return memory.trust in (AGENT, TOOL) and not memory.confirmed


def _is_current(memory: Memory, now: int) -> bool:
    return memory.status == ACTIVE and not 0 < memory.expires <= now


def _sort_key(one: MemoryMatch) -> tuple[bool, float, int, str]:
    return not one.is_sure, -one.score, -last_said(one.memory), one.memory.id


def join_rankings(
    memories: Sequence[MemoryMatch], sessions: Sequence[SessionGroup], limit: int
) -> list[MemoryMatch | SessionGroup]:
    """Return memories and sessions in one ranking, best first."""
    first = [one for one in memories if one.is_sure][:MAX_FIRST]
    best = max((group.score for group in sessions), default=0.0) or 1.0

    def sort_key(one: MemoryMatch | SessionGroup) -> tuple[float, bool, int, str]:
        if isinstance(one, MemoryMatch):
            return -min(1.0, one.score), True, -last_said(one.memory), one.memory.id
        return -one.score / best, False, -one.turns[0].at, ""

    rest: list[MemoryMatch | SessionGroup] = [one for one in memories if one not in first]
    rest += sessions
    return [*first, *sorted(rest, key=sort_key)][:limit]
