"""Build a scratch machine once and copy it for each test."""

from __future__ import annotations

import gc
import shutil
from typing import TYPE_CHECKING

from tests.ingest.box import Box

if TYPE_CHECKING:
    from pathlib import Path


class Kept:
    """A copy of a machine. It is always brought back to where it was: told knows files by their paths."""

    def __init__(self, box: Box) -> None:
        gc.collect()  # a command leaves its connection to the end of the process
        self._place: Path = box.home.parent
        self._copy = self._place.with_name(f"{self._place.name} kept")
        shutil.copytree(self._place, self._copy)

    def again(self) -> Box:
        """Bring the machine back, whatever became of it since."""
        gc.collect()
        shutil.rmtree(self._place)
        box = Box(self._place)
        shutil.copytree(self._copy, self._place, dirs_exist_ok=True)
        return box
