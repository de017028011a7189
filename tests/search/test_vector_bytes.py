"""A model's numbers as signed bytes: of the same length for all, whatever the numbers are."""

from __future__ import annotations

from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.search._meaning_arithmetic import LENGTH
from told.search._vector_bytes import signed
from told.search.meaning import similarity


def length(vector: bytes) -> float:
    return sqrt(sum(value * value for value in memoryview(vector).cast("b")))


@given(st.lists(st.floats(-2, 2), min_size=64, max_size=384), st.floats(0, 40))
def test_all_are_of_the_same_length(values: list[float], outlier: float) -> None:
    spread = [value + (-1) ** at for at, value in enumerate(values)]
    spread[3] = outlier  # larger than all others in every vector, as in some real models
    found = signed(spread)
    assert found is not None
    if sum(abs(value) > 0.5 for value in spread) > len(spread) / 2:
        assert abs(length(found) - LENGTH) < 12
    assert all(-127 <= value <= 127 for value in memoryview(found).cast("b"))


def test_what_is_large_in_every_vector_does_not_hide_what_differs() -> None:
    one, other = ([9.0, *(((at * step) % 7) - 3 for at in range(300))] for step in (1, 3))
    first, again, second = signed(one), signed([2 * value for value in one]), signed(other)
    assert first is not None
    assert second is not None
    assert first == again
    assert similarity(first, first) == pytest.approx(1, abs=0.01)
    assert similarity(first, second) < 0.9


@pytest.mark.parametrize("values", [[0.0, 0.0], [nan, 1.0], [inf, 1.0], [1e200, 1e200]])
def test_what_is_no_vector(values: list[float]) -> None:
    assert signed(values) is None
