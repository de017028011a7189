"""Fixtures: a machine with the background service, which is gone after the test."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.serve.house import House

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OF_AGENTS = ("CLAUDE", "CODEX", "CURSOR", "XDG_", "AI_AGENT", "TOLD_")


@pytest.fixture
def house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[House]:
    """A machine on which the service is not chosen yet."""
    if sys.platform != "linux":
        pytest.skip("what becomes of a process is read from /proc")
    made = House(tmp_path, capsys)
    made.told_home.mkdir(mode=0o700)
    for name in list(os.environ):
        if name.startswith(_OF_AGENTS):
            monkeypatch.delenv(name)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.home)
    yield made
    made.end()
    gc.enable()  # a command does without


@pytest.fixture
def served(house: House) -> House:
    """A machine on which the service runs."""
    house.begin()
    return house
