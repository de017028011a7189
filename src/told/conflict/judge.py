"""Judge how a new statement relates to an old one.

A linear model names the likeliest relation. Statements about different subjects are never called a
replacement. Whether the old statement ends is decided by what the new one says itself (`change.py`); a
replacement that only the model sees is likely, and told asks before it ends anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp
from typing import Any, NamedTuple

from told.conflict.change import find_ending, find_rest
from told.conflict.features import extract_features, measure_common, share_anything
from told.conflict.reading import Reading, read_statement
from told.conflict.subjects import find_difference

REPLACES = "replaces"
REPEATS = "repeats"
REFINES = "refines"
CONTRADICTS_SCOPE = "contradicts_scope"
INDEPENDENT = "independent"
LABELS = (REPLACES, REPEATS, REFINES, CONTRADICTS_SCOPE, INDEPENDENT)

MIN_REPLACES = 0.75  # probability at which a statement is called a replacement
_MIN_COMMON = 0.3  # share of an old statement that one of many must take up to be replaced
# The reasons worth naming to a user, strongest first, and the reason if none of them applies.
_REASONS = {
    REPLACES: (
        ("back", "goes back to what it was before"),
        ("slot_rejected", "drops what the old one names"),
        ("number_other", "gives another number"),
        ("slot_other", "names another choice for the same thing"),
        ("ends", "denies what the old one says"),
        ("allows", "allows what the old one forbids"),
        ("change", "announces a change of the same thing"),
        ("bias", "changes the same thing"),
    ),
    REPEATS: (("both", "says the same in other words"), ("bias", "says the same")),
    REFINES: (
        ("except", "adds a condition or an exception"),
        ("allow", "adds an exception"),
        ("add", "adds a detail"),
        ("number_new", "adds a figure"),
        ("bias", "adds to it"),
    ),
    CONTRADICTS_SCOPE: (
        ("path", "differs, but for another folder"),
        ("area", "differs, but for another part"),
        ("limited", "differs, but for another place"),
        ("bias", "differs, but elsewhere"),
    ),
    INDEPENDENT: (("none", "nothing in common"), ("bias", "about something else")),
}


class Relation(NamedTuple):
    """How a new statement relates to an old one."""

    label: str
    certainty: float
    why: str
    ends: bool = False  # the new one says itself that the old one is no longer true
    chance: float = 0.0  # that it replaces the old one
    differs: bool = False  # both are about different subjects


@cache
def load_weights() -> dict[str, Any]:
    """Load the weights that `python -m training.supersede` wrote."""
    with open(os.path.join(os.path.dirname(__file__), "weights.json"), "rb") as file:
        loaded: dict[str, Any] = json.load(file)
    return loaded


_read = lru_cache(maxsize=1024)(read_statement)  # a statement that is compared with many is read once


def judge_pair(old: str, new: str, *, older: str = "") -> Relation:
    """Judge a new statement against an old one.

    Args:
        old: A stored statement.
        new: A statement or a message of the user.
        older: The statement that `old` replaced, if any.
    """
    before, now = _read(old), _read(new)
    if before.folded == now.folded:
        return Relation(REPEATS, 1.0, "the same words")
    if not before.words and not now.words:
        return Relation(INDEPENDENT, 1.0, "nothing in common")
    ending, difference = find_ending(before, now), find_difference(before, now)
    features = extract_features(before, now, _read(older) if older else None)
    chances = estimate(features)
    return choose_relation(chances, features, ending, difference)


def choose_relation(
    chances: dict[str, float], features: dict[str, float], ending: str, difference: str
) -> Relation:
    """Choose the relation from probabilities and from what the statements say.

    Args:
        chances: The probability of each relation.
        features: The features of the pair, for the reason.
        ending: Why the new one ends the old one by its own words.
        difference: Why both are about different subjects.
    """
    chance = round(chances[REPLACES], 3)
    if ending:
        return Relation(REPLACES, max(chance, MIN_REPLACES), ending, ends=True, chance=1.0)
    labels = [one for one in LABELS if one != REPLACES or chance >= MIN_REPLACES]
    if difference:
        labels, chance = [REFINES, CONTRADICTS_SCOPE, INDEPENDENT], 0.0
    elif features.get("ends") and features.get("allows"):
        labels.remove(REPEATS)  # "use npm, not pnpm" and "use pnpm, not npm"
    label = max(labels, key=lambda one: chances[one])
    if difference and label == INDEPENDENT:
        return Relation(label, round(1 - chances[REPLACES], 3), difference, differs=True)
    why = next(text for name, text in _REASONS[label] if features.get(name))
    return Relation(label, round(chances[label], 3), why, chance=chance, differs=bool(difference))


def judge_many(new: str, candidates: Sequence[str]) -> list[Relation]:
    """Judge a new statement against several possibly unrelated ones.

    Most of them only share a word, so a replacement that the new one does not state itself needs more in
    common with the old one than in a pair of which one refers to the other.
    """
    return [_judge_one_of_many(old, new) for old in candidates]


def _judge_one_of_many(old: str, new: str) -> Relation:
    before, now = _read(old), _read(new)
    if not share_anything(before, now) and before.folded != now.folded:
        return Relation(INDEPENDENT, 1.0, "nothing in common")
    found = judge_pair(old, new)
    if found.ends or not found.chance or measure_common(before, now) >= _MIN_COMMON:
        return found
    if found.label == REPLACES and find_rest(before, now):
        return found  # "Dublin is gone" names a part of a list, and nothing else
    if found.label != REPLACES:
        return found._replace(chance=0.0)
    return Relation(INDEPENDENT, round(1 - found.chance, 3), "too little in common")


def read_cached(text: str) -> Reading:
    """Read a statement that is compared with many once."""
    return _read(text)


def estimate(features: dict[str, float]) -> dict[str, float]:
    """Return the probability of each relation."""
    weights = load_weights()
    scores = [0.0] * len(LABELS)
    for name, value in features.items():
        for place, weight in enumerate(weights.get(name, ())):
            scores[place] += weight * value / 100
    top = max(scores)
    parts = [exp(score - top) for score in scores]
    total = sum(parts)
    return {label: part / total for label, part in zip(LABELS, parts, strict=True)}
