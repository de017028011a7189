"""A model's floating-point numbers as signed bytes of the common length of all vectors."""

from __future__ import annotations

from math import isfinite, sqrt
from operator import mul

from told.search._meaning_arithmetic import LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 127  # of a signed byte
_ROUNDS = 8  # two or three are enough for real ones
_NEAR = 0.5  # as near as rounding comes


def signed(values: Sequence[float]) -> bytes | None:
    """Return a vector's signed bytes; None for one without length, or with a value that is no number.

    Some models have a few numbers that are large in every vector, too large for a byte. They are cut, and the
    others take up the length: vectors of different lengths could not be compared.
    """
    length = _length(values)
    if not length or not isfinite(length):
        return None
    scale = LENGTH / length
    scaled = [value * scale for value in values]
    rounds = _ROUNDS if max(map(abs, scaled)) > _MOST else 0
    while rounds:
        scaled = [max(-_MOST, min(_MOST, value * scale)) for value in values]
        length = _length(scaled)
        scale *= LENGTH / length
        rounds = rounds - 1 if length < LENGTH - _NEAR else 0
    return bytes([round(value) & 255 for value in scaled])


def _length(values: Sequence[float]) -> float:
    return sqrt(sum(map(mul, values, values)))
