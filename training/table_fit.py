"""Moves a table of word pieces so that two texts that mean about the same come near each other.

A row is `weight x (teacher's vector @ projection)`; a text's vector is the mean of its rows. Only the
projection, which all rows share, and one weight a row are learned, so words that no training text has move
along with the others. The loss asks for each text to be nearest to its own other half among those of a
batch, both ways.
"""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Floats = np.ndarray[Any, np.dtype[np.float32]]
    Bag = Sequence[int]

_TEMPERATURE = 0.05
_BATCH = 512
_TOGETHER = 64  # pairs in a row stay in one batch: those of the same file are the hardest to tell apart
_PROJECTION_STEP = 3e-4
_WEIGHT_STEP = 1e-3
_SEED = 0


class Fit:
    """A table in the making."""

    def __init__(self, vectors: Floats, projection: Floats, weights: Floats) -> None:
        self._vectors = vectors.astype(np.float32)
        self._start = weights.astype(np.float32)
        self._projection = projection.astype(np.float32)
        self._logs = np.zeros(len(vectors), np.float32)
        self._moments: dict[str, tuple[Floats, Floats]] = {
            "projection": (np.zeros_like(self._projection), np.zeros_like(self._projection)),
            "logs": (np.zeros_like(self._logs), np.zeros_like(self._logs)),
        }
        self._steps = 0

    def table(self) -> Floats:
        """Return the rows as they are now."""
        rows: Floats = (np.exp(self._logs) * self._start)[:, None] * (self._vectors @ self._projection)
        return rows

    def epoch(self, lefts: Sequence[Bag], rights: Sequence[Bag]) -> float:
        """Go over all pairs once and return the mean loss."""
        random = np.random.default_rng(_SEED)
        runs = [
            np.arange(start, min(start + _TOGETHER, len(lefts))) for start in range(0, len(lefts), _TOGETHER)
        ]
        order = np.concatenate([runs[at] for at in random.permutation(len(runs))])
        losses = []
        for start in range(0, len(order) - _BATCH + 1, _BATCH):
            batch = order[start : start + _BATCH]
            losses.append(self._step([lefts[at] for at in batch], [rights[at] for at in batch]))
        return float(np.mean(losses))

    def _step(self, lefts: Sequence[Bag], rights: Sequence[Bag]) -> float:
        self._steps += 1
        left, right = _Side(self, lefts), _Side(self, rights)
        logits = left.units @ right.units.T / _TEMPERATURE
        across, down = _softmax(logits), _softmax(logits.T).T
        own = np.arange(len(logits))
        gradient = (across + down) / 2
        gradient[own, own] -= 1
        gradient /= _TEMPERATURE * len(logits)
        of_logs = np.zeros_like(self._logs)
        of_projection = left.pulled(gradient @ right.units, of_logs)
        of_projection = of_projection + right.pulled(gradient.T @ left.units, of_logs)
        self._move("projection", self._projection, of_projection, _PROJECTION_STEP)
        seen = np.flatnonzero(of_logs)
        self._move("logs", self._logs, of_logs[seen], _WEIGHT_STEP, seen)
        return float(-np.log(across[own, own] + 1e-9).mean())

    def _move(self, name: str, values: Floats, gradient: Floats, step: float, seen: Any = ...) -> None:
        """Take a step of Adam on the values that the batch has seen."""
        first, second = self._moments[name]
        first[seen] = 0.9 * first[seen] + 0.1 * gradient
        second[seen] = 0.999 * second[seen] + 0.001 * gradient * gradient
        correction = np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        values[seen] -= step * correction * first[seen] / (np.sqrt(second[seen]) + 1e-8)


class _Side:
    """One side of a batch, with what its gradient needs."""

    def __init__(self, fit: Fit, bags: Sequence[Bag]) -> None:
        counts = np.array([len(bag) for bag in bags])
        self._rows = np.concatenate([np.asarray(bag) for bag in bags])
        self._text = np.repeat(np.arange(len(bags)), counts)
        self._weights = np.exp(fit._logs[self._rows]) * fit._start[self._rows]  # noqa: SLF001 - a part of it
        self._vectors = fit._vectors[self._rows]  # noqa: SLF001
        self._projection = fit._projection  # noqa: SLF001
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._sums = np.add.reduceat(self._vectors * self._weights[:, None], starts, axis=0)
        projected = self._sums @ self._projection
        self._lengths = np.linalg.norm(projected, axis=1, keepdims=True) + 1e-6
        self.units = projected / self._lengths

    def pulled(self, gradient: Floats, of_logs: Floats) -> Floats:
        """Return the gradient of the projection, and add that of the weights' logarithms to `of_logs`."""
        of_sums = (gradient - (gradient * self.units).sum(axis=1, keepdims=True) * self.units) / self._lengths
        back = of_sums @ self._projection.T
        np.add.at(of_logs, self._rows, self._weights * (self._vectors * back[self._text]).sum(axis=1))
        found: Floats = self._sums.T @ of_sums
        return found


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares
