"""How long agents waited for hooks is kept for the latest calls, with and without a service."""

from __future__ import annotations

import os
from pathlib import Path

from tests.service.house import House
from told.service.latency import Waited, append_waited, read_waited


def test_calls_are_kept_with_and_without_a_service(house: House) -> None:
    house.prompt("Hello there", TOLD_BACKGROUND="off")
    house.serve()
    house.start()
    house.prompt("Hello again")
    house.call("stop", house.started())
    house.stop()
    found = read_waited(str(house.home))
    assert [one.event for one in found] == ["prompt", "start", "prompt"]
    assert all(one.milliseconds > 0 for one in found)


def test_the_file_stays_small_and_damaged_lines_are_skipped(tmp_path: Path) -> None:
    home = str(tmp_path)
    for number in range(30):
        append_waited(home, [Waited(number, "prompt", 1.0)] * 100)
    path = tmp_path / "run" / "latency"
    assert os.path.getsize(path) < 40_000
    assert path.stat().st_mode & 0o777 == 0o600
    with path.open("a") as file:
        file.write("torn li\n9 prompt fast\n")
    append_waited(home, [Waited(31, "start", 2.0)])
    found = read_waited(home)
    assert len(found) <= 500
    assert found[-1] == Waited(31, "start", 2.0)
    assert {one.at for one in read_waited(home, since=29)} == {29, 31}
    append_waited(str(tmp_path / "nowhere"), found)
    assert not (tmp_path / "nowhere").exists()
