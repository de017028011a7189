"""Two machines with hooks as agents start them: what one is told, the next session of the other knows."""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.house import House, until
from told.cli.main import main


def run(house: House, *words: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(words), house.environ | {"TOLD_BACKGROUND": "off"}) == 0
    return out.getvalue()


@pytest.fixture
def houses(tmp_path: Path) -> Iterator[tuple[House, House]]:
    found = House(tmp_path / "laptop"), House(tmp_path / "desktop")
    (tmp_path / "drive").mkdir()
    code = re.search(r"told-[a-z2-7-]{30,}", run(found[0], "sync", "folder", str(tmp_path / "drive")))
    assert code
    run(found[1], "sync", "join", code.group(), "folder", str(tmp_path / "drive"))
    yield found
    for house in found:
        house.stop()
        house.is_empty()


def forget_last_sync(house: House) -> None:
    """Let the pause between two automatic syncs pass."""
    for path in (house.home / "sync").rglob("state.json"):
        os.utime(path, (time.time() - 60, time.time() - 60))


def test_end_of_a_session_sends_and_a_start_receives(houses: tuple[House, House]) -> None:
    laptop, desktop = houses
    laptop.prompt("/mem:lock Always run make check before a commit", "s-1")
    forget_last_sync(laptop)
    ended = laptop.call("end", laptop._payload("SessionEnd", "s-1") | {"reason": "exit"})
    assert (ended.code, ended.out) == (0, "")

    def arrives() -> bool:
        forget_last_sync(desktop)
        assert desktop.start("s-2").code == 0
        return any("make check" in text for text in desktop.texts())

    assert until(arrives)
