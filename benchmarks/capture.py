"""How much of what users said is kept, how much of what is kept was worth it, and what that costs."""

from __future__ import annotations

import argparse
import collections
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError
from told.capture.explicit import find_explicit
from told.capture.grammar import REQUESTS
from told.capture.pasted import read_parts
from told.capture.statements import Statement, capture

HOW = (
    "Each message is given with the agent's text before it. A kept statement is right if its quote covers "
    "half of a labelled quote, or its sentence holds 60 % of the labelled sentence's content words; strict "
    "also demands a quote of at most 3 n + 12 words and that 40 % of its words are in the label. Each label "
    "counts once, best match first. Alarms are messages without any label from which a memory was made. "
    "Kinds are compared for labels that are a rule, a preference, a decision or a fact."
)
LEFT_OUT = (
    " What the user asks to remember always counts. Of each repository's messages only the other cues count "
    "that are right in at least {bar:.0%} of what they keep in all other repositories; cues that keep fewer "
    "than {few} there are judged together."
)
_BAR = 0.75  # precision of a cue
_FEW = 4  # kept statements that cannot judge a cue
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ROUNDS = 3
_KIND_OF = {"rule": "rule", "preference": "rule", "decision": "decision", "fact": "fact"}
_STOP_WORDS = """
a an the of to in on for and or not no is are be was were it its this that these those with by as at
from into do does did done use used using we our you your i my me they he she his her has have had must
should shall can may will would only never always so if then than but out up all any each per via when
where which who what how there here also le la les un une des de du et ou ne pas en dans pour par sur
est sont doit que qui ce se au aux el los las una unos y o del al con para por es son debe lo su der die
das den dem ein eine und oder nicht ist sind mit auf im zu von wird nur os as um uma e em na não da dos
w z nie jest sie
"""
_STOP = frozenset(_STOP_WORDS.split())


class Item(NamedTuple):
    """A statement, labelled or kept."""

    kind: str
    scope: str
    quote: str
    statement: str


class Row(NamedTuple):
    """A labelled message, the memories and the candidates made of it."""

    id: str
    language: str
    random: bool
    borderline: bool
    message: str
    labels: tuple[Item, ...]
    kept: tuple[Item, ...]
    candidates: tuple[Item, ...]


class Pair(NamedTuple):
    """A label and a kept statement that match."""

    row: Row
    label: Item
    kept: Item


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this benchmark."""
    parser.add_argument("--data", action="append", default=[], help="labelled messages; may be repeated")
    parser.add_argument(
        "--predictions", default="", help="write what was kept to this file, one message a line"
    )
    parser.add_argument(
        "--leave-one-out", action="store_true", help="judge the cues without the repository of each message"
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keep what is worth keeping of every message, and compare it with the labels."""
    if not arguments.data:
        raise CannotMeasureError("Give the labelled messages as --data FILE.")
    published = [row for path in arguments.data for row in load(path)]
    if arguments.leave_one_out:
        rows, left_out = leave_out(published)
        figures, how = summary(rows) | {"cues left out": left_out}, HOW + LEFT_OUT.format(bar=_BAR, few=_FEW)
    else:
        rows = [make_row(one, capture(one["message"], one.get("context") or "")) for one in published]
        figures, how = summary(rows) | {"ms": cost(published)}, HOW
    if arguments.predictions:
        write(arguments.predictions, rows)
    return {"benchmark": "capture", **figures, "how": how}


def load(path: str) -> list[dict[str, Any]]:
    """Read labelled messages, one JSON object a line."""
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        raise CannotMeasureError(f"{path} cannot be read as labelled messages: {error}") from error


def leave_out(published: Sequence[dict[str, Any]]) -> tuple[list[Row], list[str]]:
    """Capture each repository with the cues that are precise in the others; return those left out, too."""
    found = [(row, _capture_by_cue(row)) for row in published]
    total = collections.Counter[tuple[str, bool]]()
    own: dict[str, collections.Counter[tuple[str, bool]]] = collections.defaultdict(collections.Counter)
    for row, kept in found:
        for cue, right in _judge(row, kept):
            total[cue, right] += 1
            own[row["repo"]][cue, right] += 1
    cues = {cue for cue, _ in total}
    left_out = set()
    rows = []
    for row, kept in found:
        precise = _find_precise(cues, total - own[row["repo"]])
        left_out |= cues - precise
        rows.append(make_row(row, [one for cue, one in kept if cue in precise]))
    return rows, sorted(left_out)


