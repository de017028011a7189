"""Learns how prompts are worded that need nothing of what is remembered: `python -m training.quiet`.

`quiet` has such prompts: thanks, general questions, work on the text at hand. All prompts in `pairs` need
something. In both, English and the other languages count by themselves. Needs numpy; the same texts give the
same weights.
"""

from __future__ import annotations

import collections
import os
from typing import NamedTuple

import numpy as np

from told.memory import _recall_wording
from told.memory._recall_wording import plain, strange, wording
from told.search.topics import spoken
from training.table_pairs import statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quiet")
OUT = os.path.join(os.path.dirname(os.path.abspath(_recall_wording.__file__)), "_recall_wording_weights.py")
QUIET = 100  # hundredths: chosen on the projects that weights are set on, where it hides one need in fifty
_ENGLISH, _OTHERS = 1.0, 0.5  # how much they count
_RARE = 3  # texts; what fewer have says nothing
_RARE_IN_QUIET, _COMMON = 2, 30
_ROUNDS, _STEP, _WEAKNESS = 300, 0.05, 2e-5
_FAINT = 8  # hundredths
_HEAD = '''"""How much each wording speaks for a quiet prompt, in hundredths; by its first letter.

Written by `python -m training.quiet`; do not edit.
"""

# ruff: noqa: E501, RUF001 - words of many languages, as many on a line as begin alike
from __future__ import annotations
'''


class Text(NamedTuple):
    """A prompt's words and wording, whether it is quiet, and how much it counts."""

    words: tuple[str, ...]
    wording: frozenset[str]
    quiet: bool
    weight: float


def main() -> None:
    """Learn the weights and write them."""
    texts = [*_counted(_quiet(english=True), _needing(english=True), _ENGLISH)]
    texts += _counted(_quiet(english=False), _needing(english=False), _OTHERS)
    common = _common(texts)
    known = {word for text in texts for word in text.words if word in common}
    texts = [
        text._replace(wording=text.wording & common | {strange(text.words, known.__contains__)})
        for text in texts
    ]
    learned = fit(texts)
    with open(OUT, "w", encoding="utf-8") as file:
        file.write(module(learned, known))
    for quiet in (True, False):
        right = [
            (sum(learned.get(name, 0) for name in text.wording) + learned[""] >= QUIET) == quiet
            for text in texts
            if text.quiet == quiet
        ]
        print(f"{'quiet' if quiet else 'needing'}: {len(right)}, {np.mean(right):.3f} right")
    print(f"{len(learned)} wordings")


def _common(texts: Sequence[Text]) -> set[str]:
    """Return the wordings that say something: several texts have them, and quiet ones too or very many."""
    counts = collections.Counter(name for text in texts for name in text.wording)
    quiet = collections.Counter(name for text in texts if text.quiet for name in text.wording)
    return {
        name for name, count in counts.items()
        if count >= _RARE and (quiet[name] >= _RARE_IN_QUIET or count >= _COMMON)
    }  # fmt: skip


def fit(texts: list[Text]) -> dict[str, int]:
    """Return the weight of each wording, in hundredths; that of "" is for all texts."""
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


def module(learned: Mapping[str, int], known: Container[str]) -> str:
    """Return the source of the module with the weights: all that say something, and all known words."""
    by_letter: dict[str, list[str]] = {}
    for name, weight in sorted(learned.items()):
        if name and (abs(weight) >= _FAINT or name in known):
            by_letter.setdefault(name[0], []).append(f"{name} {weight}")
    lines = [_HEAD, f"BIAS = {learned['']}", f"QUIET = {QUIET}", "WEIGHTS = {"]
    lines += [
        f"    {_quoted(letter)}: {_quoted(' ' + '  '.join(of) + ' ')}," for letter, of in by_letter.items()
    ]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _counted(quiet: list[str], needing: list[str], weight: float) -> Iterable[Text]:
    for prompts, is_quiet in ((quiet, True), (needing, False)):
        for prompt in prompts:
            words = plain(spoken(prompt))
            said = frozenset(wording(words, asks=prompt.rstrip().endswith("?")))
            yield Text(tuple(words), said, is_quiet, weight / len(prompts))


def _quiet(*, english: bool) -> list[str]:
    found = []
    for name in sorted(os.listdir(FOLDER)):
        if (name == "english.txt") == english:
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                found += [line.strip() for line in file if line.strip()]
    return found


def _needing(*, english: bool) -> list[str]:
    return [one for _, asking in statements(talk=False, english=english) for one in asking]


if __name__ == "__main__":
    main()
