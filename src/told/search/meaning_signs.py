"""Compares a vector with very many others by their signs alone.

Of two unrelated vectors about half of the signs differ; the nearer the texts, the fewer do.
"""

from __future__ import annotations

from math import pi, sin

from told.store.memory_meaning import SIGNS, SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_REPEATED = int.from_bytes(b"\x01" * 256, "little")
_EVERY = int.from_bytes(bytes(range(256)), "little")
_COUNTS = bytes([value.bit_count() for value in range(256)])


def differences(one: bytes, several: Sequence[bytes]) -> list[bytes]:
    """Return in how many signs each of many vectors, which stand by columns, differs from one.

    Args:
        one: The signs of one vector.
        several: The signs of the many, in as many parts as one likes; each part is answered by itself.
    """
    # For each byte of the one: by what each byte there is differs from it.
    tables = [(_EVERY ^ _REPEATED * value).to_bytes(256, "little").translate(_COUNTS) for value in one]
    found = []
    for by_columns in several:
        count = len(by_columns) // SIZE
        total = 0
        for at, table in enumerate(tables):
            column = by_columns[at * count : (at + 1) * count]
            total += int.from_bytes(column.translate(table), "little")
        found.append(total.to_bytes(count, "little"))
    return found


def likeness(difference: float) -> float:
    """Return how near two vectors are likely to be, by how many of their signs differ."""
    return sin(pi / 2 * (1 - 2 * difference / SIGNS))
