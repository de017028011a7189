"""A developer's language: few words often, most words rarely, and names that occur once."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from benchmarks import topics

# An assumption: developers name that many things a sentence that few other sentences name.
_NAMES_IN_A_SENTENCE = 3
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bre cli dro fla gri"


class Language:
    """Makes sentences, code and command output from a seed, always the same ones."""

    def __init__(self, seed: int, sentences: int = 80_000) -> None:
        self.random = random.Random(seed)
        body = [*topics.COMMON, *topics.STEMS, *itertools.islice(rare_words(), 40_000)]
        # Zipf's law as Mandelbrot corrected it: rank r has weight 1 / (r + 2.7).
        weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(body))))
        lengths = self.random.choices(range(7, 17), k=sentences)
        drawn = iter(self.random.choices(body, cum_weights=weights, k=sum(lengths)))
        names = itertools.islice(rare_words(), 40_000, None)
        self._sentences = [self._sentence(drawn, names, length) for length in lengths]
        self._code = "".join(self._make_code() for _ in range(1_200))

    def prose(self, sentences: int) -> str:
        """Return that many sentences."""
        return " ".join(self.random.choices(self._sentences, k=sentences))

    def output(self, size: int) -> str:
        """Return about `size` characters of what a tool printed: code with line numbers, or a log."""
        start = int(self.random.random() * (len(self._code) - size))
        return self._code[start : start + size]

    def _sentence(self, drawn: Iterator[str], names: Iterator[str], length: int) -> str:
        words = list(itertools.islice(drawn, length))
        words[2:5:2] = itertools.islice(names, 2)
        words[-2:-2] = itertools.islice(names, _NAMES_IN_A_SENTENCE - 2)
        return " ".join(words).capitalize() + "."

    def _make_code(self) -> str:
        stems = self.random.choices(topics.STEMS, k=60)
        lines = []
        for number in range(1, 21):
            a, b, c = stems[number * 2 : number * 2 + 3]
            lines.append(
                self.random.choice(
                    (
                        f'{number:>6}\t    {a}_{b} = self.{c}.get("{b}", {number})\n',
                        f"{number:>6}\tdef {a}_{b}({c}: str) -> {a.title()}{b.title()}:\n",
                        f"{number:>6}\t    if not {a}.{b}({c}):\n",
                        f"2026-03-{number:02} 10:{number:02}:07,113 INFO {a}.{b}: {c}={number * 37}\n",
                        f"tests/{a}/test_{b}.py::test_{c} PASSED [{number * 5:>3}%]\n",
                        f"{a}/{b}/{c}.ts:{number}:  const {c} = await {a}('{b}');\n",
                    )
                )
            )
        return "".join(lines)


def rare_words() -> Iterator[str]:
    """Yield words and names without end, each once: made-up words and camel-case names in turn."""
    stems, syllables = topics.STEMS, _SYLLABLES.split()
    titles, size, many = [stem.title() for stem in stems], len(stems), len(syllables)
    pairs = [first + second for first in syllables for second in syllables]
    for number in itertools.count():
        # A stride without a common factor walks through every combination before it repeats.
        first, rest = divmod(number * 7_919 % size**3, size * size)
        yield f"{stems[first]}{titles[rest // size]}{titles[rest % size]}"
        rest, head = divmod(number, many * many)
        more, tail = divmod(rest, many * many)
        yield f"{pairs[head]}{pairs[tail]}{more or ''}"
