"""Tells what capture is worth for a repository it has never seen: `python -m training.held_out --data FILE`.

Each repository of the data is left out once: the rest and the hand-written examples are learned from, and
what was learned then reads the messages of that repository. The figures are of all messages together.
"""

from __future__ import annotations

import argparse
import json
import sys

from benchmarks.capture import Row, load, row_of, summary, write
from told.memory import _capture_gate, _capture_kinds, _capture_model
from training.capture import train
from training.examples import rows, written
from training.tables import gate_module, weights_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from training.capture import Learned


def main(words: Sequence[str]) -> int:
    """Leave out each repository once, and print the figures."""
    parser = argparse.ArgumentParser(prog="training.held_out", description=__doc__)
    parser.add_argument("--data", required=True, help="the labelled messages that are read")
    parser.add_argument("--also", action="append", default=[], help="more messages to learn from")
    parser.add_argument("--predictions", default="", help="write what was kept to this file")
    arguments = parser.parse_args(words)
    published = load(arguments.data)
    examples = written() + [one for path in (arguments.data, *arguments.also) for one in rows(path)]
    found: list[Row] = []
    passed: dict[str, bool] = {}
    for repository in sorted({one["repo"] for one in published}):
        use(train([one for one in examples if one.repository != repository]))
        new = [row_of(one) for one in published if one["repo"] == repository]
        passed.update((row.id, _capture_gate.may_teach(row.message)) for row in new)
        found += new
    if arguments.predictions:
        write(arguments.predictions, found)
    gate = {
        name: _share([passed[row.id] for row in found if bool(row.labels) is labelled])
        for name, labelled in (("with labels", True), ("without", False))
    }
    print(json.dumps({**summary(found), "let through": gate}, ensure_ascii=False, indent=1))
    return 0


def use(learned: Learned) -> None:
    """Let capture in this process work with other weights."""
    sentence, gate = (
        _module(weights_module(learned.weights, learned.kinds)),
        _module(gate_module(learned.gate, learned.passes)),
    )
    weights = _capture_model.table(sentence["WEIGHTS"], sentence["WORDINGS"])
    for module, values in (
        (_capture_model, {"BIAS": sentence["BIAS"], "_WEIGHTS": weights}),
        (_capture_kinds, {"KIND_WEIGHTS": sentence["KIND_WEIGHTS"]}),
        (_capture_gate, {"PASS": gate["PASS"], "WEIGHTS": gate["WEIGHTS"]}),
    ):
        for name, value in values.items():
            setattr(module, name, value)


def _module(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "weights", "exec"), names)  # noqa: S102 - written a moment ago
    return names


def _share(through: Sequence[bool]) -> float:
    return round(sum(through) / max(1, len(through)), 4)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
