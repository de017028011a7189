"""The layers of recall: each gives some memories a figure from 0 to 1, and knows nothing of the others."""

from __future__ import annotations

from math import log

from told.memory._recall_places import applies_at, places_in
from told.memory._recall_topics import spoken, topics
from told.store.memory_records import CORRECTION, SHARED, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from told.memory._recall_structure import Structure
    from told.store.memory_records import Memory

    class Meaning(Protocol):
        """Layer 2, where one is installed."""

        def scores(self, prompt: str, memories: Sequence[Memory]) -> Sequence[float]:
            """Return for each memory how near it is in meaning, from 0 to 1."""


_DAY = 86_400_000
_FEW_MEMORIES = 60
_RECENT = 14 * _DAY
# With a best figure below these, the best match of a layer is a weak one and not scaled up to 1.
TOPIC_CEILING = 4.0
WORD_CEILING = 7.0


def by_topics(
    prompt: Structure, memories: dict[int, Memory], rarity: dict[str, float]
) -> dict[int, tuple[float, tuple[str, ...]]]:
    """Layer 0: the topics that a memory shares with a prompt, the rare ones first."""
    found = {}
    for row, memory in memories.items():
        own = topics(memory.text)
        length = 1.0 + 0.06 * max(0, len(own) - 6)
        parts = sorted(
            ((rarity.get(name, 0.0) * strength * min(1.0, own[name]), name)
             for name, strength in prompt.topics.items() if name in own),
            reverse=True,
        )  # fmt: skip
        if parts:
            # What is shared beyond the first topic is often the same thing said by another of its names.
            total = sum(part * 0.7**place for place, (part, _) in enumerate(parts))
            found[row] = (total / length, tuple(name for _, name in parts[:3]))
    return found


def rarity_of(frequency: int, count: int) -> float:
    """Return how much a word or topic tells that so many of all memories have.

    A few memories are taken as a sample of many; among very many, being rare is worth no more.
    """
    count = max(count, frequency, _FEW_MEMORIES)
    return breadth(count) * log(1.0 + (count - frequency + 0.5) / (frequency + 0.5))


def breadth(count: int) -> float:
    """Return by what figures of rarity are multiplied, so that floors mean the same in every store."""
    return log(1.0 + 2 * _FEW_MEMORIES) / log(1.0 + 2 * max(count, _FEW_MEMORIES))


def by_words(
    matches: Sequence[tuple[int, float]],
    frequencies: dict[str, int],
    memories: dict[int, Memory],
    count: int,
) -> dict[int, float]:
    """Layer 1: BM25, as the index gives it; among few memories it says nothing, so words are counted."""
    found = {row: -score * breadth(count) for row, score in matches if score < 0}
    if count >= _FEW_MEMORIES // 2:
        return found
    rarity = {term.strip('"*'): rarity_of(often, count) for term, often in frequencies.items() if often}
    for row, _ in matches:
        if row in memories:
            words = set(spoken(memories[row].text))
            shared = sum(told for word, told in rarity.items() if word in words or f"{word}s" in words)
            found[row] = max(found.get(row, 0.0), shared)
    return found


def by_meaning(prompt: Structure, memories: dict[int, Memory], meaning: Meaning | None) -> dict[int, float]:
    """Layer 2: nearness in meaning, where a way to measure it is given."""
    if meaning is None:
        return {}
    scores = meaning.scores(prompt.text, list(memories.values()))
    return {row: score for row, score in zip(memories, scores, strict=True) if score > 0}


def by_entities(prompt: Structure, memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 3: the files, commands and identifiers that both name; less for what stands beside these."""
    spoken = set(prompt.words) | {word.rstrip("()") for word in prompt.words}
    named: dict[int, set[str]] = {
        row: {one.lower() for one in memory.entities} for row, memory in memories.items()
    }
    hit = {row: names & spoken for row, names in named.items()}
    counts: dict[str, int] = {}
    for names in named.values():
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    beside = {
        name for row, names in named.items() if hit[row] for name in names - spoken if counts[name] <= _FEW
    }
    found = {}
    for row, names in named.items():
        if hit[row]:
            found[row] = max(1.0 / counts[name] ** 0.5 for name in hit[row])
        elif names & beside:
            found[row] = 0.3
    return found


_FEW = 4


def by_triggers(prompt: Structure, memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 4: the memory says that it applies at this folder, file or command."""
    found = {}
    text = f" {prompt.text.lower()} "
    for row, memory in memories.items():
        commands = [one.value.lower() for one in memory.triggers if one.kind == "command"]
        if any(command in text for command in commands):
            found[row] = 1.0
            continue
        places = places_in(memory)
        if places:
            figure = max(applies_at(place, prompt) for place in places)
            if figure > 0:
                found[row] = figure
    return found


def by_recency(memories: dict[int, Memory], now: int) -> dict[int, float]:
    """Layer 5: corrections and warnings of the last two weeks."""
    return {
        row: 1.0 - (now - memory.created) / _RECENT
        for row, memory in memories.items()
        if memory.kind in (CORRECTION, WARNING) and 0 <= now - memory.created < _RECENT
    }


def by_sharing(memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 6: what a shared scope brings, which others found worth sharing."""
    return {row: 1.0 for row, memory in memories.items() if memory.scope.startswith(SHARED)}


def scaled(scores: dict[int, float], ceiling: float) -> dict[int, float]:
    """Scale to 0 … 1, no match being 0; a list whose best is weak stays weak."""
    top = max(max(scores.values(), default=0.0), ceiling)
    return {row: max(0.0, score) / top for row, score in scores.items()}
