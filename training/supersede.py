"""Trains supersession: `python -m training.supersede [--data FILE] [--out FILE]`.

Two models come of it. One names the relation between two statements that were brought together. The other
decides whether a statement ends one of many that it merely meets; it learns above all from whole projects,
where nearly all pairs are strangers. The data is JSON lines with old, new_message, label and older; without
any, the hand-written pairs and projects beside this file are all it learns from.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import random
import sys

from told.memory._supersede_features import SEEN_BY_MANY, features, in_common, marks_of
from told.memory._supersede_read import read
from told.memory.supersede import INDEPENDENT, LABELS, REPLACES
from training.descent import Adam
from training.supersede_data import Pair, met, pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._supersede_read import Reading

    Row = tuple[dict[str, float], int, float]  # evidence, label, weight

OUT = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/told/memory/_supersede_weights.py"
)
_ROUNDS = 250
_RARE = 3  # evidence seen less often says more about its pairs than about the language
_WEAKNESS = 2.0
_ENDING_WEAKNESS = 1.0
_STRANGERS = 300
# How much a row counts for the relation, and for the ending.
_MET, _STRANGER, _TAILED = 0.3, 0.1, 0.5
_ENDING_STRANGER, _ENDING_PAIR = 0.5, 0.1
# People add reasons to whatever they say: they must not look like a sign of change.
_TAILS = (
    ", the customer asked for it", ", it's too long", ", ok?", ", marketing asked", ", legal wants it",
    ", just so you know", ", please", ", that bit us", ", otherwise it breaks", ", for the demo",
    ", it was too slow", ", nobody reads it", ", same as elsewhere", ", don't forget",
)  # fmt: skip
_TAILED_SHARE = {"independent": 0.35, "repeats": 0.15, "refines": 0.15, "contradicts_scope": 0.15}


def main(words: Sequence[str]) -> int:
    """Train, and write the module with the weights."""
    parser = argparse.ArgumentParser(prog="training.supersede", description=__doc__)
    parser.add_argument("--data", default="", help="further labelled pairs, one JSON object a line")
    parser.add_argument("--out", default=OUT, help="where to write the module")
    given = parser.parse_args(words)
    labelled = pairs() + (_rows(given.data) if given.data else [])
    weights, ending = train(labelled)
    write(given.out, weights, ending)
    print(f"{len(labelled)} pairs, {len(weights)} pieces of evidence, {len(ending)} of an ending")
    return 0


def train(labelled: Sequence[Pair]) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return the weights of the relation and those of the ending."""
    said = [(compared(one), LABELS.index(one.label)) for one in labelled]
    tailed = [(compared(one), LABELS.index(one.label)) for one in _tailed(labelled)]
    whole = []
    for one in met():
        old, new = read(one.old), read(one.new)
        if in_common(old, new):
            whole.append((features(old, new, marks_of(new)), one.ends))
    strange = _strangers(labelled)
    stays = LABELS.index(INDEPENDENT)
    ends = LABELS.index(REPLACES)
    rows: list[Row] = [(found, label, 1.0) for found, label in said]
    rows += [(found, label, _TAILED) for found, label in tailed]
    rows += [(found, ends if ended else stays, _MET) for found, ended in whole]
    rows += [(found, stays, _STRANGER) for found in strange]
    seen = collections.Counter(name for found, _ in said for name in found)
    names = sorted(name for name in seen if seen[name] >= _RARE and name not in SEEN_BY_MANY)
    weights = _fit(rows, names, len(LABELS), _WEAKNESS)
    rows = [(found, int(ended), 1.0) for found, ended in whole]
    rows += [(found, 0, _ENDING_STRANGER) for found in strange]
    rows += [(found, int(label == ends), _ENDING_PAIR) for found, label in said]
    ending = _fit(
        rows, sorted({name for found, *_ in rows for name in found if name[0] != "~"}), 2, _ENDING_WEAKNESS
    )
    return weights, ending


def compared(one: Pair) -> dict[str, float]:
    """Return the evidence between the two statements of a pair."""
    new = read(one.new)
    return features(read(one.old), new, marks_of(new), read(one.older) if one.older else None)


def write(path: str, weights: dict[str, list[float]], ending: dict[str, list[float]]) -> None:
    """Write the weights as the module that told reads."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('"""What each piece of evidence says. Written by `python -m training.supersede`."""\n\n')
        file.write("from __future__ import annotations\n\n")
        file.write(f"# In hundredths, for: {', '.join(LABELS)}.\n")
        file.write("WEIGHTS: dict[str, tuple[int, ...]] = {\n")
        file.writelines(f'    "{name}": {_hundredths(found)},\n' for name, found in weights.items())
        file.write("}\n# In hundredths, for the ending of one that is merely met.\n")
        file.write("ENDING: dict[str, int] = {\n")
        file.writelines(f'    "{name}": {_hundredths(found)[1] * 2},\n' for name, found in ending.items())
        file.write("}\n")


def _hundredths(found: Sequence[float]) -> tuple[int, ...]:
    return tuple(round(100 * weight) for weight in found)


def _rows(path: str) -> list[Pair]:
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return [
        Pair(row["label"], row.get("lang", ""), row["old"], row["new_message"], row.get("older") or "")
        for row in rows
    ]


def _tailed(labelled: Sequence[Pair]) -> list[Pair]:
    """Return some of the pairs with a reason at the end of the message."""
    choose = random.Random(5)  # noqa: S311 - the same choice each time
    return [
        one._replace(new=one.new.rstrip(".?!") + choose.choice(_TAILS))
        for one in labelled
        if one.language == "en" and "," not in one.new and choose.random() < _TAILED_SHARE.get(one.label, 0)
    ]


def _strangers(labelled: Sequence[Pair]) -> list[dict[str, float]]:
    """Bring messages together with statements of other pairs that they do not mean but share a word with."""
    choose = random.Random(3)  # noqa: S311 - the same choice each time
    texts: dict[str, Reading] = {}
    found: list[dict[str, float]] = []
    while len(found) < _STRANGERS:
        one, two = choose.choice(labelled), choose.choice(labelled)
        old, meant, new = (texts.setdefault(text, read(text)) for text in (one.old, two.old, two.new))
        slots = old.values.keys() | old.rejected.keys()
        if old.words.keys() & meant.words.keys() or slots & (
            new.values.keys() | new.rejected.keys() | meant.values.keys()
        ):
            continue
        if sum(old.words[word] for word in old.words.keys() & new.words.keys()) >= 1:
            found.append(features(old, new, marks_of(new)))
    return found


def _fit(rows: Sequence[Row], names: Sequence[str], classes: int, weakness: float) -> dict[str, list[float]]:
    """Fit a logistic model: for each piece of evidence its weight for each class."""
    place = {name: number for number, name in enumerate(names)}
    sparse = [
        (
            [(place[name] * classes, value) for name, value in found.items() if name in place],
            label,
            importance,
        )
        for found, label, importance in rows
    ]
    weights = [0.0] * (len(names) * classes)
    descent = Adam(len(weights))
    each = range(classes)
    for _ in range(_ROUNDS):
        slope = [weakness * weight for weight in weights]
        for found, label, importance in sparse:
            scores = [0.0] * classes
            for at, value in found:
                for one in each:
                    scores[one] += weights[at + one] * value
            top = max(scores)
            parts = [math.exp(score - top) for score in scores]
            total = sum(parts)
            misses = [importance * (parts[one] / total - (one == label)) for one in each]
            for at, value in found:
                for one in each:
                    slope[at + one] += misses[one] * value
        descent.step(weights, slope)
    return {name: weights[at * classes : (at + 1) * classes] for name, at in place.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
