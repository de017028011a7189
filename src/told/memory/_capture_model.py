"""Applies the trained weights to the features of a sentence."""

from __future__ import annotations

from math import exp

from told.memory._capture_weights import BIAS, WEIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def odds(features: Mapping[str, float]) -> float:
    """Return how likely a sentence is worth keeping, from 0 to 1."""
    total = BIAS + sum(WEIGHTS.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))
