"""The signs of a vector's numbers, 31 bytes, and how those of many memories stand together.

They stand by columns: first the first byte of each, then the second of each. So one step in C compares one
byte in all of them.
"""

from __future__ import annotations

TYPE_CHECKING = False

SIZE = 31  # bytes: with 248 signs, a count of differences fits into a byte
SIGNS = 8 * SIZE
_AS_DIGITS = bytes([ord("1") if value >= 128 else ord("0") for value in range(256)])


def signs(vector: bytes) -> bytes:
    """Return the signs of a vector's first 248 numbers, which are signed bytes."""
    return int(vector[:SIGNS].translate(_AS_DIGITS), 2).to_bytes(SIZE, "little")


def joined(found: dict[int, bytes]) -> tuple[bytes, bytes]:
    """Return rows, eight bytes each, in order, and their signs by columns."""
    rows = sorted(found)
    every = b"".join([found[row] for row in rows])
    return (
        b"".join([row.to_bytes(8, "little") for row in rows]),
        b"".join([every[at::SIZE] for at in range(SIZE)]),
    )


def apart(rows: bytes, by_columns: bytes) -> dict[int, bytes]:
    """Return the signs of each row again."""
    numbers = memoryview(rows).cast("q").tolist()
    return {row: by_columns[at :: len(numbers)] for at, row in enumerate(numbers)}
