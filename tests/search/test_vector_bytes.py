"""Quantisation of float vectors."""

from __future__ import annotations

from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.search.vectors.arithmetic import VECTOR_LENGTH, quantize, similarity


def length(vector: bytes) -> float:
    return sqrt(sum(value * value for value in memoryview(vector).cast("b")))


@given(st.lists(st.floats(-2, 2), min_size=64, max_size=384), st.floats(0, 40))
def test_quantized_vectors_have_common_length(values: list[float], outlier: float) -> None:
    spread = [value + (-1) ** at for at, value in enumerate(values)]
    spread[3] = outlier  # larger than all others in every vector, as in some real models
    found = quantize(spread)
    assert found is not None
    if sum(abs(value) > 0.5 for value in spread) > len(spread) / 2:
        assert abs(length(found) - VECTOR_LENGTH) < 12
    assert all(-127 <= value <= 127 for value in memoryview(found).cast("b"))


def test_large_values_are_cut() -> None:
    one, other = ([9.0, *(((at * step) % 7) - 3 for at in range(300))] for step in (1, 3))
    first, again, second = quantize(one), quantize([2 * value for value in one]), quantize(other)
    assert first is not None
    assert second is not None
    assert first == again
    assert similarity(first, first) == pytest.approx(1, abs=0.01)
    assert similarity(first, second) < 0.9


@pytest.mark.parametrize("values", [[0.0, 0.0], [nan, 1.0], [inf, 1.0], [1e200, 1e200]])
def test_invalid_values_make_no_vector(values: list[float]) -> None:
    assert quantize(values) is None
