"""Step weights along a slope, deterministically."""

from __future__ import annotations

import math
from collections.abc import Sequence

_STEP = 0.05


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
