"""Find candidate memories for a prompt and score them in independent layers.

Candidates are the newest rows of each word or topic. Nothing is ranked by the index, so the cost hardly grows
with the number of memories. Each layer scores some candidates from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

from told.recall.prompt import Prompt, RecallRequest, find_places, match_place
from told.search.query import find_terms
from told.search.topics import EVERYDAY_SHARE, EVERYDAY_WORDS
from told.search.vectors.arithmetic import count_column_differences, estimate_similarity, similarities
from told.search.vectors.table import make_vector, table_model_id
from told.store.fts import unquote_phrase
from told.store.memories.match import SIGN_COUNT, pack_vector_signs
from told.store.memories.protocol import Memories
from told.store.memories.records import CORRECTION, SHARED, WARNING, Memory

# How much each layer counts; set by `python -m training.recall`.
WEIGHTS = {
    "topics": 0.34, "words": 0.25, "meaning": 0.75, "entities": 0.08, "triggers": 0.30, "recent": 0.03,
    "shared": 0.02,
}  # fmt: skip
# A layer whose best score is below this is not scaled up to 1.
TOPIC_CEILING, WORD_CEILING = 4.0, 7.0
_TOPIC_SHARE, _WORD_SHARE = WEIGHTS["topics"] / TOPIC_CEILING, WEIGHTS["words"] / WORD_CEILING
NEAR, NEAREST = -0.05, 0.40  # similarity above the usual that scores 0 and 1
MAX_LEARNED = 0.1  # share by which use changes a score
_SAMPLE = 600  # newest memories that tell how rare a word is
_MAX_ROWS = 120  # of one word or topic
_MAX_TERMS, _MAX_TOPICS = 9, 6
_MAX_CANDIDATES, _MAX_LOCKED, _MAX_PLACED = 24, 40, 40
_MAX_SIGNS, MAX_VECTORS = 4096, 24  # memories compared roughly, and exactly
MAX_SEARCHED = 200  # memories scored and compared exactly in a search, whose filters drop some
_USUAL_SIMILARITY, _USUAL_COUNT = 0.06, 10  # of unrelated texts; counts like that many memories
_FEW_MEMORIES, _FEWEST = 60, 20
_TOPIC_DECAY, _TOPIC_LENGTH, _USUAL_TOPICS = 0.7, 0.03, 6
_USUAL_LENGTH = 16  # words
_MAX_SHARING = 4  # memories that share a related name
_RELATED = 0.3  # of a memory that only names what another match names
_RECENT_MS = 14 * 86_400_000
_PRIOR_USED, _PRIOR_SHOWN = 1.0, 4.0  # before anything happened: as if shown four times and used once


class Candidates(NamedTuple):
    """Rows that could fit a prompt, with the rarity of words."""

    rows: dict[int, None]
    words: dict[int, float]  # rarity of the shared words
    rarity: dict[str, float]  # of the prompt's topics
    locked: tuple[int, ...]  # all locked rows, also those that share nothing


class Similar(NamedTuple):
    """How much more similar than usual the most similar memories are."""

    compared: int  # memories
    excess: dict[int, float]


def find_candidates(memories: Memories, prompt: Prompt, request: RecallRequest) -> Candidates:
    """Return candidate rows; locked ones that share anything are always included."""
    count, oldest = memories.span(request.scopes, _SAMPLE)
    words: dict[int, float] = {}
    for term in find_terms(prompt.text, _MAX_TERMS):
        found = memories.with_term(term, _MAX_ROWS, scopes=request.scopes)
        value = measure_rarity(sum(row >= oldest for row in found), count) if found else 0.0
        value *= EVERYDAY_SHARE if unquote_phrase(term) in EVERYDAY_WORDS else 1.0
        for row in found:
            words[row] = words.get(row, 0.0) + value
    scores = {row: value * _WORD_SHARE for row, value in words.items()}
    rarity = {}
    for name in sorted(prompt.topics, key=lambda name: (-prompt.topics[name], name))[:_MAX_TOPICS]:
        found = memories.by_topic(name, request.scopes, _MAX_ROWS)
        rarity[name] = measure_rarity(sum(row >= oldest for row in found), count)
        value = rarity[name] * prompt.topics[name] * _TOPIC_SHARE
        for row in found:
            scores[row] = scores.get(row, 0.0) + value
    most = MAX_SEARCHED if request.search else _MAX_CANDIDATES
    best = sorted((-score, -row) for row, score in scores.items())[:most]
    rows = dict.fromkeys(-row for _, row in best)
    locked = memories.locked(request.scopes, _MAX_LOCKED)
    rows.update(dict.fromkeys(row for row in locked if row in scores))
    if prompt.folder or prompt.paths:
        places = list(dict.fromkeys(_list_prefixes(prompt)))
        rows.update(dict.fromkeys(memories.by_trigger("path", places, request.scopes, _MAX_PLACED)))
    return Candidates(rows, words, rarity, tuple(locked))


def _list_prefixes(prompt: Prompt) -> list[str]:
    """Return the folders above each path of a prompt."""
    found = []
    for path in (prompt.folder, *prompt.paths):
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            head = "/".join(parts[:end])
            found += [head, f"{head}/"]
    return found


def find_similar(
    memories: Memories, text: str, scopes: Sequence[str], also: Iterable[int], most: int = MAX_VECTORS
) -> Similar:
    """Return the memories most similar in meaning; none without the vector table.

    Args:
        memories: The open memories.
        text: The prompt.
        scopes: The active scopes.
        also: Rows to compare in any case.
        most: Memories to compare exactly.
    """
    own, model = make_vector(text, asking=True), table_model_id()
    if not own or not model:
        return Similar(0, {})
    parts = memories.vectors.signs(scopes, model, _MAX_SIGNS)
    differences = count_column_differences(pack_vector_signs(own), [columns for _, columns in parts])
    near = [(rows, counts[-len(rows) :]) for (rows, _), counts in zip(parts, differences, strict=True)]
    count = sum(len(rows) for rows, _ in near)
    if not count:
        return Similar(0, {})
    mean = estimate_similarity(sum(sum(counts) for _, counts in near) / count)
    usual = (count * mean + _USUAL_COUNT * _USUAL_SIMILARITY) / (count + _USUAL_COUNT)
    vectors = memories.vectors.vectors(list(dict.fromkeys([*_find_nearest(near, most), *also])), model)
    scores = similarities(own, list(vectors.values()))
    return Similar(count, {row: score - usual for row, score in zip(vectors, scores, strict=True)})


def _find_nearest(near: Sequence[tuple[memoryview[int], bytes]], most: int) -> list[int]:
    """Return the rows with the fewest differences, newest first among equals."""
    found: list[int] = []
    for value in range(min(min(counts) for _, counts in near), SIGN_COUNT + 1):
        equal = []
        for rows, counts in near:
            at = counts.find(value)
            while at >= 0:
                equal.append(rows[at])
                at = counts.find(value, at + 1)
        found += sorted(equal, reverse=True)
        if len(found) >= most:
            break
    return found[:most]


def measure_rarity(frequency: int, count: int) -> float:
    """Return the rarity of a word or topic.

    Few memories are treated as a sample of many; among very many, being rare is worth no more.
    """
    if frequency > 1 and count < _FEW_MEMORIES:
        frequency = 1 + (frequency - 1) * _FEW_MEMORIES // max(count, _FEWEST)
    count = max(count, frequency, _FEW_MEMORIES)
    return _scale_to_store(count) * log(1.0 + (count - frequency + 0.5) / (frequency + 0.5))


def _scale_to_store(count: int) -> float:
    """Return the factor that makes scores comparable in stores of any size."""
    return log(1.0 + 2 * _FEW_MEMORIES) / log(1.0 + 2 * max(count, _FEW_MEMORIES))


def scale(scores: dict[int, float], ceiling: float) -> dict[int, float]:
    """Scale scores to 0 … 1; weak lists stay weak."""
    top = max(max(scores.values(), default=0.0), ceiling)
    return {row: max(0.0, score) / top for row, score in scores.items()}


def score_topics(
    prompt: Prompt, topics: dict[int, dict[str, float]], rarity: dict[str, float]
) -> dict[int, tuple[float, tuple[str, ...]]]:
    """Layer 0: score the shared topics, and name the rarest."""
    found = {}
    for row, own in topics.items():
        parts: dict[str, float] = {}
        for strength, names in prompt.hints:
            # A word counts once, even if it names several topics; so does a topic that several words name.
            value, name = max((rarity.get(name, 0.0) * min(1.0, own.get(name, 0.0)), name) for name in names)
            if value > 0:
                parts[name] = max(parts.get(name, 0.0), value * strength)
        if parts:
            ordered = sorted(((value, name) for name, value in parts.items()), reverse=True)
            length = 1.0 + _TOPIC_LENGTH * max(0, len(own) - _USUAL_TOPICS)
            total = sum(value * _TOPIC_DECAY**place for place, (value, _) in enumerate(ordered))
            found[row] = (total / length, tuple(name for _, name in ordered[:3]))
    return found


def score_words(words: dict[int, float], memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 1: score shared words; they count less in long statements."""
    return {
        row: 2.2 * words[row] / (1.3 + 0.9 * (1 + memory.text.count(" ")) / _USUAL_LENGTH)
        for row, memory in memories.items()
        if row in words
    }


def score_meaning(similar: Similar) -> dict[int, float]:
    """Layer 2: score similarity above the usual."""
    share = _scale_to_store(similar.compared) / (NEAREST - NEAR)
    return {row: min(1.0, (excess - NEAR) * share) for row, excess in similar.excess.items() if excess > NEAR}


def score_entities(prompt: Prompt, memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 3: score shared and related names."""
    spoken = set(prompt.words) | {word.rstrip("()") for word in prompt.words}
    named = {row: {one.lower() for one in memory.entities} for row, memory in memories.items()}
    counts: dict[str, int] = {}
    for names in named.values():
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    related = {name for names in named.values() if names & spoken for name in names - spoken}
    related = {name for name in related if counts[name] <= _MAX_SHARING}
    found = {}
    for row, names in named.items():
        if names & spoken:
            found[row] = max(1.0 / counts[name] ** 0.5 for name in names & spoken)
        elif names & related:
            found[row] = _RELATED
    return found


def score_triggers(prompt: Prompt, memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 4: score memories that apply to this folder, file or command."""
    found = {}
    text = f" {prompt.text.lower()} "
    for row, memory in memories.items():
        if any(one.kind == "command" and one.value.lower() in text for one in memory.triggers):
            found[row] = 1.0
        else:
            score = max((match_place(place, prompt) for place in find_places(memory)), default=0.0)
            if score > 0:
                found[row] = score
    return found


def score_recency(memories: dict[int, Memory], now: int) -> dict[int, float]:
    """Layer 5: score corrections and warnings of the last two weeks."""
    return {
        row: 1.0 - (now - memory.created) / _RECENT_MS
        for row, memory in memories.items()
        if {CORRECTION, WARNING}.intersection(memory.marks) and 0 <= now - memory.created < _RECENT_MS
    }


def score_sharing(memories: dict[int, Memory]) -> dict[int, float]:
    """Layer 6: score memories of a shared scope."""
    return {row: 1.0 for row, memory in memories.items() if memory.scope.startswith(SHARED)}


def measure_use(memory: Memory) -> float:
    """Return the share by which past use changes a score.

    A memory that the user had to repeat was needed, too.
    """
    if not memory.shown:
        return 0.0
    used = memory.followed + memory.repeated
    share = (used + _PRIOR_USED) / (max(memory.shown, used) + _PRIOR_SHOWN)
    usual = _PRIOR_USED / _PRIOR_SHOWN
    moved = (share - usual) / (1.0 - usual) if share > usual else (share - usual) / usual
    return round(MAX_LEARNED * moved, 4)
