"""How well told judges what a new statement does to an old one, on labelled pairs."""

from __future__ import annotations

import json
import time
from collections import Counter

from benchmarks import CannotMeasureError
from told.memory.supersede import LABELS, REPLACES, relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

HOW = (
    "Each row is a stored statement and what the user says later; told names the relation. "
    "wrongly_ended counts rows that are called replaces and are not, for each true label: "
    "each would have ended a statement that is still true."
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--predictions", default="", help="where to write the labels, one JSON object a line")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge every pair and compare with its label."""
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
