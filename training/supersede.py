"""Train the judge of conflict: `python -m training.supersede [--data FILE] [--out FILE]`.

A linear model names the relation of two statements. It learns from labelled pairs, from pairs of stored
statements (replaced, or both true) and from projects, where nearly all pairs are unrelated. The data is JSON
lines with old, new_message, label and older; without any, it learns only from the texts beside this file.
Needs numpy; the same texts give the same weights.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from told.conflict.features import extract_features, share_anything
from told.conflict.judge import INDEPENDENT, LABELS, REPLACES
from told.conflict.reading import read_statement
from training.supersede_data import NOT_REPLACED, Pair, met, pairs, read_rows, statement_pairs
from training.weights_file import SOURCES, write_weights

OUT = SOURCES / "conflict" / "weights.json"
FOLDS = 5
_MIN_SIGN, _MIN_PAIR = 5, 10  # rows in which a word or a pair of words of the message must occur
_ROUNDS, _STEP, _WEAKNESS = 150, 0.05, 3.0
_MET, _STATED = 0.1, 0.1  # weight of a pair of a project, and of two stored statements


class Row(NamedTuple):
    """A pair with its features."""

    pair: Pair
    features: dict[str, float]
    weight: float = 1.0


def main(words: Sequence[str]) -> int:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(prog="training.supersede", description=__doc__)
    parser.add_argument("--data", default="", help="further labelled pairs, one JSON object a line")
    parser.add_argument("--out", default=OUT, help="the file of weights")
    given = parser.parse_args(words)
    labelled = pairs() + (read_rows(given.data) if given.data else [])
    rows = [*map(compare, labelled), *_read_others()]
    weights = train(rows)
    write_weights(given.out, {name: [round(100 * one) for one in found] for name, found in weights.items()})
    print(f"{len(rows)} pairs, {len(weights)} features")
    return 0


def compare(pair: Pair, weight: float = 1.0) -> Row:
    """Compute the features of a pair."""
    older = read_statement(pair.older) if pair.older else None
    return Row(pair, extract_features(read_statement(pair.old), read_statement(pair.new), older), weight)


def judge_folds(rows: Sequence[Row], folds: Sequence[int]) -> list[dict[str, float]]:
    """Judge each row by weights that were learned from the rows of other folds."""
    others = list(_read_others())
    found: list[dict[str, float]] = [{} for _ in rows]
    for fold in sorted(set(folds)):
        used = [row for row, one in zip(rows, folds, strict=True) if one != fold]
        weights = train([*used, *others])
        for at, row in enumerate(rows):
            if folds[at] == fold:
                found[at] = _estimate(row.features, weights)
    return found


def choose_fold(text: str) -> int:
    """Return the fold of a written pair: the same for pairs with the same stored statement."""
    return int(hashlib.sha256(text.lower().encode()).hexdigest(), 16) % FOLDS


def train(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Return the weights of each feature, one for each label."""
    seen = Counter(name for row in rows if row.weight == 1 for name in row.features)
    names = sorted(name for name in seen if seen[name] >= _needed(name))
    place = {name: number for number, name in enumerate(names)}
    values = np.zeros((len(rows), len(names)), np.float32)
    for at, row in enumerate(rows):
        for name, value in row.features.items():
            if name in place:
                values[at, place[name]] = value
    weights = _descend(values, [row.pair.label for row in rows], np.array([row.weight for row in rows]))
    return {name: [float(one) for one in weights[number]] for number, name in enumerate(names)}


def _needed(name: str) -> int:
    if not name.startswith("~"):
        return 1
    return _MIN_PAIR if " " in name else _MIN_SIGN


def _descend(values: Any, labels: Sequence[str], importance: Any) -> Any:
    """Fit a softmax model with Adam; an open label asks only that nothing is replaced."""
    wanted = np.zeros((len(labels), len(LABELS)), np.float32)
    is_open = np.array([label == NOT_REPLACED for label in labels])
    for at, label in enumerate(labels):
        if label != NOT_REPLACED:
            wanted[at, LABELS.index(label)] = 1.0
    weights = np.zeros((values.shape[1], len(LABELS)), np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    share = importance.astype(np.float32)[:, None]
    for turn in range(1, _ROUNDS + 1):
        scores = values @ weights
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        goal = wanted.copy()
        goal[is_open] = chances[is_open]
        goal[is_open, 0] = 0.0
        goal[is_open] /= goal[is_open].sum(1, keepdims=True)
        slope = values.T @ ((chances - goal) * share) + _WEAKNESS * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope * slope
        weights -= _STEP * (first / (1 - 0.9**turn)) / (np.sqrt(second / (1 - 0.999**turn)) + 1e-8)
    return weights


def _estimate(features: dict[str, float], weights: dict[str, list[float]]) -> dict[str, float]:
    known = [(value, weights[name]) for name, value in features.items() if name in weights]
    scores = np.array([sum(value * found[at] for value, found in known) for at in range(len(LABELS))])
    chances = np.exp(scores - scores.max())
    return dict(zip(LABELS, (chances / chances.sum()).tolist(), strict=True))


def _read_others() -> Iterator[Row]:
    """Yield pairs of stored statements and of projects."""
    for pair in statement_pairs():
        yield compare(pair, _STATED)
    for one in met():
        if share_anything(read_statement(one.old), read_statement(one.new)):
            label = REPLACES if one.ends else INDEPENDENT
            yield compare(Pair(label, "", one.old, one.new, ""), _MET)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
