"""How well told judges what a new statement does to an old one, on labelled pairs."""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter

from benchmarks import CannotMeasureError
from told.memory._supersede_features import features, marks_of
from told.memory._supersede_read import read
from told.memory.supersede import INDEPENDENT, LABELS, REPLACES, relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    Row = tuple[dict[str, float], int, float]  # evidence, label, weight
    Pair = tuple[str, str, str, str, str]

_ROUNDS, _STEP, _DECAY, _STRANGERS, _STRANGER_WEIGHT = 500, 0.05, 1.0, 150, 0.3

HOW = (
    "Each row is a stored statement and what the user says later; told names the relation. "
    "wrongly_ended counts rows that are called replaces and are not, for each true label: "
    "each would have ended a statement that is still true."
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--predictions", default="", help="where to write the labels, one JSON object a line")
    parser.add_argument("--fit", default="", help="fit the weights to the invented pairs and write them here")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge every pair and compare with its label, or fit the weights anew."""
    if arguments.fit:
        from tests.memory.pairs import pairs

        weights = fit(pairs())
        write_weights(arguments.fit, weights)
        return {"benchmark": "supersede", "fitted": len(weights), "pairs": len(pairs())}
    if not arguments.data:
        raise CannotMeasureError("Give the pairs as --data FILE.jsonl.")
    rows = load(arguments.data)
    started = time.perf_counter()
    labels = [relation(row["old"], row["new_message"], older=row.get("older", "")).label for row in rows]
    taken = time.perf_counter() - started
    if arguments.predictions:
        with open(arguments.predictions, "w", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"id": row["id"], "label": label}) + "\n"
                for row, label in zip(rows, labels, strict=True)
            )
    return {
        "benchmark": "supersede",
        **summary([row["label"] for row in rows], labels),
        "ms_per_pair": round(taken * 1000 / max(1, len(rows)), 4),
        "how": HOW,
    }


def load(path: str) -> list[dict[str, Any]]:
    """Read labelled pairs, one JSON object a line."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        raise CannotMeasureError(f"{path} cannot be read as labelled pairs: {error}") from error
    if not all(isinstance(row, dict) and {"id", "old", "new_message", "label"} <= row.keys() for row in rows):
        raise CannotMeasureError(f"{path} has a line without id, old, new_message or label.")
    return rows


def summary(gold: Sequence[str], found: Sequence[str]) -> dict[str, Any]:
    """Count what was right, what was mistaken for what, and what would have been ended wrongly."""
    seen = Counter(zip(gold, found, strict=True))
    ended = {label: seen[label, REPLACES] for label in LABELS if label != REPLACES}
    return {
        "pairs": len(gold),
        "accuracy": round(sum(seen[label, label] for label in LABELS) / max(1, len(gold)), 4),
        "wrongly_ended": {"all": sum(ended.values()), **ended},
        "labels": {label: _figures(label, gold, found) for label in LABELS},
        "confusion": {
            label: {other: seen[label, other] for other in LABELS if seen[label, other]} for label in LABELS
        },
    }


def _figures(label: str, gold: Sequence[str], found: Sequence[str]) -> dict[str, float]:
    right = sum(one == two == label for one, two in zip(gold, found, strict=True))
    return {
        "rows": gold.count(label),
        "precision": round(right / max(1, found.count(label)), 4),
        "recall": round(right / max(1, gold.count(label)), 4),
    }


def fit(pairs: Sequence[Pair]) -> dict[str, tuple[int, ...]]:
    """Fit a logistic model to labelled pairs: for each piece of evidence its weights, in hundredths.

    Pairs of strangers that share a word stand in as further independent ones.
    """
    rows: list[Row] = [
        (_compared(old, new, older), LABELS.index(label), 1.0) for label, _, old, new, older in pairs
    ]
    rows += [(found, LABELS.index(INDEPENDENT), _STRANGER_WEIGHT) for found in _strangers(pairs)]
    names = sorted({name for found, _, _ in rows for name in found})
    weights = {name: [0.0] * len(LABELS) for name in names}
    slow = {name: [0.0] * len(LABELS) for name in names}
    fast = {name: [0.0] * len(LABELS) for name in names}
    for turn in range(1, _ROUNDS + 1):
        slopes = {name: [_DECAY * weight for weight in weights[name]] for name in names}
        for found, label, importance in rows:
            _add_slope(slopes, weights, found, label, importance)
        for name in names:  # Adam
            for at, slope in enumerate(slopes[name]):
                slow[name][at] = 0.9 * slow[name][at] + 0.1 * slope
                fast[name][at] = 0.99 * fast[name][at] + 0.01 * slope * slope
                mean = slow[name][at] / (1 - 0.9**turn)
                weights[name][at] -= _STEP * mean / (math.sqrt(fast[name][at] / (1 - 0.99**turn)) + 1e-8)
    return {name: tuple(round(100 * weight) for weight in weights[name]) for name in names}


def write_weights(path: str, weights: dict[str, tuple[int, ...]]) -> None:
    """Write weights as the module that told reads."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('"""What each piece of evidence says; written by `benchmarks supersede --fit`."""\n\n')
        file.write("from __future__ import annotations\n\n")
        file.write(f"# In hundredths, for: {', '.join(LABELS)}.\n")
        file.write("WEIGHTS: dict[str, tuple[int, ...]] = {\n")
        file.writelines(f'    "{name}": {values},\n' for name, values in weights.items())
        file.write("}\n")


def _add_slope(
    slopes: dict[str, list[float]],
    weights: dict[str, list[float]],
    found: dict[str, float],
    label: int,
    importance: float,
) -> None:
    scores = [0.0] * len(LABELS)
    for name, value in found.items():
        for at, weight in enumerate(weights[name]):
            scores[at] += weight * value
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    total = sum(parts)
    misses = [importance * (part / total - (at == label)) for at, part in enumerate(parts)]
    for name, value in found.items():
        slope = slopes[name]
        for at, miss in enumerate(misses):
            slope[at] += value * miss


def _compared(old: str, new: str, older: str) -> dict[str, float]:
    now = read(new)
    return features(read(old), now, marks_of(now), read(older) if older else None)


def _strangers(pairs: Sequence[Pair]) -> list[dict[str, float]]:
    """Bring messages together with statements of other pairs that they do not mean but share a word with."""
    choose = random.Random(3)
    found = []
    for _ in range(100_000):
        one, two = choose.choice(pairs), choose.choice(pairs)
        old, meant, new = read(one[2]), read(two[2]), read(two[3])
        slots = old.values.keys() | old.rejected.keys()
        if old.words.keys() & meant.words.keys() or slots & (
            new.values.keys() | new.rejected.keys() | meant.values.keys()
        ):
            continue
        if sum(old.words[word] for word in old.words.keys() & new.words.keys()) >= 1:
            found.append(features(old, new, marks_of(new)))
        if len(found) == _STRANGERS:
            break
    return found
