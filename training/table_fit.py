"""Fit a table of word pieces so that paired texts become similar.

A row is `weight x (teacher's vector @ projection) + own`; a text's vector is the sum of its rows, brought to
one length. The projection, which all rows share, moves words along that no training text has; `own` is what
a word learned by itself, and `asked` what it means beside that where somebody asks with it. The loss asks for
each text to be nearest to its own other half among those of a batch, both ways.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Whole = np.ndarray[Any, np.dtype[np.int64]]
Bag = Sequence[int]

_STEP, _PROJECTION_STEP = 1.5e-3, 5e-4
_LAST_STEP = 0.1  # the share of a step that is left at the end
_LEFT_OUT = 0.15  # of the pieces of a text, another part each time: so no text is learned by heart
_FEW_PIECES = 4  # of which none is left out


class Pair(NamedTuple):
    """The pieces of two texts that belong together."""

    left: Bag
    right: Bag
    group: int = -1  # pairs of one group share a text: none is a wrong answer to another


class Batch(NamedTuple):
    """Pairs that are told apart from each other."""

    pairs: Sequence[Pair]
    temperature: float
    weight: float = 1.0
    asking: bool = True  # the left text asks for the right one


class Fit:
    """A table in the making."""

    def __init__(
        self, vectors: Floats, projection: Floats, weights: Floats, *, steps: int, asks: Collection[int] = ()
    ) -> None:
        """Begin with the teacher's vectors.

        Args:
            vectors: Of every row.
            projection: From the teacher's dimensions to those of the table.
            weights: How much each row counts at first.
            steps: How many there will be; they become smaller.
            asks: The rows that mean something of their own where somebody asks with them.
        """
        scale = np.linalg.norm(weights[:, None] * (vectors @ projection), axis=1).mean()
        self.vectors = (weights[:, None] * vectors / scale).astype(np.float32)
        self.values = {
            "projection": projection.astype(np.float32),
            "logs": np.zeros(len(vectors), np.float32),
            "own": np.zeros((len(vectors), projection.shape[1]), np.float32),
            "asked": np.zeros((len(vectors), projection.shape[1]), np.float32),
        }
        self.asks = np.zeros((len(vectors), 1), np.float32)
        self.asks[sorted(asks)] = 1
        self._moments = {name: (np.zeros_like(of), np.zeros_like(of)) for name, of in self.values.items()}
        self._steps, self._all_steps = 0, steps
        self._random = np.random.default_rng(0)

    def table(self, *, asking: bool = False) -> Floats:
        """Return the rows as they are now."""
        every = np.arange(len(self.vectors))
        rows: Floats = self.of_teacher(every) + self.added(every, asking=asking)
        return rows

    def of_teacher(self, numbers: Whole) -> Floats:
        """Return what the teacher says of some of the rows."""
        weighted = np.exp(self.values["logs"][numbers])[:, None] * self.vectors[numbers]
        rows: Floats = weighted @ self.values["projection"]
        return rows

    def added(self, numbers: Whole, *, asking: bool) -> Floats:
        """Return what some of the rows learned by themselves."""
        own: Floats = self.values["own"][numbers]
        return own + self.asks[numbers] * self.values["asked"][numbers] if asking else own

    def step(self, batches: Sequence[Batch]) -> float:
        """Learn from some pairs; return the loss."""
        slopes = {name: np.zeros_like(of) for name, of in self.values.items()}
        loss = sum(batch.weight * self._learn(batch, slopes) for batch in batches)
        self._steps += 1
        left = 1 - (1 - _LAST_STEP) * self._steps / self._all_steps
        for name, of in self.values.items():
            first, second = self._moments[name]
            first += 0.1 * (slopes[name] - first)
            second += 0.001 * (slopes[name] ** 2 - second)
            size = _PROJECTION_STEP if name == "projection" else _STEP
            corrected = np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
            np.subtract(of, size * left * corrected * first / (np.sqrt(second) + 1e-8), out=of)
        return loss

    def _learn(self, batch: Batch, slopes: dict[str, Floats]) -> float:
        """Add to the slopes how the loss of a batch changes."""
        left = _Side(self, [self._some(pair.left) for pair in batch.pairs], asking=batch.asking)
        right = _Side(self, [self._some(pair.right) for pair in batch.pairs])
        logits = left.units @ right.units.T / batch.temperature
        own = np.arange(len(logits))
        groups = np.array([pair.group for pair in batch.pairs])
        alike = (groups[:, None] == groups) & (groups >= 0)
        alike[own, own] = False
        logits[alike] = -1e4
        across, down = _softmax(logits), _softmax(logits.T).T
        slope = (across + down) / 2
        slope[own, own] -= 1
        slope *= batch.weight / (batch.temperature * len(logits))
        left.add_slopes(slope @ right.units, slopes)
        right.add_slopes(slope.T @ left.units, slopes)
        return float(-(np.log(across[own, own] + 1e-9) + np.log(down[own, own] + 1e-9)).mean() / 2)

    def _some(self, bag: Bag) -> Bag:
        if len(bag) < _FEW_PIECES:
            return bag
        kept = self._random.random(len(bag)) >= _LEFT_OUT
        return [piece for piece, keep in zip(bag, kept, strict=True) if keep] or bag


class _Side:
    """The left or right texts of a batch."""

    def __init__(self, fit: Fit, bags: Sequence[Bag], *, asking: bool = False) -> None:
        counts = np.array([len(bag) for bag in bags])
        pieces = np.concatenate([np.asarray(bag) for bag in bags])
        self._fit, self._asking = fit, asking
        self._numbers, self._places = np.unique(pieces, return_inverse=True)
        self._text = np.repeat(np.arange(len(bags)), counts)
        self._of_teacher = fit.of_teacher(self._numbers)
        rows = self._of_teacher + fit.added(self._numbers, asking=asking)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        sums = np.add.reduceat(rows[self._places], starts, axis=0)
        self._lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
        self.units = sums / self._lengths

    def add_slopes(self, slope: Floats, slopes: dict[str, Floats]) -> None:
        """Add the gradient of the rows, from that of the vectors."""
        of_sums = (slope - (slope * self.units).sum(axis=1, keepdims=True) * self.units) / self._lengths
        order = np.argsort(self._places, kind="stable")
        starts = np.flatnonzero(np.diff(self._places[order], prepend=-1))
        of_rows = np.add.reduceat(of_sums[self._text[order]], starts, axis=0)
        slopes["own"][self._numbers] += of_rows
        if self._asking:
            slopes["asked"][self._numbers] += self._fit.asks[self._numbers] * of_rows
        slopes["logs"][self._numbers] += (self._of_teacher * of_rows).sum(axis=1)
        weighted = np.exp(self._fit.values["logs"][self._numbers])[:, None] * self._fit.vectors[self._numbers]
        slopes["projection"] += weighted.T @ of_rows


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares
