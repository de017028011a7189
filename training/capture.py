"""Trains capture: `python -m training.capture [--data FILE] [--without REPOSITORY] [--out FILE]`.

The data is JSON lines, one message each: repo, message, context and items with quote, kind, scope and
durable. Without any, the hand-written examples beside this file are all it learns from.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys

from told.memory._capture_features import describe
from told.memory._capture_gate import gate_features
from told.memory._capture_sentences import sentences
from training.descent import Group, fit_classes, fit_groups
from training.examples import KINDS, WRITTEN, Example, rows, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OUT = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/told/memory/_capture_weights.py"
)
THRESHOLD = 0.3
_RARE = 3  # a feature seen less often says more about its rows than about the language
_WEAKNESS = 1.0
_KIND_WEAKNESS = 8.0
_GATE_WEAKNESS = 1.0
_GATE_MISSES = 0.02  # share of the sentences worth a closer look that the gate may miss
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_OF_OTHERS = ("next:", "before:", WRITTEN)


def main(words: Sequence[str]) -> int:
    """Train, and write the module with the weights."""
    parser = argparse.ArgumentParser(prog="training.capture", description=__doc__)
    parser.add_argument(
        "--data", action="append", default=[], help="rows to learn from, besides the examples"
    )
    parser.add_argument("--without", action="append", default=[], help="a repository to leave out")
    parser.add_argument("--out", default=OUT)
    arguments = parser.parse_args(words)
    examples = written()
    for path in arguments.data:
        examples += [one for one in rows(path) if one.repository not in arguments.without]
    weights, kinds, gate, passes = train(examples)
    weights.pop(WRITTEN, None)
    text = module(weights, kinds, gate, passes)
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{len(examples)} messages; {len(text)} bytes of weights written.")
    return 0


def train(
    examples: Sequence[Example],
) -> tuple[dict[str, float], dict[str, list[float]], dict[str, float], float]:
    """Return the weights of sentences, of kinds and of the gate, and what passes the gate."""
    grouped = [group(example) for example in examples]
    groups = [one for one, _ in grouped]
    alone = [
        Group([features], [right])
        for found in groups
        for features, right in zip(found.features, found.right, strict=True)
    ]
    weights = fit_groups(alone, _names(one for found in groups for one in found.features), _WEAKNESS)
    kinds = list(KINDS.values())
    kinded = [
        (
            {name: value for name, value in features.items() if not name.startswith(_OF_OTHERS)},
            kinds.index(kind),
        )
        for found, labels in grouped
        for features, kind in zip(found.features, labels, strict=True)
        if kind
    ]
    kind_names = _names((features for features, _ in kinded), rare=_RARE + 1)
    kind_weights = fit_classes(kinded, kind_names, len(kinds), _KIND_WEAKNESS)
    glances = [dict.fromkeys(gate_features(example.message), 1.0) for example in examples]
    real = {name: weight for name, weight in weights.items() if name != WRITTEN}
    likely = [_best(found, real) >= THRESHOLD for found in groups]
    gate_rows = [(glance, int(one)) for glance, one in zip(glances, likely, strict=True) if glance]
    learned = fit_classes(gate_rows, _names(glances), 2, _GATE_WEAKNESS)
    gate = {name: both[1] - both[0] for name, both in learned.items()}
    totals = sorted(sum(gate.get(name, 0.0) for name in (*glance, "")) for glance, one in gate_rows if one)
    passes = totals[int(len(totals) * _GATE_MISSES)] - gate.pop("")
    return weights, kind_weights, gate, passes


def group(example: Example) -> tuple[Group, list[str]]:
    """Return the sentences of a message as features, and the kind of those that are worth keeping."""
    found = sentences(example.message)
    labels = [""] * len(found)
    for item in example.items:
        start = example.message.find(item.quote)
        end = start + len(item.quote)
        for place, sentence in enumerate(found):
            shared = len(_WORD.findall(example.message[max(start, sentence.start) : min(end, sentence.end)]))
            if max(start, sentence.start) >= min(end, sentence.end):
                continue
            if shared * 2 >= len(_WORD.findall(item.quote)) or shared >= 0.7 * len(
                _WORD.findall(sentence.text)
            ):
                labels[place] = item.kind
    features = describe(found, example.message)
    if example.repository == WRITTEN:  # these teach more often than real messages do
        features = [{**one, WRITTEN: 1.0} for one in features]
    return Group(features, [bool(label) for label in labels]), labels


def module(
    weights: dict[str, float], kinds: dict[str, list[float]], gate: dict[str, float], passes: float
) -> str:
    """Return the source of the module with the weights."""
    lines = [
        '"""The weights that `python -m training.capture` learned. Written by it; do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        f"KINDS = {tuple(KINDS.values())!r}".replace("'", '"'),
        f"THRESHOLD = {THRESHOLD}",
        f"BIAS = {weights.pop(''):.3f}",
        f"GATE_PASS = {passes:.3f}",
        "GATE = {",
        *(f'    "{name}": {weight:.3f},' for name, weight in sorted(gate.items())),
        "}",
        "WEIGHTS = {",
        *(f'    "{name}": {weight:.3f},' for name, weight in sorted(weights.items()) if abs(weight) >= 0.005),
        "}",
        "KIND_WEIGHTS = {",
        *(
            f'    "{name}": ({", ".join(f"{one:.2f}" for one in many)}),'
            for name, many in sorted(kinds.items())
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _best(found: Group, weights: dict[str, float]) -> float:
    from math import exp

    totals = [
        weights[""] + sum(weights.get(name, 0.0) * value for name, value in one.items())
        for one in found.features
    ]
    return 1 / (1 + exp(-max(totals))) if totals else 0.0


def _names(features: Iterable[dict[str, float]], rare: int = _RARE) -> list[str]:
    counts = collections.Counter(name for one in features for name in one)
    return ["", *sorted(name for name, count in counts.items() if count >= rare)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
