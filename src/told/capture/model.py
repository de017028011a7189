"""Score sentences: how likely each teaches something, and its kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path

from told.capture.features import SLOTS, Block, Described, describe
from told.capture.sentences import Sentence

KINDS = ("rule", "decision", "fact")
_FOLDER = Path(__file__).parent
_LIMIT = 30.0  # of a score before it becomes a probability


@dataclass(frozen=True, slots=True)
class Weights:
    """What `python -m training.capture` learned; a table has one signed byte per slot."""

    teaches: bytes
    bias: float
    step: float  # what 1 in the table means
    kinds: tuple[bytes, ...]
    kind_biases: tuple[float, ...]
    kind_step: float
    memory: float  # least probability of a memory
    candidate: float  # least probability of a candidate


@cache
def load_weights() -> Weights:
    """Load the weights that come with told."""
    return read_weights(_FOLDER / "weights.json", _FOLDER / "weights.bin")


def read_weights(numbers: Path, tables: Path) -> Weights:
    """Read weights from two files: numbers as JSON, and tables."""
    known = json.loads(numbers.read_text(encoding="utf-8"))
    data = tables.read_bytes()
    cut = [data[start : start + SLOTS] for start in range(0, len(data), SLOTS)]
    return Weights(
        cut[0], known["bias"], known["step"], tuple(cut[1:]), tuple(known["kind_biases"]), known["kind_step"],
        known["memory"], known["candidate"],
    )  # fmt: skip


def score_sentences(
    sentences: Sequence[Sentence], message: str, before: str = "", weights: Weights | None = None
) -> list[float]:
    """Return how likely each sentence teaches something, from 0 to 1."""
    weights = weights or load_weights()
    return score_described(describe(sentences, message, before), weights)


def score_described(described: Described, weights: Weights) -> list[float]:
    """Return the probability of each described sentence."""
    shared = _sum_blocks(described.shared, weights.teaches)
    totals = (shared + _sum_blocks(own, weights.teaches) for own in described.own)
    return [_squash(weights.bias + weights.step * total) for total in totals]


def classify_kind(own: Sequence[Block], weights: Weights | None = None) -> str:
    """Return rule, decision or fact for a described sentence."""
    weights = weights or load_weights()
    totals = [
        bias + weights.kind_step * _sum_blocks(own, table)
        for bias, table in zip(weights.kind_biases, weights.kinds, strict=True)
    ]
    return KINDS[max(range(len(KINDS)), key=lambda place: (totals[place], -place))]


def _sum_blocks(blocks: Sequence[Block], table: bytes) -> float:
    total = 0.0
    for block in blocks:
        found = sum([(table[slot] ^ 0x80) for slot in block.slots]) - 0x80 * len(block.slots)
        total += block.scale * found
    return total


def _squash(total: float) -> float:
    return 1.0 / (1.0 + exp(-max(-_LIMIT, min(_LIMIT, total))))
