"""Vectors as the signs of their numbers, one bit each: many of them are compared with one in a moment.

How many signs differ tells well enough which vectors are worth an exact look. Without numpy, one big whole
number holds all of them, and Python's arithmetic counts the bits of all at once.
"""

from __future__ import annotations

_SHORTEST = 32  # bytes
_FIRST = 8  # bytes of signs that are looked at first
_FIRST_LOOK = 20  # how many times as many as are wanted are looked at closer
_TOGETHER = 4096  # vectors that are counted at once: what fits into the caches
_VERY_MANY = 300_000  # vectors: from here on, loading numpy pays
_SIGN = bytes([48] * 128 + [49] * 128)  # of a signed byte: 0 from 0 on, 1 below


def signs_of(vector: bytes) -> bytes:
    """Return the signs of a vector's numbers, filled to a number of bytes that is a power of two."""
    return int(vector.translate(_SIGN), 2).to_bytes(width(len(vector)), "little")


def width(dimensions: int) -> int:
    """Return how many bytes the signs of a vector take."""
    size = _SHORTEST
    while 8 * size < dimensions:
        size *= 2
    return size


def nearest(one: bytes, others: bytes, most: int) -> list[int]:
    """Return the places of the sign vectors that differ least from one: at least `most`, all that tie.

    Among many, only those are looked at whose first signs differ little; hardly any other is near.

    Args:
        one: The signs of a vector.
        others: Those of many, one behind the other.
        most: How many are wanted.
    """
    size = len(one)
    if len(others) < 2 * _FIRST_LOOK * most * size:
        return _least(differences(one, others), most)
    beginnings = memoryview(others).cast("Q")[:: size // _FIRST].tobytes()
    few = sorted(_least(differences(one[:_FIRST], beginnings), _FIRST_LOOK * most))
    fine = differences(one, b"".join([others[place * size : (place + 1) * size] for place in few]))
    return [few[place] for place in _least(fine, most)]


def _least(counts: bytes, most: int) -> list[int]:
    found: list[int] = []
    for count in range(256):
        place = counts.find(count)
        while place >= 0:
            found.append(place)
            place = counts.find(count, place + 1)
        if len(found) >= most:
            break
    return found


def differences(one: bytes, others: bytes) -> bytes:
    """Return in how many signs each of many vectors differs from one; of longer vectors, half of that.

    A byte each. Where all signs of a shorter one differ it says 0: nobody who looks closer is misled by it.
    """
    if len(others) >= _VERY_MANY * len(one) and _has_numpy():
        from told.search._signs_bulk import differences as counted

        return counted(one, others)
    step = len(one) * _TOGETHER
    return b"".join(_counted(one, others[start : start + step]) for start in range(0, len(others), step))


def _counted(one: bytes, others: bytes) -> bytes:
    """Count bits side by side: of pairs, fours, bytes, and so on, until a vector's first bytes have all."""
    size, total = len(one), len(others)
    bits = int.from_bytes(others, "little") ^ int.from_bytes(one * (total // size), "little")
    pairs, fours, eights, sixteens = (_mask(pattern, total) for pattern in _PATTERNS)
    bits -= bits >> 1 & pairs
    bits = (bits & fours) + (bits >> 2 & fours)
    bits = bits + (bits >> 4) & eights
    bits = (bits & sixteens) + (bits >> 8 & sixteens)
    shift = 16
    while shift < 8 * size:
        bits += bits >> shift
        shift *= 2
    if size > _SHORTEST:
        bits >>= 1
    return bits.to_bytes(total + 8, "little")[:total:size]


def _has_numpy() -> bool:
    from importlib.util import find_spec

    return find_spec("numpy") is not None


def _mask(pattern: bytes, total: int) -> int:
    if (pattern, total) not in _masks:
        if len(_masks) > _MOST_MASKS:
            _masks.clear()
        _masks[pattern, total] = int.from_bytes(pattern * (total // 2), "little")
    return _masks[pattern, total]


_PATTERNS = (b"\x55\x55", b"\x33\x33", b"\x0f\x0f", b"\xff\x00")
_MOST_MASKS = 32
_masks: dict[tuple[bytes, int], int] = {}