def _capture_by_cue(row: dict[str, Any]) -> list[tuple[str, Statement]]:
    """Return what is captured of a message, each with its cue."""
    before = row.get("context") or ""
    cues = {one.quote: one.cue.name for one in find_explicit(row["message"], before)}
    return [(cues[one.quote], one) for one in capture(row["message"], before)]


def _judge(row: dict[str, Any], kept: Sequence[tuple[str, Statement]]) -> Iterable[tuple[str, bool]]:
    """Yield the cue of each memory, and whether it is right."""
    made = make_row(row, [one for _, one in kept])
    right = {pair.kept.quote for pair in matches(made, strict)}
    for cue, one in kept:
        if one.sure:
            yield cue, one.quote in right


def _find_precise(cues: Iterable[str], counted: collections.Counter[tuple[str, bool]]) -> set[str]:
    """Return the cues that are precise enough; rare ones are judged together."""
    size = {cue: counted[cue, True] + counted[cue, False] for cue in cues}
    rare = {cue for cue in cues if size[cue] < _FEW}
    groups = [{cue} for cue in cues if cue not in rare] + [rare]
    return set(REQUESTS.intersection(cues)) | {
        cue
        for group in groups
        for cue in group
        if sum(counted[one, True] for one in group) >= _BAR * sum(size[one] for one in group)
    }


def make_row(published: dict[str, Any], statements: Sequence[Statement]) -> Row:
    """Pair a labelled message with what was captured of it."""
    labels = [item for item in published["items"] if item["durable"]]
    return Row(
        published["id"],
        published.get("lang") or "?",
        published.get("sampling") == "random",
        bool(published.get("borderline")),
        published["message"],
        tuple(Item(item["kind"], item["scope"], item["quote"], item["statement"]) for item in labels),
        tuple(Item(one.kind, one.scope, one.quote, one.text) for one in statements if one.sure),
        tuple(Item(one.kind, one.scope, one.quote, one.text) for one in statements if not one.sure),
    )


