"""Learn the wording of prompts that need no memory: `python -m training.quiet`.

`quiet` has such prompts: thanks, general questions, work on the text at hand. All prompts in `pairs` need
something. In both, English and the other languages count by themselves. Needs numpy; the same texts give the
same weights.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from told.recall import prompt
from told.recall.prompt import count_unknown, extract_wording, mask_numbers
from told.words import split_words
from training.table_pairs import statements

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quiet")
OUT = Path(prompt.__file__).with_name("quiet_weights.txt")
_ENGLISH, _OTHERS = 1.0, 0.5  # how much they count
_COURTESIES = (
    "thanks, now", "please", "ok,", "great, now", "bitte", "danke, jetzt", "merci, maintenant", "por favor",
    "can you", "could you", "tu peux", "kannst du", "puedes", "você pode",
)  # fmt: skip
_SHORT_WORDS, _EVERY = 5, 4  # of the prompts that get one
_RARE = 3  # texts that a wording needs
_RARE_IN_QUIET, _COMMON = 2, 30
_ROUNDS, _STEP, _WEAKNESS = 300, 0.05, 2e-5
_FAINT, _STEPS = 8, 5  # hundredths: the least weight that is kept, and to what weights are rounded


class Text(NamedTuple):
    """A prompt's words and wording, whether it is quiet, its weight."""

    words: tuple[str, ...]
    wording: frozenset[str]
    quiet: bool
    weight: float


def main() -> None:
    """Learn and write the weights."""
    texts = [*_counted(_quiet(english=True), _needing(english=True), _ENGLISH)]
    texts += _counted(_quiet(english=False), _needing(english=False), _OTHERS)
    common = _common(texts)
    known = {word for text in texts for word in text.words if word in common}
    texts = [
        text._replace(wording=text.wording & common | {count_unknown(text.words, known.__contains__)})
        for text in texts
    ]
    learned = fit(texts)
    OUT.write_text(format_weights(learned, known), encoding="utf-8")
    for quiet in (True, False):
        right = [
            (sum(learned.get(name, 0) for name in text.wording) + learned[""] >= 0) == quiet
            for text in texts
            if text.quiet == quiet
        ]
        print(f"{'quiet' if quiet else 'needing'}: {len(right)}, {np.mean(right):.3f} right")
    print(f"{len(learned)} wordings")


def _common(texts: Sequence[Text]) -> set[str]:
    """Return the wordings that several texts have."""
    counts = collections.Counter(name for text in texts for name in text.wording)
    quiet = collections.Counter(name for text in texts if text.quiet for name in text.wording)
    return {
        name for name, count in counts.items()
        if count >= _RARE and (quiet[name] >= _RARE_IN_QUIET or count >= _COMMON)
    }  # fmt: skip


def fit(texts: list[Text]) -> dict[str, int]:
    """Return the weights in hundredths; "" is the bias."""
    names = ["", *sorted({name for text in texts for name in text.wording})]
    place = {name: at for at, name in enumerate(names)}
    rows = [[0, *(place[name] for name in sorted(text.wording))] for text in texts]
    flat = np.concatenate(rows)
    sizes = np.array([len(row) for row in rows])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    of_text = np.repeat(np.arange(len(rows)), sizes)
    right = np.array([text.quiet for text in texts], float)
    share = np.array([text.weight for text in texts])
    share /= share.sum()
    values, first, second = (np.zeros(len(names)) for _ in range(3))
    for number in range(1, _ROUNDS + 1):
        chance = 1 / (1 + np.exp(-np.add.reduceat(values[flat], starts)))
        slope = np.bincount(flat, weights=(share * (chance - right))[of_text], minlength=len(names))
        slope[1:] += _WEAKNESS * values[1:]
        first += 0.1 * (slope - first)
        second += 0.001 * (slope**2 - second)
        values -= _STEP * (first / (1 - 0.9**number)) / (np.sqrt(second / (1 - 0.999**number)) + 1e-9)
    return {name: round(100 * value) for name, value in zip(names, values.tolist(), strict=True)}


def format_weights(learned: Mapping[str, int], known: Container[str]) -> str:
    """Return the weights that matter and those of all known words, a line for each weight."""
    by_weight: dict[int, list[str]] = {}
    for name, weight in sorted(learned.items()):
        if name and (abs(weight) >= _FAINT or name in known):
            by_weight.setdefault(round(weight / _STEPS) * _STEPS, []).append(name)
    lines = [f"{weight} {' '.join(names)}" for weight, names in sorted(by_weight.items())]
    return "\n".join([str(learned[""]), *lines, ""])


def _counted(quiet: list[str], needing: list[str], weight: float) -> Iterable[Text]:
    for prompts, is_quiet in ((quiet, True), (needing, False)):
        for one in prompts:
            words = mask_numbers(split_words(one))
            said = frozenset(extract_wording(words, asks=one.rstrip().endswith("?")))
            yield Text(tuple(words), said, is_quiet, weight / len(prompts))


def _quiet(*, english: bool) -> list[str]:
    found = []
    for name in sorted(os.listdir(FOLDER)):
        if (name == "english.txt") == english:
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                found += [line.strip() for line in file if line.strip()]
    return found


def _needing(*, english: bool) -> list[str]:
    """Return the prompts that need something; short ones also with a courtesy before them."""
    asked = [one for _, asking in statements(talk=False, english=english) for one in asking]
    short = [one for one in asked if one.count(" ") < _SHORT_WORDS and one[0].islower()][::_EVERY]
    return asked + [f"{_COURTESIES[at % len(_COURTESIES)]} {one}" for at, one in enumerate(short)]


if __name__ == "__main__":
    main()
