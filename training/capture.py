"""Train capture on real messages: `python -m training.capture --data FILE [--data FILE …]`.

The data is JSON lines, one message each: repo, sampling, message, context and items with quote, kind and
durable. It is not part of this repository. `benchmarks capture --leave-one-out` measures what this learns.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from told.capture.features import SLOTS, Block, describe
from told.capture.language import MODELLED, detect_language
from told.capture.model import KINDS, Weights
from told.capture.sentences import Sentence, split_sentences

OUT = Path(__file__).resolve().parent.parent / "src" / "told" / "capture"
# Least probabilities, set on out-of-fold scores; see `benchmarks capture --leave-one-out`.
MEMORY, CANDIDATE = 0.40, 0.065
_STRENGTH, _KIND_STRENGTH = 2.0, 1.0  # inverse of the L2 penalty
_MIN_MESSAGES = 3  # rarer features say more about their messages than about language
_ROUNDS, _MEMORY_OF_STEPS = 60, 7  # of L-BFGS
_LARGEST = 127  # of a signed byte
_KIND_OF = {"rule": "rule", "preference": "rule", "decision": "decision", "fact": "fact"}
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")

Array = Any  # numpy's own types need a plugin to be checked


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence: its features, whether it teaches, and its kind."""

    repository: str
    blocks: tuple[Block, ...]
    own: tuple[Block, ...]
    teaches: bool
    kind: str


def main(words: Sequence[str]) -> int:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(prog="training.capture", description=__doc__)
    parser.add_argument("--data", action="append", required=True, help="labelled messages, one JSON a line")
    parser.add_argument("--out", default=OUT, type=Path, help="the folder of weights.json and weights.bin")
    arguments = parser.parse_args(words)
    rows = [row for path in arguments.data for row in read_rows(path)]
    examples = [example for row in rows for example in make_examples(row)]
    write_weights(arguments.out, train(examples))
    print(f"{len(rows)} messages, {len(examples)} sentences, {sum(one.teaches for one in examples)} teach.")
    return 0


