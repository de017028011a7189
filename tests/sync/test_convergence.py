"""Any number of machines, in any order, with gaps, copies, kills and wrong clocks, end in one state."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.soak import points, sampled
from tests.sync.machines import Machine, Shelf

YEAR = 365 * 86_400_000
KINDS = ("confirm", "lock", "unlock", "revise", "supersede", "show", "edge", "reject", "undo", "forget")


class KilledError(Exception):
    """The machine was switched off in the middle of a sync."""


class BadShelf(Shelf):
    """A place that delivers old heads, leaves files out, and dies in the middle of a write."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.rng = rng
        self.is_calm = False
        self._old: dict[str, list[bytes]] = {}

    def _may_die(self) -> None:
        if not self.is_calm and self.rng.random() < 0.05:
            raise KilledError

    def heads(self) -> dict[str, bytes]:
        found = super().heads()
        for name, head in found.items():
            self._old.setdefault(name, []).append(head)
        if self.is_calm:
            return found
        return {
            name: self.rng.choice(self._old[name][-3:]) if self.rng.random() < 0.2 else head
            for name, head in found.items()
            if self.rng.random() > 0.1
        }

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        self._may_die()
        found = super().read(series, names)
        return {name: data for name, data in found.items() if self.is_calm or self.rng.random() > 0.1}

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        self._may_die()
        old, known = self.series.get(series, (None, {}))
        if old == before and not self.is_calm and self.rng.random() < 0.05:
            some = {name: data for name, data in files.items() if data and self.rng.random() < 0.5}
            self.series[series] = old or b"", {**known, **some}  # files arrived, the head did not
            raise KilledError
        return super().write(series, files, head, before=before)


def act(rng: random.Random, machine: Machine, names: list[str], forgotten: set[str], number: int) -> None:
    """Let a machine do something to a memory that it knows."""
    machine.time += rng.randrange(5000)
    sample = rng.sample(names, min(len(names), 40))
    known = [one for one in machine.memories.get(sample).values() if one.text]
    if not known or rng.random() < 0.3:
        names.append(machine.remember(f"Statement{number} zebra{number}.", scope=f"project:p{number % 3}"))
        return
    chosen, other = rng.choice(known), rng.choice(known)
    kind = rng.choice(KINDS)
    if kind == "undo":
        if rng.random() < 1000 / (number + 1):  # it reads the whole journal
            machine.undo()
    elif kind == "forget":
        if len(forgotten) < len(names) / 6:
            machine.forget(chosen.id)
            forgotten.add(chosen.id)
    elif kind == "revise":
        machine.change(kind, chosen.id, text=f"Revised{number} zebra{number}.", importance=rng.randrange(10))
    elif kind in ("supersede", "edge"):
        more = {"by": other.id} if kind == "supersede" else {"kind": "supports", "target": other.id}
        machine.change(kind, chosen.id, **more)
    else:
        machine.change(kind, chosen.id, session=f"s{number % 4}")


@pytest.mark.parametrize("count", sampled([2, 5, 20], [5]))
def test_all_machines_end_in_one_state(tmp_path: Path, count: int) -> None:
    rng = random.Random(count)
    shelf = BadShelf(rng)
    first = Machine(tmp_path / "m0")
    skews = [0, YEAR, -YEAR, 3_600_000]
    machines = [first] + [Machine(tmp_path / f"m{n}", first.identity, skews[n % 4]) for n in range(1, count)]
    names: list[str] = []
    forgotten: set[str] = set()
    for number in range(points(everyday=80, soak=20_000)):
        act(rng, rng.choice(machines), names, forgotten, number)
        if rng.random() < 0.25:
            one = rng.choice(machines)
            try:
                one.sync(shelf, plain=True)
            except KilledError:
                one.reopen()
    shelf.is_calm = True
    shelf.series = {name: row for name, row in shelf.series.items() if row[0]}
    for _ in range(6):  # each machine that knew a forgotten text says once that it is gone
        found = [one.sync(shelf, plain=True) for one in machines]
        if not any(one.sent or one.received for one in found):
            break
    assert not any(one.sent or one.received or one.problems for one in found)
    assert len({one.state() for one in machines}) == 1
    for one in machines:
        one.rebuild()
    assert len({one.state() for one in machines}) == 1
    assert not forgotten & {row.id for one in machines for row in one.all() if row.text}
    for one in machines:
        one.close()
