"""Find the memories that could fit a prompt, and score how well each does.

Meaning counts most: how much more similar than usual the prompt, or one of its sentences, is to the statement
and to the phrases of prompts that need it. Shared words and places add to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import NamedTuple

from told.recall.prompt import Prompt, RecallRequest, find_places, is_everyday_term, match_place
from told.search.vectors.arithmetic import count_column_differences, estimate_similarity, similarities
from told.search.vectors.language import make_prompt_vector
from told.search.vectors.table import table_model_id
from told.store.memories.match import SIGN_COUNT, pack_vector_signs
from told.store.memories.protocol import Memories
from told.store.memories.records import AGENT, OBSERVATION, TOOL, USER, Memory

MEANING, WORDS, PLACE = LAYERS = ("meaning", "words", "place")
# How much a layer counts beside the meaning.
WEIGHTS = {MEANING: 1.0, WORDS: 0.25, PLACE: 0.30}
_WORDS_ALONE = 2.0  # factor of the words if there is no table of meanings
MAX_LEARNED = 0.1  # share by which use changes a score
_TRUST_WEIGHTS = {AGENT: 0.6, TOOL: 0.6}
_OTHERS_WEIGHT, _OBSERVATION_WEIGHT = 0.9, 0.7
_CONFIDENCE_SHARE, _IMPORTANCE_SHARE = 0.2, 0.05  # by which these change a score
_SENTENCE_MARGIN = 0.1  # by which a sentence must fit better than the whole prompt
_BEST_PHRASES = 2
_SAMPLE = 600  # newest memories that tell how rare a word is
_MAX_ROWS = 120  # of one word
_FEW_NAMES = 2
_UNSAID_SHARE = 0.3  # of an everyday word that no memory has
_MAX_SIGNS, _MAX_NEAR = 4096, 64  # memories compared roughly, and exactly
_MAX_LOADED, _MAX_LOCKED, _MAX_PLACED = 40, 40, 40
_MAX_SEARCHED = 200  # memories compared and loaded in a search, whose filters drop some
_USUAL_SIMILARITY, _USUAL_COUNT = 0.06, 10  # of unrelated texts; counts like that many memories
_FEW_MEMORIES, _FEWEST = 60, 20
_PRIOR_USED, _PRIOR_SHOWN = 1.0, 4.0  # before anything happened: as if shown four times and used once


class Scored(NamedTuple):
    """A memory with its score in each layer."""

    row: int
    memory: Memory
    score: float
    parts: dict[str, float]
    learned: float = 0.0  # share by which past use changed the score


class Matches(NamedTuple):
    """The scored memories, best first."""

    found: tuple[Scored, ...]
    answering: frozenset[int] = frozenset()  # rows of those that have all that the prompt names


def score_memories(memories: Memories, prompt: Prompt, request: RecallRequest) -> Matches:
    """Score the memories that could fit a prompt."""
    most = _MAX_SEARCHED if request.search else _MAX_LOADED
    count, oldest = memories.span(request.scopes, _SAMPLE)
    words, answering = _measure_shared_words(memories, prompt, request.scopes, count, oldest)
    locked = memories.locked(request.scopes, _MAX_LOCKED)
    placed = _find_placed(memories, prompt, request.scopes)
    naming = sorted(words, key=lambda row: (-words[row], -row))[:most]
    meaning = compare_meaning(memories, prompt, request, (*naming, *locked, *placed))
    share = WEIGHTS[WORDS] * (1.0 if meaning else _WORDS_ALONE)
    rough = {
        row: meaning.get(row, 0.0) + share * words.get(row, 0.0) for row in dict.fromkeys((*meaning, *naming))
    }
    near = [row for row in rough if rough[row] > 0 or prompt.folder]
    best = sorted(near, key=lambda row: (-rough[row], -row))
    loaded = memories.load(dict.fromkeys((*best[:most], *placed)))
    scores: list[Scored] = []
    for row, one in sorted(loaded.items()):
        parts = {MEANING: meaning.get(row, 0.0), WORDS: share * words.get(row, 0.0)}
        if not is_phrased(one):  # else its phrases say more than a folder that both name
            parts[PLACE] = WEIGHTS[PLACE] * _score_place(prompt, one)
        scores.append(_combine(row, one, parts))
    return Matches(tuple(sorted(scores, key=sort_key)), answering)


def sort_key(one: Scored) -> tuple[float, int, str]:
    """Order by score, the newest first among equals."""
    return -one.score, -one.memory.created, one.memory.id


def _measure_shared_words(
    memories: Memories, prompt: Prompt, scopes: Sequence[str], count: int, oldest: int
) -> tuple[dict[int, float], frozenset[int]]:
    """Return which share of the prompt's names each memory has, rare ones counting more, and who has all.

    Having all is an answer only if they name something: two things, or one that other prompts do not name.
    """
    shared: dict[int, float] = {}
    total = 0.0
    answering: set[int] | None = None
    for term in prompt.names:
        found = memories.with_term(term, _MAX_ROWS, scopes=scopes)
        rarity = measure_rarity(sum(row >= oldest for row in found), count)
        total += rarity if found or not is_everyday_term(term) else _UNSAID_SHARE * rarity
        for row in found:
            shared[row] = shared.get(row, 0.0) + rarity
        answering = set(found) if answering is None else answering.intersection(found)
    if all(map(is_everyday_term, prompt.names[:_FEW_NAMES])) and len(prompt.names) < _FEW_NAMES:
        answering = None
    return {row: value / total for row, value in shared.items()}, frozenset(answering or ())


def measure_rarity(frequency: int, count: int) -> float:
    """Return the rarity of a word; few memories are treated as a sample of many."""
    if frequency > 1 and count < _FEW_MEMORIES:
        frequency = 1 + (frequency - 1) * _FEW_MEMORIES // max(count, _FEWEST)
    count = max(count, frequency, _FEW_MEMORIES)
    return log(1.0 + (count - frequency + 0.5) / (frequency + 0.5))


def _find_placed(memories: Memories, prompt: Prompt, scopes: Sequence[str]) -> list[int]:
    """Return the rows of memories for the folders of a prompt."""
    places: dict[str, None] = {}
    for path in filter(None, (prompt.folder, *prompt.paths)):
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            head = "/".join(parts[:end])
            places |= {head: None, f"{head}/": None}
    return memories.by_trigger("path", list(places), scopes, _MAX_PLACED) if places else []


def compare_meaning(
    memories: Memories, prompt: Prompt, request: RecallRequest, also: Iterable[int]
) -> dict[int, float]:
    """Return how much more similar than usual memories are; empty without the table of meanings.

    Args:
        memories: The open memories.
        prompt: The prompt.
        request: Where to look, and whether the user searches.
        also: Rows to compare in any case.
    """
    scopes, most = request.scopes, _MAX_SEARCHED if request.search else _MAX_NEAR
    join = max if request.search else _join_phrases
    model = table_model_id()
    texts = (prompt.text, *prompt.sentences)
    asked = [one for one in map(make_prompt_vector, texts) if one] if model else []
    blocks = memories.vectors.signs(scopes, model, _MAX_SIGNS) if asked and model else []
    if not blocks or not model:
        return {}
    rows = dict.fromkeys(also)
    usual = []
    for vector in asked:
        differences = count_column_differences(pack_vector_signs(vector), [columns for _, columns in blocks])
        near = [(some, counts[-len(some) :]) for (some, _), counts in zip(blocks, differences, strict=True)]
        count = sum(len(some) for some, _ in near)
        mean = estimate_similarity(sum(sum(counts) for _, counts in near) / count)
        usual.append((count * mean + _USUAL_COUNT * _USUAL_SIMILARITY) / (count + _USUAL_COUNT))
        rows |= dict.fromkeys(_find_nearest(near, most))
    stored = memories.vectors.vectors(list(rows), model)
    size = len(asked[0])
    vectors = [blob[at : at + size] for blob in stored.values() for at in range(0, len(blob), size)]
    excess = [score - usual[0] for score in similarities(asked[0], vectors)]
    for vector, average in zip(asked[1:], usual[1:], strict=True):
        margin = average + _SENTENCE_MARGIN
        scores = similarities(vector, vectors)
        excess = [max(known, score - margin) for known, score in zip(excess, scores, strict=True)]
    rest = iter(excess)
    return {row: join([next(rest) for _ in range(0, len(blob), size)]) for row, blob in stored.items()}


def is_phrased(memory: Memory) -> bool:
    """Tell whether a memory has enough phrases of prompts that need it to go by them."""
    return len(memory.when) >= _BEST_PHRASES


def _join_phrases(values: Sequence[float]) -> float:
    """Return the mean of the best phrases' values; the statement counts only if they are fewer."""
    best = sorted(values[1:])[-_BEST_PHRASES:] if len(values) > _BEST_PHRASES else values
    return sum(best) / len(best)


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


def _score_place(prompt: Prompt, memory: Memory) -> float:
    """Return how surely a memory is for the prompt's folder, file or command."""
    text = f" {prompt.text.lower()} "
    if any(one.kind == "command" and one.value.lower() in text for one in memory.triggers):
        return 1.0
    return max((match_place(place, prompt) for place in find_places(memory)), default=0.0)


def _combine(row: int, memory: Memory, parts: Mapping[str, float]) -> Scored:
    """Combine the layers, weighted by trust, confidence, importance and use."""
    own = {name: round(value, 4) for name, value in parts.items() if value > 0 or (value and name == MEANING)}
    score = sum(own.values())
    if memory.trust != USER:
        score *= _TRUST_WEIGHTS.get(memory.trust, _OTHERS_WEIGHT)
    if memory.kind == OBSERVATION:
        score *= _OBSERVATION_WEIGHT
    score *= 1.0 + _CONFIDENCE_SHARE * (memory.confidence - 0.5)
    if memory.importance:
        score *= 1.0 + _IMPORTANCE_SHARE * (memory.importance - 5.0) / 5.0
    learned = measure_use(memory)
    return Scored(row, memory, round(score * (1.0 + learned), 4), own, learned)


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
