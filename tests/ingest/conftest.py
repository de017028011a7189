"""Provide a scratch machine whose database is checked after each test."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.ingest.box import Box

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def use_box(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Box], Box]]:
    """Use machines. told runs in this process as if on the last one that is used."""
    used = []

    def use(box: Box) -> Box:
        box.live_in(monkeypatch)
        used.append(box)
        return box

    time.tzset()
    yield use
    for box in used:
        box.finish()
    for box in used:
        if box.store.exists():
            box.check()


@pytest.fixture
def make_box(tmp_path: Path, use_box: Callable[[Box], Box]) -> Callable[[str], Box]:
    """Make machines by name, and use them."""
    return lambda name: use_box(Box(tmp_path / name))


@pytest.fixture
def box(make_box: Callable[[str], Box]) -> Box:
    """One scratch machine."""
    return make_box("box")
