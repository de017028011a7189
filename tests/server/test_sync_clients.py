"""Many clients with stores of their own, offline in turns, end in one state."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.server.live import serving
from tests.server.site import Site
from tests.soak import points
from tests.sync.machines import Machine
from tests.sync.test_convergence import YEAR, act
from told.errors import BusyError
from told.sync.exchange import Exchange
from told.sync.transports.server import ServerTransport

AWAY = "http://127.0.0.1:1"


def sync(machine: Machine, url: str, token: str) -> Exchange:
    """Sync with a server."""
    with closing(ServerTransport(url, machine.identity.space, token)) as transport:
        return machine.sync(transport)


@pytest.mark.parametrize("count", [4, pytest.param(20, marks=pytest.mark.soak)])
def test_all_clients_end_in_one_state(site: Site, tmp_path: Path, count: int) -> None:
    rng = random.Random(count)
    skews = [0, YEAR, -YEAR, 3_600_000]
    first = Machine(tmp_path / "m0")
    machines = [first] + [Machine(tmp_path / f"m{n}", first.identity, skews[n % 4]) for n in range(1, count)]
    names: list[str] = []
    forgotten: set[str] = set()
    operations = int(os.environ.get("TOLD_SYNC_OPERATIONS", points(everyday=60, soak=10_000)))
    token = site.tokens["max"]
    with serving(site) as url, ThreadPoolExecutor(4) as pool:
        step = max(20, operations // 50)
        for turn in range(0, operations, step):
            for number in range(turn, turn + step):
                act(rng, rng.choice(machines), names, forgotten, number)
            online = rng.sample(machines, max(1, count // 4))
            for machine in set(machines[:2]) - set(online):
                with pytest.raises(BusyError, match="cannot be reached"):
                    sync(machine, AWAY, token)
            # What another client changes meanwhile is named as a problem, and read again the next time.
            list(pool.map(lambda machine: sync(machine, url, token), online))
        for _ in range(8):  # each machine that knew a forgotten text says once that it is gone
            found = [sync(machine, url, token) for machine in machines]
            if not any(one.sent or one.received for one in found):
                break
    assert not any(one.sent or one.received or one.problems for one in found)
    states = {one.state() for one in machines}
    print(f"{count} clients, {operations} operations, {len(names)} memories, state {states}")
    assert len(states) == 1
    assert not forgotten & {row.id for one in machines for row in one.all() if row.text}
    for one in machines:
        one.close()
