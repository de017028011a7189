"""The benchmark of the team server measures what it says. No time is asserted."""

from __future__ import annotations

import pytest

from benchmarks import server
from benchmarks.server import queue
from tests.soak import points, sampled
from told.server.people import ensure_team
from told.store.postgres.database import Database


@pytest.mark.parametrize("which", sampled(("told", "floor"), ("told",)))
def test_processes_empty_the_queue_together(postgres: Database, which: str) -> None:
    ensure_team(postgres, "acme")
    with postgres.owning() as connection:
        connection.execute(queue.FLOOR_TABLE)
    assert (
        queue.drain(postgres, which, points(everyday=10, soak=50), 2) > 0
    )  # it also checks that each item was taken once
    with postgres.owning() as connection:
        left = "SELECT 1 FROM floor" if which == "floor" else "SELECT 1 FROM job WHERE state <> 'done'"
        assert connection.execute(left).fetchone() is None


def test_every_part_says_how_it_measures() -> None:
    assert set(server.PARTS) == set(server.HOWS)
    assert all(server.HOWS.values())
