"""Which memories are worth a look for a prompt: found by its words, topics, place, and by being locked.

The index ranks nothing here: that would count every word in the whole store. It only lists the newest rows of
each word, so a prompt costs about the same among a hundred thousand memories as among a thousand.
"""

from __future__ import annotations

from told.memory import _recall_layers as layers
from told.record import record
from told.search.analyse import terms_of
from told.search.topics import LOOSE, LOOSE_SHARE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory._recall_structure import Structure
    from told.memory.recall import Ask
    from told.store.memories import Memories

_SAMPLE = 600  # how many of the newest memories say how rare a word is
_LISTED = 120  # rows of one word or topic
_MOST_TERMS, _MOST_TOPICS = 9, 6
_LOOKED_AT = 24
_LOCKED, _PLACED = 40, 40


@record
class Near:
    """What could fit, by its rows."""

    rows: dict[int, None]
    words: dict[int, float]  # what the words in common say
    rarity: dict[str, float]  # of the prompt's topics
    locked: tuple[int, ...]  # also those that share nothing with the prompt


def candidates(memories: Memories, prompt: Structure, ask: Ask) -> Near:
    """Return rows worth a look, and how rare what they share with the prompt is.

    What is locked is looked at however many others fit better, if it shares anything with the prompt.
    """
    count, oldest = memories.span(ask.scopes, _SAMPLE)
    words: dict[int, float] = {}
    for term in terms_of(prompt.text, _MOST_TERMS):
        found = memories.with_term(term, _LISTED, scopes=ask.scopes)
        told = layers.rarity_of(sum(row >= oldest for row in found), count) if found else 0.0
        told *= LOOSE_SHARE if term.strip('"') in LOOSE else 1.0
        for row in found:
            words[row] = words.get(row, 0.0) + told
    worth = {row: told * layers.WORD_SHARE for row, told in words.items()}
    rarity = {}
    for name in sorted(prompt.topics, key=lambda name: (-prompt.topics[name], name))[:_MOST_TOPICS]:
        found = memories.by_topic(name, ask.scopes, _LISTED)
        rarity[name] = layers.rarity_of(sum(row >= oldest for row in found), count)
        told = rarity[name] * prompt.topics[name] * layers.TOPIC_SHARE
        for row in found:
            worth[row] = worth.get(row, 0.0) + told
    best = sorted([(-told, -row) for row, told in worth.items()])[:_LOOKED_AT]
    rows = dict.fromkeys([-row for _, row in best])
    locked = memories.locked(ask.scopes, _LOCKED)
    rows.update(dict.fromkeys([row for row in locked if row in worth]))
    if prompt.folder or prompt.paths:
        places = list(dict.fromkeys(_prefixes(prompt)))
        rows.update(dict.fromkeys(memories.by_trigger("path", places, ask.scopes, _PLACED)))
    return Near(rows, words, rarity, tuple(locked))


def _prefixes(prompt: Structure) -> list[str]:
    found = []
    for path in (prompt.folder, *prompt.paths):
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            head = "/".join(parts[:end])
            found += [head, f"{head}/"]
    return found
