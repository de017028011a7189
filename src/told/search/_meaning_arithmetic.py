"""Arithmetic on vectors without numpy: one big whole number holds many small ones, each in a lane of 32 bits.

Python adds and multiplies big numbers in C, so a step on all lanes at once costs little more than a step on
one. Values have 128 added in the lanes, so that none is negative and no lane borrows from the next.
"""

from __future__ import annotations

from math import isqrt
from operator import mul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BIAS = 128
LENGTH = 400  # of every vector, in steps of its numbers
_LANE = 4  # bytes
FINE = 15  # bits that are kept of a sum before it is brought to length


def spread(values: bytes) -> int:
    """Return a row as one number, each of its values in a lane of its own."""
    lanes = bytearray(_LANE * len(values))
    lanes[::_LANE] = values
    return int.from_bytes(lanes, "little")


def sums(rows: Iterable[tuple[int, int]], dimensions: int) -> list[int]:
    """Add up rows that were spread, each times its weight. Weights below 2^15 and up to 512 rows fit."""
    total = weights = 0
    for weight, values in rows:
        total += weight * values
        weights += weight
    added = BIAS * weights
    return [value - added for value in _lanes(total, dimensions)]


def unit(values: Sequence[int]) -> bytes | None:
    """Bring a vector to the common length, in signed bytes; None for one without length."""
    largest = max(*values, -min(values))
    if not largest:
        return None
    shift = max(0, largest.bit_length() - FINE)
    small = [value >> shift for value in values] if shift else values
    length = isqrt(sum(map(mul, small, small))) or 1
    twice, half = 2 * LENGTH, 2 * length
    return bytes([_SIGNED[(twice * value + length) // half] for value in small])


def dots(one: bytes, others: Sequence[bytes]) -> list[int]:
    """Return the scalar product of a vector with each of many."""
    if not others:
        return []
    count, size = len(others), len(one)
    joined = side_by_side(one, others).translate(_BIASED)
    lanes = bytearray(_LANE * count)
    above = below = 0
    added = 0
    for at, value in enumerate(memoryview(one).cast("b")):
        if value:
            lanes[::_LANE] = joined[at::size]
            column = int.from_bytes(lanes, "little")
            added += value
            if value > 0:
                above += value * column
            else:
                below -= value * column
    added *= BIAS
    return [
        more - less - added for more, less in zip(_lanes(above, count), _lanes(below, count), strict=True)
    ]


def side_by_side(one: bytes, others: Sequence[bytes]) -> bytes:
    """Join vectors that have the dimensions of another one."""
    joined = b"".join(others)
    if len(joined) != len(others) * len(one):
        raise ValueError("All vectors must come from the same model.")
    return joined


def _lanes(number: int, count: int) -> memoryview[int]:
    return memoryview(number.to_bytes(_LANE * count, "little")).cast("I")


_BIASED = bytes([(value + BIAS) & 255 for value in range(256)])
# By a number from -LENGTH - 1 to LENGTH + 1, counted from the end if negative: as a signed byte.
_SIGNED = [*range(128), *[127] * (LENGTH - 126), *[129] * (LENGTH - 125), *range(129, 256)]
