"""Sets the weights and floors of recall: `python -m training.recall [FILE …]`.

They are moved one after the other, each to where the projects are served best, until none moves any more.
Printed are the values to write into `memory/recall.py` and `memory/_recall_layers.py`, and how projects do.

The lists of topics were written with most projects in sight, so topics look surer there than they are where
nobody looked. On these projects a share of the topics is hidden, by the hash of the prompt and the topic.
The projects in `invented.SET_ON` were written before anything was set by them. Beside them are others, which
nothing is set on: `python -m benchmarks surface --fresh` looks at all of them.
"""

from __future__ import annotations

import sys
from functools import cache
from hashlib import blake2s

from benchmarks import invented, surface
from told.memory import _recall_layers as layers
from told.memory import recall as policy
from told.store.memories import Memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Values = dict[str, float]
    Asked = tuple[dict[str, Any], Any, int]

HIDDEN = 0.6  # of the topics, so that they say about as much as in projects that nobody looked at
BUDGET = 450
# What is tried for each, in the order in which they are moved.
TRIED = {
    "weight meaning": (0.55, 0.65, 0.75, 0.9, 1.05),
    "NEAR": (-0.1, -0.05, 0.0, 0.05, 0.1),
    "NEAREST": (0.3, 0.4, 0.5, 0.6),
    "weight topics": (0.2, 0.28, 0.34, 0.4),
    "weight words": (0.15, 0.2, 0.25, 0.3),
    "weight triggers": (0.2, 0.3, 0.4),
    "FLOOR": (0.24, 0.27, 0.3, 0.33, 0.36),
    "MEANING_FLOOR": (0.24, 0.28, 0.32, 0.36, 0.4, 0.44),
    "WORDS_FLOOR": (0.15, 0.17, 0.2, 0.23),
    "NEAR_BEST": (0.6, 0.65, 0.7, 0.75, 0.8),
    "MOST": (3, 4),
    "FAINT": (2.0, 3.0, 4.0),
}
_ROUNDS = 2
_LAYERS = ("NEAR", "NEAREST")
_by_topics = layers.by_topics


def remember_what_does_not_change() -> None:
    """Work out only once what no value has a part in: it is most of the work."""
    policy.structure = cache(policy.structure)
    policy.about_of = cache(policy.about_of)
    known: dict[Any, Any] = {}

    def once(function: Any, key: Any) -> Any:
        def found(*given: Any) -> Any:
            name = (function, *key(*given))
            if name not in known:
                known[name] = function(*given)
            return known[name]

        return found

    policy.candidates = once(policy.candidates, lambda bank, prompt, ask: (id(bank), prompt.text, ask.folder))
    policy.near_meaning = once(policy.near_meaning, lambda bank, text, _, also: (id(bank), text, tuple(also)))
    Memories.load = once(Memories.load, lambda bank, rows: (id(bank), tuple(rows)))  # type: ignore[method-assign]
    layers.by_entities = once(layers.by_entities, lambda prompt, rows: (prompt.text, prompt.folder, *rows))
    layers.by_triggers = once(layers.by_triggers, lambda prompt, rows: (prompt.text, prompt.folder, *rows))
    layers.places_in = cache(layers.places_in)


def main(arguments: Sequence[str]) -> None:
    """Set the values and print them."""
    fresh = [one for one in invented.projects(invented.FRESH) if one["project"] in invented.SET_ON]
    known = invented.projects()
    for path in arguments:
        known += surface.load(path)
    remember_what_does_not_change()
    groups = [(prepared(fresh), 0.0, 1.0), (asked := prepared(known), HIDDEN, 1.0), (asked, 0.0, 0.5)]
    best = settled(groups)
    for name, value in best.items():
        print(f"{name:18} {value}")
    put(best)
    for name, group in (("set on", groups[0]), ("known, topics hidden", groups[1]), ("known", groups[2])):
        print(f"{name}:", figures(group[0], group[1]))


def prepared(projects: Sequence[dict[str, Any]]) -> list[Asked]:
    """Return the projects with their stores and the time at which they are asked."""
    return [
        (one, surface.bank(one), max(surface.moment(memory["date"]) for memory in one["memories"]) + _LATER)
        for one in projects
    ]


def settled(groups: Sequence[tuple[list[Asked], float, float]]) -> Values:
    """Return the values that serve projects best: groups with a share of hidden topics and a weight."""
    best = {name: current(name) for name in TRIED}
    reached = worth(groups, best)
    for _ in range(_ROUNDS):
        before = dict(best)
        for name, values in TRIED.items():
            for value in values:
                tried = {**best, name: value}
                if value != best[name] and (found := worth(groups, tried)) > reached + 1e-6:
                    best, reached = tried, found
        if best == before:
            break
    return best


def worth(groups: Sequence[tuple[list[Asked], float, float]], values: Values) -> float:
    """Return how well values serve: for what is found, against what is said in vain or does harm."""
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
    layers.by_topics = _by_topics if not hidden else _hiding(hidden)  # type: ignore[assignment]
    try:
        chosen = {
            prompt["id"]: surface.choose(bank, project, prompt, now, BUDGET)
            for project, bank, now in asked
            for prompt in project["prompts"]
        }
    finally:
        layers.by_topics = _by_topics
    return surface.summary([project for project, _, _ in asked], chosen)


def current(name: str) -> float:
    """Return a value as it is in the code."""
    if name.startswith("weight "):
        return policy.WEIGHTS[name.removeprefix("weight ")]
    value: float = getattr(layers if name in _LAYERS else policy, name)
    return value


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
        return _by_topics(prompt, named, kept)

    return hidden


def _chance(text: str) -> float:
    return int.from_bytes(blake2s(text.encode(), digest_size=4).digest(), "big") / 2**32


_LATER = 30 * 86_400_000

if __name__ == "__main__":
    main(sys.argv[1:])
