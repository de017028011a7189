"""The layers of recall: each gives some memories a figure from 0 to 1, and knows nothing of the others."""

from __future__ import annotations

from math import log

from told.memory._recall_places import applies_at, places_in
from told.store.memory_records import CORRECTION, SHARED, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory._recall_meaning import NearMeaning
    from told.memory._recall_structure import Structure
    from told.store.memory_records import Memory


_DAY = 86_400_000
_FEW_MEMORIES, _FEWEST = 60, 20
_RECENT = 14 * _DAY
# How much each layer says.
WEIGHTS = {
    "topics": 0.34, "words": 0.25, "meaning": 0.75, "entities": 0.08, "triggers": 0.30, "recent": 0.03,
    "shared": 0.02,
}  # fmt: skip
# With a best figure below these, the best match of a layer is a weak one and not scaled up to 1.
TOPIC_CEILING = 4.0
WORD_CEILING = 7.0
# What a point of rarity is worth before a memory has been looked at.
TOPIC_SHARE, WORD_SHARE = WEIGHTS["topics"] / TOPIC_CEILING, WEIGHTS["words"] / WORD_CEILING
DECAY, LENGTH = 0.7, 0.03
# How much nearer than usual in meaning says nothing yet, and says all.
NEAR, NEAREST = -0.05, 0.40
_USUAL_LENGTH = 16  # words


def by_topics(
    prompt: Structure, named: dict[int, dict[str, float]], rarity: dict[str, float]
) -> dict[int, tuple[float, tuple[str, ...]]]:
    """Layer 0: the topics that a memory shares with a prompt, the rare ones first."""
    found = {}
    for row, own in named.items():
        parts: dict[str, float] = {}  # by topic: several words for one thing are one thing
        for strength, names in prompt.hints:
            # One word is one piece of evidence, whatever it may mean.
            told, name = max((rarity.get(name, 0.0) * min(1.0, own.get(name, 0.0)), name) for name in names)
            if told > 0:
                parts[name] = max(parts.get(name, 0.0), told * strength)
        if parts:
            ordered = sorted(((told, name) for name, told in parts.items()), reverse=True)
            length = 1.0 + LENGTH * max(0, len(own) - 6)
            total = sum(told * DECAY**place for place, (told, _) in enumerate(ordered))
            found[row] = (total / length, tuple(name for _, name in ordered[:3]))
    return found


def rarity_of(frequency: int, count: int) -> float:
    """Return how much a word or topic tells that so many of all memories have.

    A few memories are taken as a sample of many, in which what several of them have would be common; among
    very many, being rare is worth no more.
    """
    if frequency > 1 and count < _FEW_MEMORIES:
        frequency = 1 + (frequency - 1) * _FEW_MEMORIES // max(count, _FEWEST)
    count = max(count, frequency, _FEW_MEMORIES)
    return breadth(count) * log(1.0 + (count - frequency + 0.5) / (frequency + 0.5))


def breadth(count: int) -> float:
    """Return by what figures of rarity are multiplied, so that floors mean the same in every store."""
    return log(1.0 + 2 * _FEW_MEMORIES) / log(1.0 + 2 * max(count, _FEW_MEMORIES))


def by_words(words: dict[int, float], memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 1: how rare the words in common are; in a long statement they say less."""
    return {
        row: 2.2 * words[row] / (1.3 + 0.9 * (1 + memory.text.count(" ")) / _USUAL_LENGTH)
        for row, memory in memories.items() if row in words
    }  # fmt: skip


def by_meaning(near: NearMeaning) -> dict[int, float]:
    """Layer 2: how much nearer in meaning than usual; among very many, some are so by chance."""
    share = breadth(near.count) / (NEAREST - NEAR)
    figures = {row: (nearer - NEAR) * share for row, nearer in near.nearer.items() if nearer > NEAR}
    return {row: min(1.0, figure) for row, figure in figures.items()}


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
