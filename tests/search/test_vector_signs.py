"""Comparison of vectors by their signs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.search.vectors.arithmetic import count_differences, find_nearest, pack_signs


def apart(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()


def made(count: int, size: int, seed: int = 1) -> list[bytes]:
    source = random.Random(seed)
    return [source.randbytes(size) for _ in range(count)]


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=40), st.binary(min_size=32, max_size=32))
def test_count_differences_counts_bits(others: list[bytes], one: bytes) -> None:
    assert list(count_differences(one, b"".join(others))) == [apart(one, other) % 256 for other in others]


@settings(max_examples=30)
@given(st.lists(st.binary(min_size=64, max_size=64), max_size=9), st.binary(min_size=64, max_size=64))
def test_count_differences_halves_long_vectors(others: list[bytes], one: bytes) -> None:
    assert list(count_differences(one, b"".join(others))) == [
        apart(one, other) // 2 % 256 for other in others
    ]


def test_count_differences_handles_many_vectors() -> None:
    one, *others = made(10_001, 32)
    assert list(count_differences(one, b"".join(others))) == [apart(one, other) for other in others]


def test_find_nearest_includes_ties() -> None:
    one, *others = made(301, 32)
    others[77] = others[200] = one
    found = find_nearest(one, b"".join(others), 10)
    assert found[:2] == [77, 200]
    counts = [apart(one, other) for other in others]
    assert sorted(found) == [at for at, count in enumerate(counts) if count <= counts[found[-1]]]
    assert len(found) >= 10


def test_find_nearest_uses_first_signs() -> None:
    one, *others = made(5001, 32)
    source = random.Random(7)
    near = {source.randrange(5000) for _ in range(10)}
    for place in near:  # a few signs differ
        others[place] = (int.from_bytes(one, "little") ^ 1 << source.randrange(256)).to_bytes(32, "little")
    assert set(find_nearest(one, b"".join(others), 10)) == near


def test_find_nearest_returns_all_of_few() -> None:
    one, *others = made(4, 32)
    assert sorted(find_nearest(one, b"".join(others), 100)) == [0, 1, 2]
    assert find_nearest(one, b"", 100) == []


@pytest.mark.parametrize(("dimensions", "size"), [(8, 32), (256, 32), (257, 64), (384, 64), (1024, 128)])
def test_pack_signs_pads_to_power_of_two(dimensions: int, size: int) -> None:
    vector = bytes([200]) + bytes(dimensions - 1)
    assert len(pack_signs(vector)) == size
    assert apart(pack_signs(vector), pack_signs(bytes(dimensions))) == 1
