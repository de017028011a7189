"""Trains capture: `python -m training.capture [--data FILE] [--without REPOSITORY] [--out FOLDER]`.

The data is JSON lines, one message each: repo, message, context and items with quote, kind, scope and
durable. Without any, the hand-written examples beside this file are all it learns from.

Hand-written messages and real ones differ in ways that have nothing to do with the question, so each feature
has a weight for all messages and one more for real ones; what is shipped is the sum of the two.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
from typing import NamedTuple

from told.memory._capture_cues import cues
from told.memory._capture_features import describe
from told.memory._capture_gate import lengths
from told.memory._capture_model import WORDING
from told.memory._capture_plain import is_unspaced, plain
from told.memory._capture_sentences import sentences
from training.descent import Group, fit_classes, fit_groups
from training.examples import KINDS, WRITTEN, Example, rows, written
from training.tables import gate_module, weights_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/told/memory")
_RARE = 3  # a feature seen less often says more about its rows than about the language
_RARE_GLANCE = 4
_WEAKNESS = 3.0
_WORDING_WEAKNESS = 6.0  # there are many wordings, and each is rare
_KIND_WEAKNESS = 8.0
_GATE_MISSES = 0.01  # share of the messages it learned from that the gate may miss
_GATE_MARGIN = 0.25  # other projects speak differently: with this, the gate misses 3 % of what they teach
_WRITTEN_SHARE = 0.3  # what a hand-written message counts beside a real one
_REAL = "real:"
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_OF_OTHERS = ("next:", "before:", "over:", "alone", WORDING)
_OF_REAL_ONES = ("over:", "alone")  # hand-written messages are shorter than real ones


class Learned(NamedTuple):
    """All that is learned; "" is a bias."""

    weights: dict[str, float]
    kinds: dict[str, list[float]]
    gate: dict[str, float]
    passes: float


def main(words: Sequence[str]) -> int:
    """Train, and write the modules with the weights."""
    parser = argparse.ArgumentParser(prog="training.capture", description=__doc__)
    parser.add_argument(
        "--data", action="append", default=[], help="rows to learn from, besides the examples"
    )
    parser.add_argument("--without", action="append", default=[], help="a repository to leave out")
    parser.add_argument("--out", default=OUT, help="the folder of the modules")
    arguments = parser.parse_args(words)
    examples = written()
    for path in arguments.data:
        examples += [one for one in rows(path) if one.repository not in arguments.without]
    learned = train(examples)
    size = 0
    for name, text in (
        ("_capture_weights.py", weights_module(learned.weights, learned.kinds)),
        ("_capture_gate_weights.py", gate_module(learned.gate, learned.passes)),
    ):
        with open(os.path.join(arguments.out, name), "w", encoding="utf-8") as file:
            size += file.write(text)
    print(f"{len(examples)} messages; {size} characters of weights written.")
    return 0


def train(examples: Sequence[Example]) -> Learned:
    """Return the weights of sentences, of kinds and of the gate, and what passes the gate."""
    grouped = [group(example) for example in examples]
    weights = _weights([found for found, _ in grouped], _RARE)
    kinds = list(KINDS.values())
    kinded = [
        (
            {name: 1.0 for name in features if not name.startswith((*_OF_OTHERS, _REAL))},
            kinds.index(kind),
        )
        for found, labels in grouped
        for features, kind in zip(found.features, labels, strict=True)
        if kind
    ]
    kind_names = _names((features for features, _ in kinded), _RARE + 1)
    kind_weights = fit_classes(kinded, kind_names, len(kinds), _KIND_WEAKNESS)
    gate, passes = _gate(examples)
    return Learned(weights, kind_weights, gate, passes)


def group(example: Example) -> tuple[Group, list[str]]:
    """Return the sentences of a message as features, and the kind of those that are worth keeping."""
    found = sentences(example.message)
    labels = [""] * len(found)
    for item in example.items:
        start = example.message.find(item.quote)
        end = start + len(item.quote)
        for place, sentence in enumerate(found):
            if max(start, sentence.start) >= min(end, sentence.end):
                continue
            shared = len(_WORD.findall(example.message[max(start, sentence.start) : min(end, sentence.end)]))
            if shared * 2 >= len(_WORD.findall(item.quote)) or shared >= 0.7 * len(
                _WORD.findall(sentence.text)
            ):
                labels[place] = item.kind
    features = describe(found, example.message)
    by_hand = example.repository == WRITTEN
    features = [_for_hand(one) if by_hand else _for_real(one) for one in features]
    right = [bool(label) for label in labels]
    return Group(features, right, _WRITTEN_SHARE if by_hand else 1.0), labels


def _for_hand(features: dict[str, float]) -> dict[str, float]:
    return {WRITTEN: 1.0} | {name: 1.0 for name in features if not name.startswith(_OF_REAL_ONES)}


def _for_real(features: dict[str, float]) -> dict[str, float]:
    return features | {_REAL + name: 1.0 for name in features}


def _weights(groups: Sequence[Group], rare: int) -> dict[str, float]:
    names = _names((one for found in groups for one in found.features), rare)
    both = fit_groups(groups, {name: _weakness(name) for name in names})
    weights: dict[str, float] = collections.defaultdict(float)
    for name, weight in both.items():
        if name != WRITTEN:
            weights[name.removeprefix(_REAL)] += weight
    return dict(weights)


def _weakness(name: str) -> float:
    if not name:
        return 0.0
    return _WORDING_WEAKNESS if name.removeprefix(_REAL).startswith(WORDING) else _WEAKNESS


def _gate(examples: Sequence[Example]) -> tuple[dict[str, float], float]:
    """Learn which messages teach, from as little as can be seen without a closer look.

    Words alone do not carry over to other projects here; the cues do.
    """
    seen = [(glance(example.message), bool(example.items), example.repository) for example in examples]
    gate = _weights(
        [
            Group(
                [_for_hand(one) if repository == WRITTEN else _for_real(one)],
                [right],
                _WRITTEN_SHARE if repository == WRITTEN else 1.0,
            )
            for one, right, repository in seen
        ],
        _RARE_GLANCE,
    )
    del gate[""]  # the same for all
    real = any(repository != WRITTEN for _, _, repository in seen)
    totals = sorted(
        sum(gate.get(name, 0.0) for name in one)
        for one, right, repository in seen
        if right and (repository != WRITTEN or not real)
    )
    return gate, totals[int(len(totals) * _GATE_MISSES)] - _GATE_MARGIN


def glance(message: str) -> dict[str, float]:
    """Return what the gate sees of a message."""
    bare = plain(message)
    found = cues(bare, with_unspaced=is_unspaced(message)) | lengths(message, len(bare.split()))
    return dict.fromkeys(found, 1.0)


def _names(features: Iterable[dict[str, float]], rare: int) -> list[str]:
    counts = collections.Counter(name for one in features for name in one)
    return ["", *sorted(name for name, count in counts.items() if count >= rare)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
