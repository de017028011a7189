"""A scratch machine for each test, whose store is checked at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.ingest.box import Box

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def make_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Box]]:
    """Make machines by name. told runs in this process as if on the last one that was made."""
    made = []

    def make(name: str) -> Box:
        box = Box(tmp_path / name)
        for variable, value in box.environ.items():
            monkeypatch.setenv(variable, value)
        monkeypatch.chdir(box.home)
        made.append(box)
        return box

    time.tzset()
    yield make
    for box in made:
        box.finish()
    for box in made:
        if box.store.exists():
            box.check()


@pytest.fixture
def box(make_box: Callable[[str], Box]) -> Box:
    """One scratch machine."""
    return make_box("box")