def write(path: str, rows: Iterable[Row]) -> None:
    """Write memories, and candidates as items that are not durable."""
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            items = [item._asdict() for item in row.kept]
            items += [item._asdict() | {"durable": False, "candidate": True} for item in row.candidates]
            file.write(json.dumps({"id": row.id, "items": items}, ensure_ascii=False) + "\n")


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Take all figures."""
    without = [row for row in rows if not row.labels]
    random = [row for row in rows if row.random]
    languages = sorted({row.language for row in rows})
    return {
        "messages": len(rows),
        "labels": sum(len(row.labels) for row in rows),
        "loose": figures(rows, loose),
        "strict": figures(rows, strict),
        "strict without borderline": figures([row for row in rows if not row.borderline], strict),
        "random": {"messages": len(random), **figures(random, strict)},
        "with candidates": figures([_join(row) for row in rows], strict),
        "random with candidates": figures([_join(row) for row in random], strict),
        "by language": {
            language: figures([row for row in rows if row.language == language], strict)
            for language in languages
        },
        "alarms per 100": round(100 * sum(bool(row.kept) for row in without) / max(1, len(without)), 1),
        "candidates per 100 random": round(
            100 * sum(len(row.candidates) for row in random) / max(1, len(random)), 1
        ),
    }


def _join(row: Row) -> Row:
    return row._replace(kept=row.kept + row.candidates)


def figures(rows: Iterable[Row], likeness: Callable[[str, Item, Item], float]) -> dict[str, Any]:
    """Return precision, recall and F1, and how often kind and scope of a right statement are right."""
    pairs: list[Pair] = []
    kept = labels = 0
    for row in rows:
        kept += len(row.kept)
        labels += len(row.labels)
        pairs += matches(row, likeness)
    right = len(pairs)
    kinded = [pair for pair in pairs if pair.label.kind in _KIND_OF]
    same = sum(_KIND_OF[pair.label.kind] == pair.kept.kind for pair in kinded)
    return {
        "precision": round(right / kept, 4) if kept else 0.0,
        "recall": round(right / labels, 4) if labels else 0.0,
        "f1": round(2 * right / (kept + labels), 4) if right else 0.0,
        "kept": kept,
        "kind": round(same / max(1, len(kinded)), 4),
        "scope": round(sum(pair.label.scope == pair.kept.scope for pair in pairs) / max(1, right), 4),
    }


def matches(row: Row, likeness: Callable[[str, Item, Item], float]) -> list[Pair]:
    """Match labels with what was kept, each at most once, the best first."""
    ranked = sorted(
        (
            (likeness(row.message, label, kept), first, second)
            for first, label in enumerate(row.labels)
            for second, kept in enumerate(row.kept)
        ),
        reverse=True,
    )
    labels: set[int] = set()
    taken: set[int] = set()
    pairs = []
    for score, first, second in ranked:
        if score > 0 and first not in labels and second not in taken:
            labels.add(first)
            taken.add(second)
            pairs.append(Pair(row, row.labels[first], row.kept[second]))
    return pairs


def loose(message: str, label: Item, kept: Item) -> float:
    """Return how alike two statements are; 0 is no match."""
    return _matched(_quoted(message, label, kept), _share(content(label.statement), content(kept.statement)))


def strict(message: str, label: Item, kept: Item) -> float:
    """Return how alike two statements are; what quotes far too much does not match."""
    wordy = len(words(kept.quote)) > 3 * len(words(label.quote)) + 12
    wanted, said = content(label.statement), content(kept.statement)
    stray = _share(said, wanted) < 0.4
    return _matched(
        0.0 if wordy else _quoted(message, label, kept),
        0.0 if stray else _share(wanted, said),
    )


def words(text: str) -> list[str]:
    """Return the words; each Chinese, Japanese or Korean sign is one."""
    return [word.lower() for word in _WORD.findall(text)]


def content(text: str) -> list[str]:
    """Return the beginnings of the words that carry meaning."""
    return [
        word[:6]
        for word in words(text)
        if word not in _STOP and (len(word) > 2 or word.isdigit() or re.match(f"[{_UNSPACED}]", word))
    ]


def cost(published: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return what a message takes in this process, in milliseconds: the best of some rounds."""
    times = []
    without = []
    for row in published:
        before = row.get("context") or ""
        best = 1e9
        for _ in range(_ROUNDS):
            read_parts.cache_clear()  # a message comes once
            began = time.perf_counter()
            found = capture(row["message"], before)
            best = min(best, time.perf_counter() - began)
        times.append(best * 1000)
        if not found:
            without.append(best * 1000)
    times.sort()
    without.sort()
    last = len(times) - 1
    return {
        "mean": round(sum(times) / max(1, len(times)), 3),
        "p95": round(times[int(last * 0.95)], 3) if times else 0.0,
        "most": round(times[-1], 3) if times else 0.0,
        "mean of those that teach nothing": round(sum(without) / max(1, len(without)), 3),
        "median of those that teach nothing": round(without[len(without) // 2], 3) if without else 0.0,
    }


def _matched(quoted: float, said: float) -> float:
    return max(quoted if quoted >= 0.5 else 0.0, said if said >= 0.6 else 0.0)


def _quoted(message: str, label: Item, kept: Item) -> float:
    wanted = words(label.quote)
    first, second = _span(message, label.quote), _span(message, kept.quote)
    if not first or not second:
        return _share(wanted, words(kept.quote))
    start, end = max(first[0], second[0]), min(first[1], second[1])
    return len(words(message[start:end])) / max(1, len(wanted)) if end > start else 0.0


def _span(message: str, quote: str) -> tuple[int, int] | None:
    if not quote:
        return None
    start = message.find(quote)
    if start < 0:
        start = message.lower().find(quote.lower())
    return (start, start + len(quote)) if start >= 0 else None


def _share(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return the share of the wanted words that are there."""
    if not wanted:
        return 0.0
    counted = collections.Counter(wanted) & collections.Counter(said)
    return sum(counted.values()) / len(wanted)
