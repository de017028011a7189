"""Fits linear models to sparse features by gradient descent, deterministic and without any package."""

from __future__ import annotations

import math
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROUNDS = 250
_STEP = 0.05
_LARGEST = 30.0


class Group(NamedTuple):
    """The sentences of one message, which of them are right answers, and how much the message counts."""

    features: list[dict[str, float]]
    right: list[bool]
    weight: float = 1.0


def fit_groups(groups: Sequence[Group], weakness: Mapping[str, float]) -> dict[str, float]:
    """Learn which sentences are right answers.

    Half of the loss asks of each sentence whether it is one; the other half asks of each message for one of
    its right answers, or for none where there is none, which forgives a neighbour that says the same.

    Args:
        groups: Messages with their sentences.
        weakness: The features to give a weight, and how strongly it is drawn to zero; "" is the bias.
    """
    names = list(weakness)
    pulls = list(weakness.values())
    place = {name: number for number, name in enumerate(names)}
    sparse = [
        (
            [[place[name] for name in one if name in place] for one in group.features],
            group.right,
            group.weight,
        )
        for group in groups
        if group.features
    ]
    weights = [0.0] * len(names)
    bias = place[""]
    weights[bias] = -2.0
    descent = Adam(len(names))
    for _ in range(_ROUNDS):
        slope = [pull * weight for pull, weight in zip(pulls, weights, strict=True)]
        for sentences, right, share in sparse:
            raised = [_raised(weights[bias] + sum([weights[at] for at in one])) for one in sentences]
            total = 1.0 + sum(raised)
            wanted = sum(one for one, is_right in zip(raised, right, strict=True) if is_right)
            for one, chance, is_right in zip(sentences, raised, right, strict=True):
                alone = chance / (1.0 + chance) - is_right
                among = chance / total - (chance / wanted if is_right else 0.0)
                error = 0.5 * share * (alone + among)
                slope[bias] += error
                for at in one:
                    slope[at] += error
        descent.step(weights, slope)
    return dict(zip(names, weights, strict=True))


def fit_classes(
    examples: Sequence[tuple[Mapping[str, float], int]], names: Sequence[str], classes: int, weakness: float
) -> dict[str, list[float]]:
    """Learn which of several classes an example is in; "" is the bias."""
    place = {name: number for number, name in enumerate(names)}
    sparse = [
        ([place[name] for name in features if name in place] + [place[""]], label)
        for features, label in examples
    ]
    size = len(names) * classes
    weights = [0.0] * size
    descent = Adam(size)
    for _ in range(_ROUNDS):
        slope = [weakness * weight for weight in weights]
        for features, label in sparse:
            totals = [sum([weights[at * classes + one] for at in features]) for one in range(classes)]
            top = max(totals)
            raised = [math.exp(total - top) for total in totals]
            whole = sum(raised)
            for one in range(classes):
                error = raised[one] / whole - (one == label)
                for at in features:
                    slope[at * classes + one] += error
        descent.step(weights, slope)
    return {name: weights[at * classes : (at + 1) * classes] for name, at in place.items()}


def _raised(total: float) -> float:
    return math.exp(max(-_LARGEST, min(_LARGEST, total)))


class Adam:
    """Steps along a slope, each weight at a pace of its own."""

    def __init__(self, size: int) -> None:
        self._first = [0.0] * size
        self._second = [0.0] * size
        self._round = 0

    def step(self, weights: list[float], slope: Sequence[float]) -> None:
        """Move the weights one step down."""
        self._round += 1
        first_share = 1 - 0.9**self._round
        second_share = 1 - 0.999**self._round
        for at, value in enumerate(slope):
            self._first[at] = 0.9 * self._first[at] + 0.1 * value
            self._second[at] = 0.999 * self._second[at] + 0.001 * value * value
            pace = math.sqrt(self._second[at] / second_share) + 1e-8
            weights[at] -= _STEP * self._first[at] / first_share / pace
