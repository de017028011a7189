"""Learns how much each side of a turn counts: `python -m training.fusion --locomo FILE --longmemeval FILE`.

`--haystacks FILE` adds the haystacks that go with the latter.

Both are files as published, gzip or not; they are never part of the project. Only the tuning parts are read:
LoCoMo's first five chats, of LongMemEval (each question's evidence among that of others, and among all) the
fifth of the questions that a hash of their ids chooses, and half of the coding history. told itself finds the
candidates of each question; the weights are those with which the right turns are most likely to be drawn.
LoCoMo counts as much as LongMemEval and the coding history together. There are two sets of weights: where
turns have vectors, and where they have none. `--write` puts them into told.search.weights. Needs numpy; the
same data gives the same weights.

The weights of the columns, what a long answer is and how sessions are ordered were chosen by trying few
values on the same parts.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import NamedTuple

import numpy as np

from benchmarks import code_data, locomo, locomo_data, longmemeval_data
from benchmarks.retrieval import Told, Words, tuning_part
from told.search import weights
from told.search.sessions import gathered, known
from told.search.sides import sides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from benchmarks.longmemeval_data import Oracle, Question

    Floats = np.ndarray[Any, np.dtype[np.float64]]

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/told/search/weights.py")
_CHATS = 5  # of LoCoMo; the others are held apart
_PARTS = 5  # of LongMemEval; all but one are held apart
_HALVES = 2  # of the coding history
_SHARES = {"locomo": 1.0, "haystacks": 0.5, "o48": 0.5, "pool": 0.3, "code": 0.3}
_CANDIDATES = 80  # the ones behind them are hardly ever right
_ROUNDS, _STEP = 400, 0.05
_WEAKNESS = 1e-3  # how strongly weights are drawn to zero
_OWN, _FULL = weights.SIDES.index("words"), weights.SIDES.index("full")


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
        every = sides(found.hits, known(self._store, question, found))
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
        learned = learn({part: list(cases) for part, cases in _parts(chosen, corpus).items()})
        print(name)
        size = len(weights.SIDES)
        for at, side in enumerate(weights.SIDES):
            old, old_full = getattr(weights, name)[at], getattr(weights, f"{name}_FULL")[at]
            print(f"{side:16} {old:6.2f} {learned[at]:6.2f}   {old_full:6.2f} {learned[size + at]:6.2f}")
        if chosen.write:
            _write(name, learned[:size])
            _write(f"{name}_FULL", learned[size:])
    return 0


def learn(parts: Mapping[str, Sequence[Case]]) -> list[float]:
    """Return the weight of each side, and what is added to it for a turn of full length.

    That of a turn's own words is 1.

    Args:
        parts: The questions of each part of the data.
    """
    batches = [
        _batch(kept, _SHARES[name])
        for name, cases in parts.items()
        if (kept := [one for one in cases if any(one.right) and not all(one.right)])
    ]
    values = np.zeros(2 * len(weights.SIDES))
    first, second = np.zeros_like(values), np.zeros_like(values)
    for number in range(1, _ROUNDS + 1):
        slope = _WEAKNESS * values + sum((_slope(batch, values) for batch in batches), np.zeros_like(values))
        first += 0.1 * (slope - first)
        second += 0.001 * (slope**2 - second)
        pace = np.sqrt(second / (1 - 0.999**number)) + 1e-8
        values -= _STEP * first / (1 - 0.9**number) / pace
    return [round(float(value / values[_OWN]), 2) for value in values]


class Batch(NamedTuple):
    """The cases of one part, brought to one size."""

    sides: Floats  # case, candidate, side
    right: Floats  # of each case 1 in all
    there: Floats
    share: float  # how much a case counts


def _batch(cases: Sequence[Case], share: float) -> Batch:
    size = max(len(case.sides) for case in cases)
    count = len(weights.SIDES)
    every = np.zeros((len(cases), size, 2 * count))
    right, there = np.zeros((len(cases), size)), np.zeros((len(cases), size))
    for at, case in enumerate(cases):
        own = np.array(case.sides)
        every[at, : len(own)] = np.hstack([own, own * own[:, [_FULL]]])
        right[at, : len(own)] = np.array(case.right) / sum(case.right)
        there[at, : len(own)] = 1
    return Batch(every, right, there, share / len(cases))


def _slope(batch: Batch, values: Floats) -> Floats:
    """Return how the likelihood of drawing a right candidate changes with each weight."""
    totals = np.where(batch.there > 0, batch.sides @ values, -1e9)
    raised = np.exp(totals - totals.max(axis=1, keepdims=True))
    errors = raised / raised.sum(axis=1, keepdims=True) - batch.right
    slope: Floats = batch.share * np.einsum("nk,nkf->f", errors, batch.sides)
    return slope


def _parts(chosen: argparse.Namespace, corpus: type[Sides]) -> dict[str, Iterator[Case]]:
    oracle = longmemeval_data.oracle(chosen.longmemeval)
    asked = [one for one in oracle.questions if not one.abstention and tuning_part(one.id, _PARTS)]
    haystacks = longmemeval_data.haystacks(chosen.haystacks) if chosen.haystacks else {}
    return {
        "locomo": _of_locomo(chosen.locomo, corpus),
        "haystacks": (
            corpus(haystacks[one.id]).case(one.text, one.now, one.sessions, by_session=True)
            for one in asked
            if one.id in haystacks
        ),
        "o48": (
            corpus(longmemeval_data.among_others(oracle, one)).case(one.text, one.now, one.turns)
            for one in asked
            if one.turns
        ),
        "pool": _of_pool(oracle, asked, corpus),
        "code": _of_code(corpus),
    }


def _of_locomo(path: str, corpus: type[Sides]) -> Iterator[Case]:
    for chat in locomo_data.load(path)[:_CHATS]:
        said = locomo.corpus(chat)
        index = corpus(said.said)
        for question, (text, now) in zip(chat.questions, said.questions, strict=True):
            yield index.case(text, now, question.evidence)


def _of_pool(oracle: Oracle, asked: Sequence[Question], corpus: type[Sides]) -> Iterator[Case]:
    index = corpus([turn for said in oracle.sessions.values() for turn in said])
    for one in asked:
        if one.turns:
            yield index.case(one.text, one.now, one.turns)


def _of_code(corpus: type[Sides]) -> Iterator[Case]:
    history = code_data.history(os.path.join(code_data.FOLDER, "parcels.txt"), code_data.SESSIONS)
    index = corpus(history.corpus().said)
    for session in history.fixed:
        if tuning_part(session.id, _HALVES):
            for question in session.questions:
                yield index.case(question, history.now, (session.id,), by_session=True)


def _write(name: str, learned: Sequence[float]) -> None:
    with open(OUT, encoding="utf-8") as file:
        text = file.read()
    line = f"{name} = ({', '.join(str(value) for value in learned)})"
    with open(OUT, "w", encoding="utf-8") as file:
        file.write(re.sub(rf"(?m)^{name} = \(.*\)$", line, text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
