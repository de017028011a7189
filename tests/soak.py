"""How many points a test tries that could try any number: some every day, many more with `make soak`."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from typing import Any

import pytest

SOAK = os.environ.get("TOLD_SOAK") == "1"


def points(*, everyday: int, soak: int) -> int:
    """Return how many points are tried in this run."""
    return soak if SOAK else everyday


def sampled(values: Iterable[Any], everyday: Container[Any]) -> list[Any]:
    """Return parameters of a test, of which only some are for every day."""
    return [pytest.param(one, marks=() if one in everyday else pytest.mark.soak) for one in values]


def thinned(values: Sequence[Any], step: int) -> list[Any]:
    """Return parameters of a test, of which every so-many-th, from the first on, is for every day."""
    return [
        pytest.param(
            *(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.soak if at % step else ()
        )
        for at, one in enumerate(values)
    ]
