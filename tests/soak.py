"""How many points a test tries that could try any number: some every day, many more with `make soak`."""

from __future__ import annotations

import os

SOAK = os.environ.get("TOLD_SOAK") == "1"


def points(*, everyday: int, soak: int) -> int:
    """Return how many points are tried in this run."""
    return soak if SOAK else everyday