def read_rows(path: str) -> list[dict[str, Any]]:
    """Read labelled messages."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def make_examples(row: dict[str, Any]) -> list[Example]:
    """Return the sentences of a labelled message in a language with enough data."""
    message = row["message"]
    if detect_language(message) not in MODELLED:
        return []
    sentences = split_sentences(message)
    described = describe(sentences, message, row.get("context") or "")
    kinds = label_sentences(message, sentences, row["items"])
    return [
        Example(row["repo"], (*described.shared, *own), own[:2], bool(kind), _KIND_OF.get(kind, ""))
        for own, kind in zip(described.own, kinds, strict=True)
    ]


def label_sentences(
    message: str, sentences: Sequence[Sentence], items: Sequence[dict[str, Any]]
) -> list[str]:
    """Return the kind of the labelled quote that each sentence carries, or nothing."""
    kinds = [""] * len(sentences)
    for item in items:
        start = message.find(item["quote"])
        end = start + len(item["quote"])
        for place, sentence in enumerate(sentences):
            if not item["durable"] or max(start, sentence.start) >= min(end, sentence.end):
                continue
            shared = len(_WORD.findall(message[max(start, sentence.start) : min(end, sentence.end)]))
            most_of_quote = shared * 2 >= len(_WORD.findall(item["quote"]))
            if most_of_quote or shared >= 0.7 * len(_WORD.findall(sentence.text)):
                kinds[place] = item["kind"]
    return kinds


def train(examples: Sequence[Example]) -> Weights:
    """Learn which sentences teach, and the kinds of those that do."""
    right = np.array([one.teaches for one in examples], float)
    teaches, bias = fit([one.blocks for one in examples], right, _find_common(examples), _STRENGTH)
    kinded = [one for one in examples if one.kind]
    every = np.ones(SLOTS, bool)
    fitted = [
        fit(
            [one.own for one in kinded],
            np.array([one.kind == kind for one in kinded], float),
            every,
            _KIND_STRENGTH,
        )
        for kind in KINDS
    ]
    step = float(np.abs(teaches).max()) / _LARGEST
    kind_step = max(float(np.abs(weights).max()) for weights, _ in fitted) / _LARGEST
    return Weights(
        _to_bytes(teaches, step), bias, step, tuple(_to_bytes(weights, kind_step) for weights, _ in fitted),
        tuple(bias for _, bias in fitted), kind_step, MEMORY, CANDIDATE,
    )  # fmt: skip


def _find_common(examples: Sequence[Example]) -> Array:
    """Return which slots occur often enough, in more than one repository."""
    counts = np.zeros(SLOTS, int)
    first: dict[int, str] = {}
    several = np.zeros(SLOTS, bool)
    for one in examples:
        for block in one.blocks:
            for slot in block.slots:
                counts[slot] += 1
                if first.setdefault(slot, one.repository) != one.repository:
                    several[slot] = True
    return (counts >= _MIN_MESSAGES) & several


def fit(rows: Sequence[Sequence[Block]], right: Array, kept: Array, strength: float) -> tuple[Array, float]:
    """Fit a logistic regression with an L2 penalty; return its weights and bias."""
    places = np.array([slot for row in rows for block in row for slot in block.slots], np.int64)
    scales = np.array([block.scale for row in rows for block in row for _ in block.slots]) * kept[places]
    owner = np.repeat(np.arange(len(rows)), [sum(len(block.slots) for block in row) for row in rows])

    def loss(weights: Array) -> tuple[float, Array]:
        total = np.bincount(owner, scales * weights[places], len(rows)) + weights[-1]
        error = 1 / (1 + np.exp(-total)) - right
        slope = np.bincount(places, scales * error[owner], SLOTS) + weights[:-1] / strength
        value = np.sum(np.logaddexp(0, total) - right * total) + weights[:-1] @ weights[:-1] / strength / 2
        return float(value), np.append(slope, error.sum())

    found = minimise(loss, np.zeros(SLOTS + 1))
    return found[:-1], float(found[-1])


def minimise(loss: Callable[[Array], tuple[float, Array]], start: Array) -> Array:
    """Minimise a smooth function by L-BFGS with backtracking."""
    point, (value, slope) = start, loss(start)
    steps: list[tuple[Array, Array]] = []
    for _ in range(_ROUNDS):
        direction = _find_direction(slope, steps)
        size = 1.0 if steps else 1.0 / max(1.0, float(np.linalg.norm(slope)))
        expected = float(slope @ direction)
        while True:
            nearer = point + size * direction
            new_value, new_slope = loss(nearer)
            if new_value <= value + 1e-4 * size * expected or size < 1e-8:
                break
            size /= 2
        moved, turned = nearer - point, new_slope - slope
        if moved @ turned > 1e-12:
            steps = [*steps, (moved, turned)][-_MEMORY_OF_STEPS:]
        done = abs(value - new_value) < 1e-7 * max(1.0, abs(value))
        point, value, slope = nearer, new_value, new_slope
        if done:
            break
    return point


def _find_direction(slope: Array, steps: Sequence[tuple[Array, Array]]) -> Array:
    direction = -slope
    shares = []
    for moved, turned in reversed(steps):
        share = (moved @ direction) / (moved @ turned)
        direction = direction - share * turned
        shares.append(share)
    if steps:
        moved, turned = steps[-1]
        direction = direction * ((moved @ turned) / (turned @ turned))
    for (moved, turned), share in zip(steps, reversed(shares), strict=True):
        direction = direction + moved * (share - (turned @ direction) / (moved @ turned))
    return direction


def _to_bytes(weights: Array, step: float) -> bytes:
    return bytes(np.clip(np.round(weights / step), -_LARGEST, _LARGEST).astype(np.int8).tobytes())


def write_weights(folder: Path, weights: Weights) -> None:
    """Write weights.json and weights.bin."""
    numbers = {
        "bias": round(weights.bias, 6),
        "step": round(weights.step, 8),
        "kind_biases": [round(bias, 6) for bias in weights.kind_biases],
        "kind_step": round(weights.kind_step, 8),
        "memory": weights.memory,
        "candidate": weights.candidate,
    }
    (folder / "weights.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    (folder / "weights.bin").write_bytes(weights.teaches + b"".join(weights.kinds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
