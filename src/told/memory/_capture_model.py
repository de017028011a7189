"""Applies the trained weights to the features of a sentence."""

from __future__ import annotations

from math import exp

from told.memory._capture_weights import BIAS, WEIGHTS, WORDINGS
from told.snapshot import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WORDING = "w:"  # begins the names of features that are wordings; all others are cues


def table(cues: Mapping[str, float], wordings: Mapping[int, str]) -> dict[str, float]:
    """Return the weights of all features; those of wordings are given in hundredths."""
    weights = dict(cues)
    for hundredths, names in wordings.items():
        weights.update(dict.fromkeys(names.split(), hundredths / 100))
    return weights


_WEIGHTS = kept("told.memory._capture_model:weights", lambda: table(WEIGHTS, WORDINGS))


def odds(features: Mapping[str, float]) -> float:
    """Return how likely a sentence is worth keeping, from 0 to 1."""
    total = BIAS + sum(_WEIGHTS.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


def together(chances: Iterable[float]) -> float:
    """Return how likely at least one of several sentences is worth keeping."""
    none = 1.0
    for chance in chances:
        none *= 1.0 - chance
    return 1.0 - none
