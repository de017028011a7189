"""Learns when the nearest newer memory took the place of an older one: `python -m training.outgrown`.

It learns from pairs written for it (`outgrown_pairs.txt`), from the invented projects that weights of recall
are set on, where each statement meets the newer one that is nearest to it in meaning, and from the projects
and pairs that supersession is learned from. It writes `memory/_recall_outgrown_weights.py`. Needs numpy; the
same texts and the same table give the same weights.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from benchmarks import invented
from told.memory import _recall_outgrown
from told.memory._recall_outgrown import NEAR_ENOUGH, STATED, evidence
from told.memory.supersede import REPEATS, REPLACES
from told.search.meaning import similarities, vector
from training.supersede_data import met, pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

OUT = os.path.join(os.path.dirname(os.path.abspath(_recall_outgrown.__file__)), "_recall_outgrown_weights.py")
PAIRS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "outgrown_pairs.txt")
_PAIR = 0.5  # how much one counts that was made up to be hard to tell
_ROUNDS, _STEP, _WEAKNESS = 4000, 2.0, 1e-4
_HEAD = '''"""What speaks for it that a newer memory took the place of an older one.

Written by `python -m training.outgrown`; do not edit.
"""

from __future__ import annotations

'''


class Case(NamedTuple):
    """An older statement beside the nearest newer one."""

    evidence: dict[str, float]
    is_over: bool
    weight: float = 1.0


def main() -> None:
    """Learn, and write the weights."""
    cases = [*_of_projects(), *_of_met(), *_of_pairs(), *_of_written()]
    weights = learned(cases)
    lines = [f'    "{name}": {value},\n' for name, value in weights.items()]
    with open(OUT, "w", encoding="utf-8") as file:
        file.write(_HEAD + "WEIGHTS = {\n" + "".join(lines) + "}\n")
    print(f"{len(cases)} cases, {sum(case.is_over for case in cases)} of them over")
    for name, value in weights.items():
        print(f"{name or 'always':18} {value:6.2f}")


def learned(cases: Sequence[Case]) -> dict[str, float]:
    """Return how much each kind of evidence says."""
    names = list(cases[0].evidence)
    found = np.array([[case.evidence[name] for name in names] for case in cases])
    over = np.array([case.is_over for case in cases], float)
    share = np.array([case.weight for case in cases]) / sum(case.weight for case in cases)
    middle, spread = share @ found, found.std(axis=0) + 1e-6
    middle[0], spread[0] = 0.0, 1.0
    scaled = (found - middle) / spread
    values = np.zeros(len(names))
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(-scaled @ values))
        values -= _STEP * (scaled.T @ (share * (chances - over)) + _WEAKNESS * values)
    own = values / spread
    own[0] = values[0] - (values * middle / spread)[1:].sum()
    return {name: round(float(value), 2) for name, value in zip(names, own, strict=True)}


def _of_projects() -> Iterator[Case]:
    fresh = [one for one in invented.projects(invented.FRESH) if one["project"] in invented.SET_ON]
    for project in (*invented.projects(), *fresh):
        said = [
            one for one in sorted(project["memories"], key=lambda one: one["date"])
            if one["source"] == "user" and one["status"] != "other_project"
        ]  # fmt: skip
        texts = [one["text"] for one in said]
        for at, old in enumerate(said):
            new, near = _nearest(old["text"], texts[at + 1 :])
            if near >= NEAR_ENOUGH and not old["locked"]:
                kind = said[at + 1 + new]["kind"]
                found = evidence(
                    old["text"], texts[at + 1 + new], near,
                    same_kind=old["kind"] == kind, stated=old["kind"] in STATED,
                )  # fmt: skip
                yield Case(found, old["status"] != "active")


def _of_met() -> Iterator[Case]:
    by_old: dict[tuple[int, str], list[Any]] = {}
    for one in met():
        by_old.setdefault((one.project, one.old), []).append(one)
    for (_, old), later in by_old.items():
        new, near = _nearest(old, [one.new for one in later])
        if near >= NEAR_ENOUGH:
            found = evidence(old, later[new].new, near, same_kind=True, stated=True)
            yield Case(found, any(one.ends for one in later))


def _of_pairs() -> Iterator[Case]:
    for pair in pairs():
        _, near = _nearest(pair.old, [pair.new])
        if near >= NEAR_ENOUGH and pair.label != REPEATS:
            found = evidence(pair.old, pair.new, near, same_kind=True, stated=True)
            yield Case(found, pair.label == REPLACES, _PAIR)


def _of_written() -> Iterator[Case]:
    is_over = False
    with open(PAIRS, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("["):
                is_over = line == "[over]"
            elif line and not line.startswith("#"):
                kind, old, later_kind, new = (part.strip() for part in line.split(" | "))
                _, near = _nearest(old, [new])
                if near >= NEAR_ENOUGH:
                    found = evidence(old, new, near, same_kind=kind == later_kind, stated=kind in STATED)
                    yield Case(found, is_over)


def _nearest(old: str, later: Sequence[str]) -> tuple[int, float]:
    """Return which of some texts is nearest to another in meaning, and how near."""
    own, others = vector(old), [vector(text) for text in later]
    known = [at for at, one in enumerate(others) if one]
    if not own or not known:
        return 0, 0.0
    near, at = max(zip(similarities(own, [others[at] or b"" for at in known]), known, strict=True))
    return at, near


if __name__ == "__main__":
    main()
