"""Learn the weights of the rank signals of a turn.

    python -m training.fusion --locomo FILE --longmemeval FILE [--haystacks FILE] [--write]

The files are those published, gzip or not; they are never part of the project. Only the tuning parts are
read: LoCoMo's first five chats, the fifth of LongMemEval's questions that a hash of their ids selects, and
half of the coding history. told finds the candidates of each question; the weights are those that make the
right turns most likely. LoCoMo counts as much as LongMemEval and the coding history together. There are two
sets of weights, with and without vectors. `--write` stores them. Needs numpy; the same data gives the same
weights.

Column weights, the length of a long answer and the order of sessions were chosen by trying few values.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import code_data, locomo, locomo_data, longmemeval_data
from benchmarks.longmemeval_data import Oracle, Question
from benchmarks.retrieval import Told, Words, tuning_part
from told.search import rank as weights
from told.search.rank import compute_signals
from told.search.sessions import gather_candidates, make_rank_context

Floats = np.ndarray[Any, np.dtype[np.float64]]

OUT = Path(weights.__file__)
_CHATS = 5  # of LoCoMo; the others are held apart
_PARTS = 5  # of LongMemEval; all but one are held apart
_HALVES = 2  # of the coding history
_SHARES = {"locomo": 1.0, "haystacks": 0.5, "o48": 0.5, "pool": 0.3, "code": 0.3}
_CANDIDATES = 80  # the ones behind them are hardly ever right
_ROUNDS, _STEP = 400, 0.05
_WEAKNESS = 1e-3  # how strongly weights are reduced
_OWN, _FULL = weights.SIGNALS.index("words"), weights.SIGNALS.index("full")


class Case(NamedTuple):
    """The rank signals of a question's candidates, and which are right."""

    signals: list[tuple[float, ...]]
    right: list[bool]


class Signals(Told):
    """A corpus that returns the rank signals of a question's candidates."""

    def case(self, question: str, now: int, right: Collection[str], *, by_session: bool = False) -> Case:
        """Return the candidates that a question finds, the best first.

        Args:
            question: What is asked.
            now: When.
            right: The turns that answer it.
            by_session: These are sessions; all their turns answer it.
        """
        found = gather_candidates(self._store, question, now=now, meaning=self.meaning)
        every = compute_signals(found.hits, make_rank_context(self._store, question, found))
        order = sorted(range(len(every)), key=lambda at: (-every[at][0] - every[at][2], found.hits[at][0]))
        kept = order[:_CANDIDATES]
        hits = [found.hits[at] for at in kept]
        names = [self._sessions[hit[1]] if by_session else self._turns[hit[1], hit[2]] for hit in hits]
        return Case([every[at] for at in kept], [name in right for name in names])


class WordSignals(Signals, Words):
    """The same without vectors."""


def main(words: Sequence[str]) -> int:
    """Learn the weights, print them, and write them if asked to."""
    parser = argparse.ArgumentParser(prog="training.fusion", description=__doc__)
    parser.add_argument("--locomo", required=True, metavar="FILE")
    parser.add_argument("--longmemeval", required=True, metavar="FILE")
    parser.add_argument("--haystacks", default="", metavar="FILE")
    parser.add_argument("--write", action="store_true", help="put the weights into told.search.rank")
    chosen = parser.parse_args(words)
    for name, corpus in (("WORDS_ONLY", WordSignals), ("WITH_MEANING", Signals)):
        learned = learn({part: list(cases) for part, cases in _parts(chosen, corpus).items()})
        print(name)
        size = len(weights.SIGNALS)
        for at, signal in enumerate(weights.SIGNALS):
            old, old_full = getattr(weights, name)[at], getattr(weights, f"{name}_FULL")[at]
            print(f"{signal:16} {old:6.2f} {learned[at]:6.2f}   {old_full:6.2f} {learned[size + at]:6.2f}")
        if chosen.write:
            _write(name, learned[:size])
            _write(f"{name}_FULL", learned[size:])
    return 0


def learn(parts: Mapping[str, Sequence[Case]]) -> list[float]:
    """Return the weight of each signal, and its addition for long turns.

    That of a turn's own words is 1.

    Args:
        parts: The questions of each part of the data.
    """
    batches = [
        _batch(kept, _SHARES[name])
        for name, cases in parts.items()
        if (kept := [one for one in cases if any(one.right) and not all(one.right)])
    ]
    values = np.zeros(2 * len(weights.SIGNALS))
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

    signals: Floats  # case, candidate, signal
    right: Floats  # of each case 1 in all
    there: Floats
    share: float  # how much a case counts


def _batch(cases: Sequence[Case], share: float) -> Batch:
    size = max(len(case.signals) for case in cases)
    count = len(weights.SIGNALS)
    every = np.zeros((len(cases), size, 2 * count))
    right, there = np.zeros((len(cases), size)), np.zeros((len(cases), size))
    for at, case in enumerate(cases):
        own = np.array(case.signals)
        every[at, : len(own)] = np.hstack([own, own * own[:, [_FULL]]])
        right[at, : len(own)] = np.array(case.right) / sum(case.right)
        there[at, : len(own)] = 1
    return Batch(every, right, there, share / len(cases))


def _slope(batch: Batch, values: Floats) -> Floats:
    """Return the gradient of the likelihood of a right candidate."""
    totals = np.where(batch.there > 0, batch.signals @ values, -1e9)
    raised = np.exp(totals - totals.max(axis=1, keepdims=True))
    errors = raised / raised.sum(axis=1, keepdims=True) - batch.right
    slope: Floats = batch.share * np.einsum("nk,nkf->f", errors, batch.signals)
    return slope


def _parts(chosen: argparse.Namespace, corpus: type[Signals]) -> dict[str, Iterator[Case]]:
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


def _of_locomo(path: str, corpus: type[Signals]) -> Iterator[Case]:
    for chat in locomo_data.load(path)[:_CHATS]:
        said = locomo.corpus(chat)
        index = corpus(said.said)
        for question, (text, now) in zip(chat.questions, said.questions, strict=True):
            yield index.case(text, now, question.evidence)


def _of_pool(oracle: Oracle, asked: Sequence[Question], corpus: type[Signals]) -> Iterator[Case]:
    index = corpus([turn for said in oracle.sessions.values() for turn in said])
    for one in asked:
        if one.turns:
            yield index.case(one.text, one.now, one.turns)


def _of_code(corpus: type[Signals]) -> Iterator[Case]:
    history = code_data.history(os.path.join(code_data.FOLDER, "parcels.txt"), code_data.SESSIONS)
    index = corpus(history.corpus().said)
    for session in history.fixed:
        if tuning_part(session.id, _HALVES):
            for question in session.questions:
                yield index.case(question, history.now, (session.id,), by_session=True)


def _write(name: str, learned: Sequence[float]) -> None:
    with OUT.open(encoding="utf-8") as file:
        text = file.read()
    line = f"{name} = ({', '.join(str(value) for value in learned)})"
    with OUT.open("w", encoding="utf-8") as file:
        file.write(re.sub(rf"(?m)^{name} = \(.*\)$", line, text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
