"""Choose the few memories that a prompt needs.

Seven layers score the candidates; their sum is filtered and cut where matches become guesses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import NamedTuple

from told.errors import ToldError
from told.recall import layers
from told.recall.filters import find_overruled, find_reason_against, find_reason_hidden
from told.recall.layers import WEIGHTS, Candidates, find_candidates, find_similar, measure_use
from told.recall.prompt import Prompt, RecallRequest, read_prompt
from told.search.about import About, parse_about
from told.search.query import find_keywords
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, AGENT, TOOL, USER, WAS, Memory

# A rule that is overlooked does more harm than a fact.
KIND_WEIGHTS = {
    "rule": 1.0, "correction": 1.05, "warning": 1.05, "decision": 1.0, "preference": 0.95, "fact": 0.92,
    "observation": 0.7,
}  # fmt: skip
_TRUST_WEIGHTS = {AGENT: 0.6, TOOL: 0.6}
_CONFIDENCE_SHARE, _IMPORTANCE_SHARE = 0.2, 0.05  # by which these change a score
_MAX_GAIN = 1.35  # factor of kind, confidence, importance and use together
# Lowest scores, set by `python -m training.recall`.
FLOOR = 0.33
LOCKED_FLOOR = 0.20
WORDS_FLOOR = 0.20  # if only words match, as without the table of meaning
MEANING_FLOORS = (inf, 0.6, 0.4)  # without a shared subject, for prompts that name 0, 1 or 2 subjects
FAINT = 3.0  # factor of the floor for a prompt that is worded like one that needs no memory
# Lowest share of the best score, for each line of the brief.
NEAR_BEST = (0.0, 0.5, 0.5, 0.7, 0.7)
_MAX_BY_MEANING = 12
_ROUNDS = 2  # how often replacements of outdated memories are checked themselves
_MAX_EXPLAINED = 12
TOO_LITTLE, ENOUGH, OVERRULED = "fits too little", "enough is said", "a rule for this folder stands before it"
IS_NEWER = " is newer"  # after the id of the memory that seems to replace another
_LAYER_NAMES = {
    "topics": "0 topics", "words": "1 words", "meaning": "2 meaning", "entities": "3 names",
    "triggers": "4 place or command", "recent": "5 recent", "shared": "6 shared",
}  # fmt: skip


class Recalled(NamedTuple):
    """A memory with its score in each layer."""

    row: int
    memory: Memory
    score: float
    parts: dict[str, float]
    why: tuple[str, ...]  # the shared topics
    against: str = ""  # why it is left out; empty if it is chosen
    learned: float = 0.0  # share by which past use changed the score


class Recall(NamedTuple):
    """The chosen memories, best first, and the others that were considered."""

    prompt: Prompt
    chosen: tuple[Recalled, ...]
    left_out: tuple[Recalled, ...]
    broken: tuple[str, ...] = ()  # ids of memories that cannot be judged, each with its error


class Explanation(NamedTuple):
    """A memory that was considered, and the share of each layer."""

    recalled: Recalled
    layers: tuple[str, ...]
    verdict: str  # `in`, or why it is left out


def recall(memories: Memories, request: RecallRequest) -> Recall:
    """Choose the memories that a prompt needs; deterministic.

    A memory that cannot be judged is left out. If that does not help, the locked rules are chosen.
    """
    found = _attempt(memories, request, ())
    if isinstance(found, Recall):
        return found
    every = frozenset(memories.listed(scopes=request.scopes))
    is_of_memory = isinstance(_attempt(memories, request, every), Recall)
    broken = _find_broken(memories, request, every, every) if is_of_memory else {}
    rest = _attempt(memories, request, broken) if broken else found
    if not isinstance(rest, Recall):
        return _choose_locked(memories, request, rest)
    named = memories.load(broken)
    return rest._replace(broken=tuple(f"{named[row].id} ({broken[row]})" for row in sorted(named)))


def _attempt(memories: Memories, request: RecallRequest, left_out: Collection[int]) -> Recall | str:
    """Choose without some rows; return the name of the error if that fails."""
    memories.left_out = left_out
    try:
        return _choose(memories, request)
    except memories.QUERY_ERRORS as error:
        return type(error).__name__
    except ToldError:
        raise
    except memories.STORE_ERRORS:
        raise  # the store is damaged, busy or gone
    except Exception as error:  # noqa: BLE001 - one bad memory never costs the others
        return type(error).__name__
    finally:
        memories.left_out = ()


def _find_broken(
    memories: Memories, request: RecallRequest, rows: frozenset[int], every: frozenset[int]
) -> dict[int, str]:
    """Return those rows that make recall fail, with the error, by trying either half of them."""
    found = _attempt(memories, request, every - rows)
    if isinstance(found, Recall):
        return {}
    if len(rows) == 1:
        return dict.fromkeys(rows, found)
    first = frozenset(sorted(rows)[: len(rows) // 2])
    parts = [_find_broken(memories, request, half, every) for half in (first, rows - first)]
    return parts[0] | parts[1]


def _choose_locked(memories: Memories, request: RecallRequest, why: str) -> Recall:
    """Return the locked rules, which no failure may silence."""
    found = memories.load(memories.locked(request.scopes)[: len(NEAR_BEST)])
    valid = {
        row: one for row, one in found.items() if not find_reason_hidden(one, request.scopes, request.now)
    }
    chosen = tuple(Recalled(row, one, 1.0, {}, ()) for row, one in valid.items())
    return Recall(
        Prompt(request.prompt, (), {}, (), (), "", "", False, (), ()), chosen, (), (f"all ({why})",)
    )


def _choose(memories: Memories, request: RecallRequest) -> Recall:
    prompt = read_prompt(request.prompt, request.folder)
    if request.search:
        prompt = prompt._replace(quiet="", faint=prompt.faint or bool(prompt.quiet))
    if prompt.quiet:
        return Recall(prompt, (), ())
    candidates = find_candidates(memories, prompt, request)
    also = [*candidates.rows, *candidates.locked]
    compared, most = (layers.MAX_SEARCHED,) * 2 if request.search else (layers.MAX_VECTORS, _MAX_BY_MEANING)
    meaning = layers.score_meaning(find_similar(memories, prompt.text, request.scopes, also, compared))
    by_meaning = _find_by_meaning(meaning, candidates, most)
    loaded = memories.load(dict.fromkeys([*candidates.rows, *by_meaning]))
    about = {one.id: parse_about(memories.about(one)) for one in loaded.values()}
    topics = layers.score_topics(
        prompt, {row: about[one.id].topics for row, one in loaded.items()}, candidates.rarity
    )
    parts = {
        "topics": layers.scale({row: score for row, (score, _) in topics.items()}, layers.TOPIC_CEILING),
        "words": layers.scale(layers.score_words(candidates.words, loaded), layers.WORD_CEILING),
        "meaning": meaning,
        "entities": layers.score_entities(prompt, loaded),
        "triggers": layers.score_triggers(prompt, loaded),
        "recent": layers.score_recency(loaded, request.now),
        "shared": layers.score_sharing(loaded),
    }
    found = [_combine(row, one, parts, topics.get(row, (0.0, ()))[1]) for row, one in sorted(loaded.items())]
    return _Selection(memories, prompt, request, sorted(found, key=_sort_key), about).choose()


def _find_by_meaning(meaning: dict[int, float], candidates: Candidates, most: int) -> list[int]:
    """Return the nearest rows that only meaning finds, and locked ones that may qualify."""
    lowest = LOCKED_FLOOR / (WEIGHTS["meaning"] * _MAX_GAIN)
    near = [(-score, -row) for row, score in meaning.items() if score >= lowest]
    rows = [-row for _, row in sorted(near) if -row not in candidates.rows]
    return [*rows[:most], *(row for row in rows[most:] if row in candidates.locked)]


def _combine(row: int, memory: Memory, parts: dict[str, dict[int, float]], why: tuple[str, ...]) -> Recalled:
    """Combine the layers, weighted by kind, trust, confidence, importance and use."""
    own = {name: round(WEIGHTS[name] * scores[row], 4) for name, scores in parts.items() if scores.get(row)}
    score = sum(own.values()) * KIND_WEIGHTS.get(memory.leading_kind, 0.9)
    if memory.trust != USER:
        score *= _TRUST_WEIGHTS.get(memory.trust, 0.9)
    score *= 1.0 + _CONFIDENCE_SHARE * (memory.confidence - 0.5)
    if memory.importance:
        score *= 1.0 + _IMPORTANCE_SHARE * (memory.importance - 5.0) / 5.0
    learned = measure_use(memory)
    return Recalled(row, memory, round(score * (1.0 + learned), 4), own, why, "", learned)


class _Selection(NamedTuple):
    """Selects from the scored memories of one prompt."""

    memories: Memories
    prompt: Prompt
    request: RecallRequest
    found: Sequence[Recalled]  # best first
    about: Mapping[str, About]

    def choose(self) -> Recall:
        """Return the memories to show, and why the others are left out."""
        reasons = {one.row: self._find_reason(one.memory) for one in self.found}
        fitting = [one for one in self.found if not reasons[one.row]]
        overruled = find_overruled([one.memory for one in fitting], self.about, self.prompt)
        for one in fitting:
            if one.memory.id in overruled:
                reasons[one.row] = OVERRULED
            elif one.score / (1.0 + max(0.0, one.learned)) < self._get_floor(one):
                reasons[one.row] = TOO_LITTLE
        fitting, limited, outdated = self._update([one for one in fitting if not reasons[one.row]])
        reasons |= dict.fromkeys([one.row for one in fitting], "") | outdated
        reasons |= {one.row: limited[one.row] for one in fitting if limited[one.row]}
        every = {one.row: one for one in (*self.found, *fitting)}
        judged = [one._replace(against=reasons[one.row]) for one in sorted(every.values(), key=_sort_key)]
        return Recall(
            self.prompt,
            tuple(one for one in judged if not one.against),
            tuple(one for one in judged if one.against),
        )

    def _find_reason(self, memory: Memory) -> str:
        return find_reason_against(memory, self.prompt, self.request)

    def _get_floor(self, one: Recalled) -> float:
        """Return the lowest score at which a memory is shown."""
        if not self.prompt.subjects and "triggers" not in one.parts:
            return inf  # `list the files`: whatever it resembles, only its place can be evidence
        if one.memory.locked:
            return LOCKED_FLOOR
        floor = FLOOR if one.parts.keys() - {"words", "recent", "shared"} else WORDS_FLOOR
        if len(self.prompt.subjects) < len(MEANING_FLOORS) and not self._has_evidence(one):
            floor = MEANING_FLOORS[len(self.prompt.subjects)]
        return floor * FAINT if self.prompt.faint else floor

    def _has_evidence(self, one: Recalled) -> bool:
        """Tell whether a memory shares a subject, name or place with the prompt, not only a meaning."""
        if one.parts.keys() & {"entities", "triggers"} or set(one.why).intersection(
            self.prompt.subject_topics
        ):
            return True
        said = find_keywords(one.memory.text) if "words" in one.parts else ()
        return bool(set(self.prompt.subjects).intersection(said))

    def _update(self, fitting: list[Recalled]) -> tuple[list[Recalled], dict[int, str], dict[int, str]]:
        """Replace outdated memories by newer ones.

        Only memories about to be shown are checked; then others may move up.

        Returns:
            The fitting memories, why each is left out or empty, and why outdated ones are.
        """
        checked: set[int] = set()
        outdated: dict[int, str] = {}
        for left in range(_ROUNDS, -1, -1):
            reasons = _limit(fitting)
            shown = [one for one in fitting if not reasons[one.row] and one.row not in checked]
            checked.update(one.row for one in shown)
            newer = self._find_newer(shown) if left else {}
            if not newer:
                break
            outdated |= {row: f"{new.id}{IS_NEWER}" for row, (_, new) in newer.items()}
            remaining = {one.row: one for one in fitting if one.row not in newer}
            for one in shown:
                row, new = newer.get(one.row, (0, None))
                if new and row not in outdated and not self._find_reason(new):
                    own = self._substitute(one, row, new)
                    remaining[row] = min(remaining.get(row, own), own, key=_sort_key)
            fitting = sorted(remaining.values(), key=_sort_key)
        return fitting, reasons, outdated

    def _find_newer(self, shown: Sequence[Recalled]) -> dict[int, tuple[int, Memory]]:
        """Return the memories that probably replace some: those with an edge to them."""
        rows = {one.memory.id: one.row for one in shown if not one.memory.locked}
        edges = self.memories.edges(rows) if rows else ()
        newer = {source: target for source, kind, target, *_ in edges if kind == WAS and target in rows}
        loaded = self.memories.load_ids(list(newer))
        valid = {row: new for row, new in loaded.items() if new.status == ACTIVE}
        return {rows[newer[new.id]]: (row, new) for row, new in valid.items()}

    def _substitute(self, old: Recalled, row: int, new: Memory) -> Recalled:
        """Return a newer memory with at least the score of the old one."""
        own = next((one for one in self.found if one.row == row), None)
        if own is None:
            return Recalled(row, new, old.score, old.parts, old.why)
        return own._replace(score=max(own.score, old.score))


def _limit(fitting: Sequence[Recalled]) -> dict[int, str]:
    """Return why each memory is left out; empty if it is not."""
    locked = [one.row for one in fitting if one.memory.locked]
    reasons = {row: "" if place < len(NEAR_BEST) else ENOUGH for place, row in enumerate(locked)}
    chosen = 0
    for one in (one for one in fitting if not one.memory.locked):
        reasons[one.row] = ""
        if chosen >= len(NEAR_BEST) - len(locked):
            reasons[one.row] = ENOUGH
        elif one.score < NEAR_BEST[chosen] * fitting[0].score:
            reasons[one.row] = TOO_LITTLE
        else:
            chosen += 1
    return reasons


def _sort_key(one: Recalled) -> tuple[float, int, str]:
    return -one.score, -one.memory.created, one.memory.id


def explain(found: Recall, limit: int = _MAX_EXPLAINED) -> list[Explanation]:
    """Explain the chosen memories and the best of the others."""
    shown = [*found.chosen, *(one for one in found.left_out if one.score > 0)]
    return [
        Explanation(one, _describe_layers(one), one.against or "in")
        for one in shown[: len(found.chosen) + limit]
    ]


def describe_prompt(found: Recall) -> str:
    """Describe how the prompt was understood, in one line."""
    prompt = found.prompt
    if prompt.quiet:
        return f"Needs nothing: {prompt.quiet}."
    named = sorted(prompt.topics, key=lambda name: (-prompt.topics[name], name))
    parts = [f"topics: {', '.join(named[:8])}" if named else "no topic that is known"]
    parts += [f"paths: {len(prompt.paths)}"] if prompt.paths else []
    parts += ["in a folder of the project"] if prompt.folder else []
    parts += ["worded like one that needs nothing"] if prompt.faint else []
    parts += ["names no subject"] if not prompt.subjects else []
    return "; ".join(parts)


def _describe_layers(one: Recalled) -> tuple[str, ...]:
    found = []
    for name, shown in _LAYER_NAMES.items():
        if name in one.parts:
            why = f" ({', '.join(one.why)})" if name == "topics" and one.why else ""
            found.append(f"{shown} {one.parts[name]:.2f}{why}")
    use = _describe_use(one.memory)
    return (*found, use) if use else tuple(found)


def _describe_use(memory: Memory) -> str:
    """Describe how past use changed a score; empty if it did not."""

    def times(count: int) -> str:
        return "once" if count == 1 else f"{count} times" if count else "never"

    learned = measure_use(memory)
    if not learned:
        return ""
    again = f", said again {times(memory.repeated)}" if memory.repeated else ""
    return f"use {learned:+.0%} (shown {times(memory.shown)}, followed {times(memory.followed)}{again})"
