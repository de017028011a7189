"""Set the weights and floors of recall: `python -m training.recall [FILE …]`.

The values are changed one after the other, each to the best for the projects, until none changes. It prints
the values to write into `recall/recall.py` and `recall/layers.py`, and the figures of the projects.

The lists of topics were written with most projects known, so a share of the topics is hidden there, by the
hash of the prompt and the topic. The projects in `invented.SET_ON` were written before any value was set by
them; `python -m benchmarks surface --fresh` also measures others, which nothing is set on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from hashlib import blake2s
from typing import Any

from benchmarks import invented, surface
from told.recall import layers
from told.recall import recall as policy
from told.store.memories.protocol import Memories

Values = dict[str, Any]
Asked = tuple[dict[str, Any], Any, int]

HIDDEN = 0.6  # share of the topics, so that they tell about as much as in unseen projects
BUDGET = 450
# The values to try, in order.
TRIED = {
    "weight meaning": (0.55, 0.65, 0.75, 0.9, 1.05),
    "NEAR": (-0.1, -0.05, 0.0, 0.05, 0.1),
    "NEAREST": (0.3, 0.4, 0.5, 0.6),
    "weight topics": (0.2, 0.28, 0.34, 0.4),
    "weight words": (0.15, 0.2, 0.25, 0.3),
    "weight triggers": (0.2, 0.3, 0.4),
    "FLOOR": (0.27, 0.3, 0.33, 0.36),
    "WORDS_FLOOR": (0.15, 0.2, 0.25),
    "NEAR_BEST": ((0.0, 0.57, 0.57, 0.57, 0.57), (0.0, 0.5, 0.5, 0.7, 0.7), (0.0, 0.5, 0.5, 0.75, 0.85)),
    "FAINT": (2.0, 3.0, 4.0),
}
_ROUNDS = 2
_LAYERS = ("NEAR", "NEAREST")
_score_topics = layers.score_topics


def cache_constant_parts() -> None:
    """Cache everything that does not depend on the values."""
    policy.read_prompt = cache(policy.read_prompt)
    policy.parse_about = cache(policy.parse_about)
    known: dict[Any, Any] = {}

    def once(function: Any, key: Any) -> Any:
        def found(*given: Any) -> Any:
            name = (function, *key(*given))
            if name not in known:
                known[name] = function(*given)
            return known[name]

        return found

    policy.find_candidates = once(
        policy.find_candidates, lambda bank, prompt, request: (id(bank), prompt.text, request.folder)
    )
    policy.find_similar = once(
        policy.find_similar, lambda bank, text, _, also, most: (id(bank), text, tuple(also), most)
    )
    Memories.load = once(Memories.load, lambda bank, rows: (id(bank), tuple(rows)))  # type: ignore[method-assign]
    layers.score_entities = once(layers.score_entities, _prompt_key)
    layers.score_triggers = once(layers.score_triggers, _prompt_key)
    layers.find_places = cache(layers.find_places)


def _prompt_key(prompt: Any, rows: Any) -> tuple[Any, ...]:
    return (prompt.text, prompt.folder, *rows)


def main(arguments: Sequence[str]) -> None:
    """Set the values and print them."""
    fresh = [one for one in invented.projects(invented.FRESH) if one["project"] in invented.SET_ON]
    known = invented.projects()
    for path in arguments:
        known += surface.load(path)
    cache_constant_parts()
    groups = [(prepare(fresh), 0.0, 1.0), (asked := prepare(known), HIDDEN, 1.0), (asked, 0.0, 0.5)]
    best = optimise(groups)
    for name, value in best.items():
        print(f"{name:18} {value}")
    put(best)
    for name, group in (("set on", groups[0]), ("known, topics hidden", groups[1]), ("known", groups[2])):
        print(f"{name}:", figures(group[0], group[1]))


def prepare(projects: Sequence[dict[str, Any]]) -> list[Asked]:
    """Return projects with their stores and the time of asking."""
    return [
        (one, surface.bank(one), max(surface.moment(memory["date"]) for memory in one["memories"]) + _LATER)
        for one in projects
    ]


def optimise(groups: Sequence[tuple[list[Asked], float, float]]) -> Values:
    """Return the best values for groups with hidden topics and a weight."""
    best = {name: current(name) for name in TRIED}
    reached = rate(groups, best)
    for _ in range(_ROUNDS):
        before = dict(best)
        for name, values in TRIED.items():
            for value in values:
                tried = {**best, name: value}
                if value != best[name] and (found := rate(groups, tried)) > reached + 1e-6:
                    best, reached = tried, found
        if best == before:
            break
    return best


def rate(groups: Sequence[tuple[list[Asked], float, float]], values: Values) -> float:
    """Rate values by recall, wasted tokens, silence and harm."""
    put(values)
    total = 0.0
    for asked, hidden, weight in groups:
        found = figures(asked, hidden)
        total += weight * (
            found["must_recall"] + 0.5 * found["must_recall_no_shared_word"]
            + 1.5 * min(0.5, found["token_precision"] or 0.0) + 0.5 * min(0.95, found["silence_share"])
            - 3.0 * found["harmful_share"]
        )  # fmt: skip
    return total


def figures(asked: Sequence[Asked], hidden: float) -> dict[str, Any]:
    """Return how the present values do on some projects."""
    layers.score_topics = _score_topics if not hidden else _hiding(hidden)  # type: ignore[assignment]
    try:
        chosen = {
            prompt["id"]: surface.choose(bank, project, prompt, now, BUDGET)
            for project, bank, now in asked
            for prompt in project["prompts"]
        }
    finally:
        layers.score_topics = _score_topics
    return surface.summary([project for project, _, _ in asked], chosen)


def current(name: str) -> Any:
    """Return a value as it is in the code."""
    if name.startswith("weight "):
        return policy.WEIGHTS[name.removeprefix("weight ")]
    return getattr(layers if name in _LAYERS else policy, name)


def put(values: Values) -> None:
    """Let recall use values."""
    for name, value in values.items():
        if name.startswith("weight "):
            policy.WEIGHTS[name.removeprefix("weight ")] = value
        else:
            setattr(layers if name in _LAYERS else policy, name, value)


def _hiding(share: float) -> Any:
    def hidden(prompt: Any, named: dict[int, dict[str, float]], rarity: dict[str, float]) -> Any:
        kept = {name: told for name, told in rarity.items() if _chance(prompt.text + name) >= share}
        return _score_topics(prompt, named, kept)

    return hidden


def _chance(text: str) -> float:
    return int.from_bytes(blake2s(text.encode(), digest_size=4).digest(), "big") / 2**32


_LATER = 30 * 86_400_000

if __name__ == "__main__":
    main(sys.argv[1:])
