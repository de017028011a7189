"""Integer arithmetic on vectors, the same on every machine.

A vector is a row of signed bytes with a common length. Its signs, one bit for each number, are fast to
compare and tell which vectors are worth an exact comparison. Python's big integers handle many numbers at
once: each gets a lane of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import isfinite, isqrt, pi, sin, sqrt
from operator import mul

from told.store.memories.match import SIGN_BYTES, SIGN_COUNT

BIAS = 128
VECTOR_LENGTH = 400  # of every vector, in steps of its numbers
SUM_BITS = 15  # bits of a sum that are kept before it is normalised
_LANE = 4  # bytes
_BIASED = bytes([(value + BIAS) & 255 for value in range(256)])
# Signed bytes by a number from -VECTOR_LENGTH - 1 to VECTOR_LENGTH + 1; negative ones count from the end.
_SIGNED = [*range(128), *[127] * (VECTOR_LENGTH - 126), *[129] * (VECTOR_LENGTH - 125), *range(129, 256)]

_MIN_SIGN_BYTES = 32
_FIRST_BYTES = 8  # bytes of signs that are compared first
_FIRST_SHARE = 20  # times as many as wanted are compared exactly
_COUNTED = 4096  # sign vectors counted at once
_SIGN_DIGIT = bytes([48] * 128 + [49] * 128)  # of a signed byte: "0" from 0 on, "1" below
_BIT_PATTERNS = (b"\x55\x55", b"\x33\x33", b"\x0f\x0f", b"\xff\x00")
_REPEATED = int.from_bytes(b"\x01" * 256, "little")
_EVERY_BYTE = int.from_bytes(bytes(range(256)), "little")
_BIT_COUNTS = bytes([value.bit_count() for value in range(256)])


def spread_lanes(values: bytes) -> int:
    """Return a row as one number with a lane for each value."""
    lanes = bytearray(_LANE * len(values))
    lanes[::_LANE] = values
    return int.from_bytes(lanes, "little")


def sum_rows(rows: Iterable[tuple[int, int]], dimensions: int) -> list[int]:
    """Add up weighted rows from `spread_lanes`; the weights together are below 2^24."""
    total = weights = 0
    for weight, values in rows:
        total += weight * values
        weights += weight
    added = BIAS * weights
    return [value - added for value in _split_lanes(total, dimensions)]


def normalize_vector(values: Sequence[int]) -> bytes | None:
    """Scale a vector to the common length; None if it is zero."""
    largest = max(*values, -min(values))
    if not largest:
        return None
    shift = max(0, largest.bit_length() - SUM_BITS)
    small = [value >> shift for value in values] if shift else values
    length = isqrt(sum(map(mul, small, small))) or 1
    twice, half = 2 * VECTOR_LENGTH, 2 * length
    return bytes([_SIGNED[(twice * value + length) // half] for value in small])


def quantize(values: Sequence[float]) -> bytes | None:
    """Return a float vector as signed bytes; None if it has no finite length.

    Some models have a few numbers that are too large for a byte in every vector. They are cut, and the others
    are scaled up, so that all vectors have the same length.
    """
    length = _measure_length(values)
    if not length or not isfinite(length):
        return None
    scale = VECTOR_LENGTH / length
    scaled = [value * scale for value in values]
    rounds = 8 if max(map(abs, scaled)) > 127 else 0  # two or three are enough for real vectors
    while rounds:
        scaled = [max(-127, min(127, value * scale)) for value in values]
        length = _measure_length(scaled)
        scale *= VECTOR_LENGTH / length
        rounds = rounds - 1 if length < VECTOR_LENGTH - 0.5 else 0
    return bytes([round(value) & 255 for value in scaled])


def _measure_length(values: Sequence[float]) -> float:
    return sqrt(sum(map(mul, values, values)))


def remove_direction(vector: bytes, direction: bytes) -> bytes | None:
    """Return what is left of a vector without its part in a direction; None if nothing is."""
    own, other = _as_numbers(vector), _as_numbers(direction)
    length, along = sum(map(mul, other, other)), sum(map(mul, own, other))
    return normalize_vector([value * length - along * part for value, part in zip(own, other, strict=True)])


def similarity(one: bytes, other: bytes) -> float:
    """Return the similarity of two vectors: about 1 if equal, 0 if unrelated."""
    if len(one) != len(other):
        raise ValueError("All vectors must come from the same model.")
    product: int = sum(map(mul, _as_numbers(one), _as_numbers(other)))
    return product / (VECTOR_LENGTH * VECTOR_LENGTH)


def similarities(one: bytes, others: Sequence[bytes]) -> list[float]:
    """Return the similarity of many vectors to one."""
    if not others:
        return []
    count, size = len(others), len(one)
    joined = b"".join(others).translate(_BIASED)
    if len(joined) != count * size:
        raise ValueError("All vectors must come from the same model.")
    lanes = bytearray(_LANE * count)
    above = below = 0
    added = 0
    for at, value in enumerate(_as_numbers(one)):
        if value:
            lanes[::_LANE] = joined[at::size]
            column = int.from_bytes(lanes, "little")
            added += value
            if value > 0:
                above += value * column
            else:
                below -= value * column
    added *= BIAS
    pairs = zip(_split_lanes(above, count), _split_lanes(below, count), strict=True)
    return [(more - less - added) / (VECTOR_LENGTH * VECTOR_LENGTH) for more, less in pairs]


def _as_numbers(vector: bytes) -> memoryview[int]:
    return memoryview(vector).cast("b")


def _split_lanes(number: int, count: int) -> memoryview[int]:
    return memoryview(number.to_bytes(_LANE * count, "little")).cast("I")


def pack_signs(vector: bytes) -> bytes:
    """Return the signs of a vector, padded to a power of two of bytes."""
    size = _MIN_SIGN_BYTES
    while 8 * size < len(vector):
        size *= 2
    return int(vector.translate(_SIGN_DIGIT), 2).to_bytes(size, "little")


def find_nearest(one: bytes, others: bytes, most: int) -> list[int]:
    """Return the indexes of at least `most` sign vectors nearest to one.

    Among many, only those are compared whose first signs differ little.
    """
    size = len(one)
    if len(others) < 2 * _FIRST_SHARE * most * size:
        return _find_least(count_differences(one, others), most)
    starts = memoryview(others).cast("Q")[:: size // _FIRST_BYTES].tobytes()
    few = sorted(_find_least(count_differences(one[:_FIRST_BYTES], starts), _FIRST_SHARE * most))
    exact = count_differences(one, b"".join([others[place * size : (place + 1) * size] for place in few]))
    return [few[place] for place in _find_least(exact, most)]


def _find_least(counts: bytes, most: int) -> list[int]:
    found: list[int] = []
    for count in range(256):
        place = counts.find(count)
        while place >= 0:
            found.append(place)
            place = counts.find(count, place + 1)
        if len(found) >= most:
            break
    return found


def count_differences(one: bytes, others: bytes) -> bytes:
    """Return how many signs differ, one byte per vector; halved for longer vectors.

    A vector of 32 bytes whose signs all differ counts as 0; exact comparison sorts it out.
    """
    step = len(one) * _COUNTED
    return b"".join(_count_bits(one, others[start : start + step]) for start in range(0, len(others), step))


def _count_bits(one: bytes, others: bytes) -> bytes:
    """Count differing bits of all vectors at once: by pairs, fours, bytes and so on."""
    size, total = len(one), len(others)
    bits = int.from_bytes(others, "little") ^ int.from_bytes(one * (total // size), "little")
    pairs, fours, eights, sixteens = (_make_mask(pattern, total) for pattern in _BIT_PATTERNS)
    bits -= bits >> 1 & pairs
    bits = (bits & fours) + (bits >> 2 & fours)
    bits = bits + (bits >> 4) & eights
    bits = (bits & sixteens) + (bits >> 8 & sixteens)
    shift = 16
    while shift < 8 * size:
        bits += bits >> shift
        shift *= 2
    if size > _MIN_SIGN_BYTES:
        bits >>= 1
    return bits.to_bytes(total + 8, "little")[:total:size]


@lru_cache(maxsize=32)
def _make_mask(pattern: bytes, total: int) -> int:
    return int.from_bytes(pattern * (total // 2), "little")


def count_column_differences(one: bytes, several: Sequence[bytes]) -> list[bytes]:
    """Return how many signs of memories differ from one, for each block."""
    # For each byte of `one`: how many bits each possible byte differs from it.
    tables = [
        (_EVERY_BYTE ^ _REPEATED * value).to_bytes(256, "little").translate(_BIT_COUNTS) for value in one
    ]
    found = []
    for by_columns in several:
        count = len(by_columns) // SIGN_BYTES
        total = 0
        for at, table in enumerate(tables):
            column = by_columns[at * count : (at + 1) * count]
            total += int.from_bytes(column.translate(table), "little")
        found.append(total.to_bytes(count, "little"))
    return found


def estimate_similarity(differences: float) -> float:
    """Return the likely similarity of vectors by how many signs differ."""
    return sin(pi / 2 * (1 - 2 * differences / SIGN_COUNT))


def pack_vectors(vectors: Sequence[bytes | None], asked: int) -> bytes:
    """Join a turn's vectors behind two bytes with the count of each side."""
    own = [one for one in vectors[:asked] if one]
    others = [one for one in vectors[asked:] if one]
    return bytes([len(own), len(others)]) + b"".join(own + others) if own or others else b""


def unpack_vectors(blob: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the vectors of the question and those of the answer."""
    if not blob:
        return [], []
    own, others = blob[:2]
    size = (len(blob) - 2) // (own + others)
    found = [blob[at : at + size] for at in range(2, len(blob), size)]
    return found[:own], found[own:]
