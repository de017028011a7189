"""Fixtures: machines of one user, and members of a team."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sync.machines import Machine, Make, Shelf
from tests.sync.team import Member, meet
from told.sync.identity import Identity


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Make machines of one user, whose clocks may be wrong by some milliseconds."""
    made: list[Machine] = []

    def build(count: int, *skews: int) -> list[Machine]:
        for number in range(count):
            identity = made[0].identity if made else None
            skew = skews[number] if number < len(skews) else 0
            made.append(Machine(tmp_path / f"m{number}", identity, skew))
        return made

    yield build
    for one in made:
        one.close()


@pytest.fixture
def member(tmp_path: Path) -> Iterator[Callable[..., Member]]:
    made: list[Member] = []

    def build(name: str, identity: Identity | None = None) -> Member:
        made.append(Member(tmp_path / f"{name}{len(made)}", name, identity))
        return made[-1]

    yield build
    for one in made:
        one.close()


@pytest.fixture
def pair(member: Callable[..., Member]) -> tuple[Member, Member, Shelf]:
    """Ada, who created the team, and Bo."""
    ada, bo, shelf = member("Ada"), member("Bo"), Shelf()
    bo.join(ada.create_team())
    meet(shelf, ada, bo, ada)
    return ada, bo, shelf
