"""Signs of vectors: many are compared with one at once, and the count is the true one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.search import signs
from told.search.signs import differences, nearest, signs_of, width


def apart(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()


def made(count: int, size: int, seed: int = 1) -> list[bytes]:
    source = random.Random(seed)
    return [source.randbytes(size) for _ in range(count)]


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=40), st.binary(min_size=32, max_size=32))
def test_the_count_is_that_of_the_bits_that_differ(others: list[bytes], one: bytes) -> None:
    assert list(differences(one, b"".join(others))) == [apart(one, other) % 256 for other in others]


@settings(max_examples=30)
@given(st.lists(st.binary(min_size=64, max_size=64), max_size=9), st.binary(min_size=64, max_size=64))
def test_longer_ones_are_counted_by_twos(others: list[bytes], one: bytes) -> None:
    assert list(differences(one, b"".join(others))) == [apart(one, other) // 2 % 256 for other in others]


def test_many_more_than_are_counted_at_once() -> None:
    one, *others = made(10_001, 32)
    assert list(differences(one, b"".join(others))) == [apart(one, other) for other in others]


def test_the_nearest_come_first_and_all_that_tie_are_among_them() -> None:
    one, *others = made(301, 32)
    others[77] = others[200] = one
    found = nearest(one, b"".join(others), 10)
    assert found[:2] == [77, 200]
    counts = [apart(one, other) for other in others]
    assert sorted(found) == [at for at, count in enumerate(counts) if count <= counts[found[-1]]]
    assert len(found) >= 10


def test_among_many_the_nearest_is_found_by_its_first_signs() -> None:
    one, *others = made(5001, 32)
    source = random.Random(7)
    near = {source.randrange(5000) for _ in range(10)}
    for place in near:  # a few signs differ
        others[place] = (int.from_bytes(one, "little") ^ 1 << source.randrange(256)).to_bytes(32, "little")
    assert set(nearest(one, b"".join(others), 10)) == near


def test_where_there_are_few_all_are_near() -> None:
    one, *others = made(4, 32)
    assert sorted(nearest(one, b"".join(others), 100)) == [0, 1, 2]
    assert nearest(one, b"", 100) == []


@pytest.mark.parametrize(("dimensions", "size"), [(8, 32), (256, 32), (257, 64), (384, 64), (1024, 128)])
def test_the_signs_of_any_number_of_dimensions_have_a_size_that_can_be_halved(
    dimensions: int, size: int
) -> None:
    vector = bytes([200]) + bytes(dimensions - 1)
    assert width(dimensions) == len(signs_of(vector)) == size
    assert apart(signs_of(vector), signs_of(bytes(dimensions))) == 1


def test_numpy_counts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    for size in (32, 64):
        one, *others = made(3000, size)
        without = differences(one, b"".join(others))
        with monkeypatch.context() as patched:
            patched.setattr(signs, "_VERY_MANY", 1)
            assert differences(one, b"".join(others)) == without
