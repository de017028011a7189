"""How well told judges what a new statement does to an old one, on labelled pairs."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks import CannotMeasureError
from benchmarks.supersede_framed import make_groups, make_pairs
from benchmarks.supersede_pairs import met, pairs
from told.conflict.relation import CHANGES, ELSEWHERE, INDEPENDENT, MAY_CHANGE, REFINES, SAME, judge
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember

HOW = (
    "Each row is a stored statement and what the user says later; told names the relation. What is ended or "
    "asked is called replaces; wrongly_ended counts the rows that are called so and are not, for each true "
    "label. ended counts rows that told ends without asking, because the new statement says so itself; "
    "asked counts rows that it asks about. Without --data the written pairs are judged, and every pair of "
    "statements of the written projects. --framed remembers independent pairs that share a frame."
)
_NAMES = {
    CHANGES: "replaces",
    MAY_CHANGE: "replaces",
    SAME: "repeats",
    REFINES: "refines",
    ELSEWHERE: "contradicts_scope",
    INDEPENDENT: "independent",
}
LABELS = tuple(dict.fromkeys(_NAMES.values()))
REPLACES = _NAMES[CHANGES]
_FRAMED = 2000
_SCOPE = "project:example.com/framed"
_NOW = 1_790_000_000_000


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--predictions", default="", help="where to write the labels, one JSON object a line")
    parser.add_argument("--framed", action="store_true", help="remember 2,000 independent pairs")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge every pair and compare with its label."""
    if arguments.framed:
        return {"benchmark": "supersede", "framed": measure_framed(), "how": HOW}
    if not arguments.data:
        return {"benchmark": "supersede", **measure_written(), "how": HOW}
    rows = load(arguments.data)
    started = time.perf_counter()
    kinds = [judge(row["old"], row["new_message"]).kind for row in rows]
    taken = time.perf_counter() - started
    if arguments.predictions:
        with open(arguments.predictions, "w", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"id": row["id"], "label": _NAMES[kind]}) + "\n"
                for row, kind in zip(rows, kinds, strict=True)
            )
    return {
        "benchmark": "supersede",
        **measure([row["label"] for row in rows], kinds),
        "ms_per_pair": round(taken * 1000 / max(1, len(rows)), 4),
        "how": HOW,
    }


def measure_written() -> dict[str, Any]:
    """Judge the written pairs, and all pairs of statements of the written projects."""
    written, projects = pairs(), met()
    return {
        "written": measure([one.label for one in written], [judge(one.old, one.new).kind for one in written]),
        "projects": _count_replaced(
            [REPLACES if one.ends else "independent" for one in projects],
            [judge(one.old, one.new).kind for one in projects],
        ),
    }


def measure(gold: Sequence[str], kinds: Sequence[str]) -> dict[str, Any]:
    """Return all figures of some pairs."""
    return {**summary(gold, [_NAMES[kind] for kind in kinds]), **_count_replaced(gold, kinds)}


def _count_replaced(gold: Sequence[str], kinds: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count what is ended and what is asked: rightly and wrongly."""
    seen = Counter((label == REPLACES, kind) for label, kind in zip(gold, kinds, strict=True))
    return {
        name: {"rightly": seen[True, kind], "wrongly": seen[False, kind]}
        for name, kind in (("ended", CHANGES), ("asked", MAY_CHANGE))
    }


def measure_framed(count: int = _FRAMED) -> dict[str, Any]:
    """Remember both statements of each pair; count what was ended or merged."""
    wrong: list[tuple[str, str]] = []
    merged = 0
    for group in (*map(list, make_pairs(count)), *make_groups()):
        with tempfile.TemporaryDirectory() as home:
            memories = open_memories(home)
            writer = JournalWriter(FileJournal(home), memories, _NOW)
            for text in group:
                done = remember(writer, NewMemory(text, _SCOPE), sync=False)
                merged += done.again
                wrong += [(old.text, text) for old, _ in done.superseded]
            memories.close()
    groups = len(make_groups())
    return {"pairs": count, "groups": groups, "ended": len(wrong), "merged": merged, "first": wrong[:5]}


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
