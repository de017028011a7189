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
from told.conflict.change import find_ending
from told.conflict.judge import LABELS, REPLACES, choose_relation, judge_pair
from told.conflict.model import ConflictModel, mix
from told.conflict.reading import read_statement
from told.conflict.subjects import find_difference
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from training.supersede import Row, choose_fold, compare, judge_folds
from training.supersede_data import Pair, pairs

HOW = (
    "Each row is a stored statement and what the user says later; told names the relation. wrongly_ended "
    "counts rows that are called replaces and are not, for each true label. ended counts rows that told "
    "ends without asking, because the new statement says so itself. --folds judges each project, and each "
    "fifth of the written pairs, by weights learned from the others. --framed remembers independent pairs "
    "that share a frame."
)
_FRAMED = 2000
_SCOPE = "project:example.com/framed"
_NOW = 1_790_000_000_000


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--predictions", default="", help="where to write the labels, one JSON object a line")
    parser.add_argument("--folds", action="store_true", help="judge each project by weights of others")
    parser.add_argument("--framed", action="store_true", help="remember 2,000 independent pairs")
    parser.add_argument("--model", default="", help="folder of a conflict model (training.conflict_encoder)")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge every pair and compare with its label."""
    if arguments.framed:
        return {"benchmark": "supersede", "framed": measure_framed(), "how": HOW}
    if not arguments.data:
        raise CannotMeasureError("Give the pairs as --data FILE.jsonl.")
    rows = load(arguments.data)
    if arguments.folds:
        return {"benchmark": "supersede", "folds": measure_folds(rows), "how": HOW}
    model = ConflictModel(arguments.model) if arguments.model else None
    started = time.perf_counter()
    labels = [_judge(row, model) for row in rows]
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
        "ended": _count_ended([(row["label"], row["old"], row["new_message"]) for row in rows]),
        "ms_per_pair": round(taken * 1000 / max(1, len(rows)), 4),
        "how": HOW,
    }


def measure_folds(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Judge given pairs by project, and written ones by fifths, by weights learned without them."""
    projects = sorted({row.get("project", "") for row in rows})
    real = [Pair(row["label"], "", row["old"], row["new_message"], row.get("older") or "") for row in rows]
    written = pairs()
    compared = [compare(pair) for pair in (*real, *written)]
    folds = [projects.index(row.get("project", "")) for row in rows]
    folds += [choose_fold(pair.old) for pair in written]
    chances = judge_folds(compared, folds)
    labels = [_choose(row, found) for row, found in zip(compared, chances, strict=True)]
    return {
        name: {
            **summary([pair.label for pair in some], found),
            "ended": _count_ended([(pair.label, pair.old, pair.new) for pair in some]),
        }
        for name, some, found in (
            ("given", real, labels[: len(real)]),
            ("written", written, labels[len(real) :]),
        )
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


def _judge(row: dict[str, Any], model: ConflictModel | None) -> str:
    older = row.get("older") or ""
    if model is None:
        return judge_pair(row["old"], row["new_message"], older=older).label
    return mix(model, row["old"], row["new_message"], older=older).label


def _choose(row: Row, chances: dict[str, float]) -> str:
    old, new = read_statement(row.pair.old), read_statement(row.pair.new)
    return choose_relation(chances, row.features, find_ending(old, new), find_difference(old, new)).label


def _count_ended(rows: Sequence[tuple[str, str, str]]) -> dict[str, int]:
    """Count what the new statement ends by itself: rightly and wrongly."""
    ended = [label for label, old, new in rows if find_ending(read_statement(old), read_statement(new))]
    return {"rightly": ended.count(REPLACES), "wrongly": len(ended) - ended.count(REPLACES)}


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
