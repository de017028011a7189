"""The same arithmetic with numpy, for bulk work where it is installed. The results are the same."""

from __future__ import annotations

from importlib import import_module

from told.search._meaning_arithmetic import BIAS, FINE, LENGTH, side_by_side
from told.search._meaning_file import HEAVIEST, NAME, RECORD, WEIGHT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from told.search._meaning_file import Table

# Not a dependency of told, so type checkers may not know it.
np: Any = import_module("numpy")
_TOGETHER = 4096  # rows that are handled at once: what fits into the caches


class Rows:
    """The weighted rows of a table."""

    def __init__(self, table: Table) -> None:
        records = np.frombuffer(table.records(), np.uint8).reshape(-1, RECORD)
        self._weights = records[:, NAME].astype(np.int64) + 256 * records[:, NAME + 1].astype(np.int64)
        self._weights &= HEAVIEST
        self._values = records[:, NAME + WEIGHT :]

    def units(self, texts: Sequence[Sequence[int]]) -> list[bytes | None]:
        """Return the vectors of texts, each given by the rows of its pieces."""
        found: list[bytes | None] = [None] * len(texts)
        part: list[int] = []
        pieces = 0
        for at, rows in enumerate(texts):
            if rows:
                part.append(at)
                pieces += len(rows)
            if part and (pieces >= _TOGETHER or at == len(texts) - 1):
                for place, vector in zip(part, self._of([texts[one] for one in part]), strict=True):
                    found[place] = vector
                part, pieces = [], 0
        return found

    def _of(self, texts: Sequence[Sequence[int]]) -> list[bytes | None]:
        counts = np.array([len(rows) for rows in texts])
        flat = np.concatenate([np.array(rows, np.int64) for rows in texts])
        weighted = (self._values[flat].astype(np.int64) - BIAS) * self._weights[flat, None]
        sums = np.add.reduceat(weighted, np.concatenate([[0], np.cumsum(counts)[:-1]]), axis=0)
        largest = np.abs(sums).max(axis=1)
        shift = np.maximum(0, np.array([int(value).bit_length() for value in largest]) - FINE)
        small = sums >> shift[:, None]
        squares = (small * small).sum(axis=1)
        # A root of less than 2^39 in floating point is never off by one here: the next square is far away.
        length = np.maximum(1, np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64))
        numbers = (2 * LENGTH * small + length[:, None]) // (2 * length[:, None])
        signed = np.clip(numbers, -127, 127).astype(np.int8)
        return [row.tobytes() if value else None for row, value in zip(signed, largest, strict=True)]


def dots(one: bytes, others: Sequence[bytes]) -> list[int]:
    """Return the scalar product of a vector with each of many: all below 2^24, so float32 is exact."""
    matrix = np.frombuffer(side_by_side(one, others), np.int8).reshape(-1, len(one))
    query = np.frombuffer(one, np.int8).astype(np.float32)
    found: list[int] = []
    for start in range(0, len(matrix), _TOGETHER):
        products = matrix[start : start + _TOGETHER].astype(np.float32) @ query
        found += products.astype(np.int64).tolist()
    return found
