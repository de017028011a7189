"""Learns how much each side of a turn counts: `python -m training.fusion --locomo FILE --longmemeval FILE`.

`--haystacks FILE` adds the haystacks that go with the latter.

Both are files as published, gzip or not; they are never part of the project. Only their tuning parts are
read: LoCoMo's first five chats, and of LongMemEval (each question's evidence among that of others) the fifth
of the questions that a hash of their ids chooses. told itself finds the candidates of each question; the
weights are those with which the right turns are most likely to be drawn, and both data sets count the same.
There are two sets of weights: where turns have vectors, and where they have none.
`--write` puts them into told.search.weights. The same data gives the same weights.

The weights of the columns, what a long answer is and how sessions are ordered were chosen by trying few
values on the same parts. What the coding histories of `python -m benchmarks code` lost by was left out, as
that the first turn of a session counts more.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from typing import NamedTuple

from benchmarks import locomo, locomo_data, longmemeval_data
from benchmarks.retrieval import Told, Words, tuning_part
from told.search import weights
from told.search.rank import sides
from told.search.sessions import as_written, gathered
from training.descent import Adam

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from told.search.rank import Shape

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/told/search/weights.py")
_CHATS = 5  # of LoCoMo; the others are held apart
_PARTS = 5  # of LongMemEval; all but one are held apart
_CANDIDATES = 60  # the ones behind them are hardly ever right
_ROUNDS = 300
_WEAKNESS = 1e-3  # how strongly weights are drawn to zero
_OWN = 0  # the side that the others are measured by


class Case(NamedTuple):
    """The sides of a question's candidates, and which of them are right."""

    sides: list[tuple[float, ...]]
    right: list[bool]


class Sides(Told):
    """A corpus that tells what speaks for the candidates of a question."""

    def case(self, question: str, now: int, right: Collection[str], *, by_session: bool = False) -> Case:
        """Return the candidates that a question finds, the best first.

        Args:
            question: What is asked.
            now: When.
            right: The turns that answer it.
            by_session: These are sessions; all their turns answer it.
        """
        found = gathered(self._store, question, now=now, meaning=self.meaning)
        shapes: dict[int, Shape] = dict(self._store.shapes([hit[0] for hit in found.hits]))
        every = sides(found.hits, found.query.window, shapes, as_written(question), found.near)
        order = sorted(range(len(every)), key=lambda at: (-every[at][0] - every[at][2], found.hits[at][0]))
        kept = order[:_CANDIDATES]
        hits = [found.hits[at] for at in kept]
        names = [self._sessions[hit[1]] if by_session else self._turns[hit[1], hit[2]] for hit in hits]
        return Case([every[at] for at in kept], [name in right for name in names])


class WordSides(Sides, Words):
    """The same without vectors."""


def main(words: Sequence[str]) -> int:
    """Learn the weights, print them, and write them if asked to."""
    parser = argparse.ArgumentParser(prog="training.fusion", description=__doc__)
    parser.add_argument("--locomo", required=True, metavar="FILE")
    parser.add_argument("--longmemeval", required=True, metavar="FILE")
    parser.add_argument("--haystacks", default="", metavar="FILE")
    parser.add_argument("--write", action="store_true", help="put the weights into told.search.weights")
    chosen = parser.parse_args(words)
    for name, corpus in (("WORDS_ONLY", WordSides), ("WITH_MEANING", Sides)):
        learned = learn([list(_of_locomo(chosen.locomo, corpus)), list(_of_longmemeval(chosen, corpus))])
        print(name)
        for side, old, new in zip(weights.SIDES, getattr(weights, name), learned, strict=True):
            print(f"{side:10} {old:6.2f} {new:6.2f}")
        if chosen.write:
            _write(name, learned)
    return 0


def learn(parts: Sequence[Sequence[Case]]) -> list[float]:
    """Return the weight of each side, where that of a turn's own words is 1.

    Args:
        parts: The questions of each data set; each set counts the same, however many it has.
    """
    size = len(weights.SIDES)
    shared = [
        (case, 1 / len(kept))
        for part in parts
        if (kept := [one for one in part if any(one.right) and not all(one.right)])
        for case in kept
    ]
    values = [1.0] + [0.0] * (size - 1)
    descent = Adam(size)
    for _ in range(_ROUNDS):
        slope = [_WEAKNESS * value for value in values]
        for case, share in shared:
            _add_slope(case, values, share, slope)
        descent.step(values, slope)
    return [round(value / values[_OWN], 2) for value in values]


def _add_slope(case: Case, values: Sequence[float], share: float, slope: list[float]) -> None:
    """Add how the likelihood of drawing a right candidate changes with each weight."""
    totals = [sum([value * side for value, side in zip(values, of, strict=True)]) for of in case.sides]
    top = max(totals)
    raised = [math.exp(total - top) for total in totals]
    whole, wanted = sum(raised), sum(case.right)
    for of, one, right in zip(case.sides, raised, case.right, strict=True):
        error = share * (one / whole - right / wanted)
        if abs(error) > share * 1e-6:
            for at, side in enumerate(of):
                slope[at] += error * side


def _of_locomo(path: str, corpus: type[Sides]) -> Iterator[Case]:
    for chat in locomo_data.load(path)[:_CHATS]:
        said = locomo.corpus(chat)
        index = corpus(said.said)
        for question, (text, now) in zip(chat.questions, said.questions, strict=True):
            yield index.case(text, now, question.evidence)


def _of_longmemeval(chosen: argparse.Namespace, corpus: type[Sides]) -> Iterator[Case]:
    oracle = longmemeval_data.oracle(chosen.longmemeval)
    haystacks = longmemeval_data.haystacks(chosen.haystacks) if chosen.haystacks else {}
    for question in oracle.questions:
        if question.abstention or not tuning_part(question.id, _PARTS):
            continue
        if question.turns:
            index = corpus(longmemeval_data.among_others(oracle, question))
            yield index.case(question.text, question.now, question.turns)
        if question.id in haystacks:
            index = corpus(haystacks[question.id])
            yield index.case(question.text, question.now, question.sessions, by_session=True)


def _write(name: str, learned: Sequence[float]) -> None:
    with open(OUT, encoding="utf-8") as file:
        text = file.read()
    line = f"{name} = ({', '.join(str(value) for value in learned)})"
    with open(OUT, "w", encoding="utf-8") as file:
        file.write(re.sub(rf"(?m)^{name} = \(.*\)$", line, text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
