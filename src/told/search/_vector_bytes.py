"""A model's floating-point numbers as signed bytes of the common length of all vectors."""

from __future__ import annotations

from math import isfinite, sqrt
from operator import mul

from told.search._meaning_arithmetic import LENGTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def signed(values: Sequence[float]) -> bytes | None:
    """Return a vector's signed bytes; None for one without length, or with a value that is no number."""
    length = sqrt(sum(map(mul, values, values)))
    if not length or not isfinite(length):
        return None
    scale = LENGTH / length
    return bytes([max(-127, min(127, round(value * scale))) & 255 for value in values])
