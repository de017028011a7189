"""What memories mean, as vectors: one for each that is active, and the signs of many side by side.

A prompt is compared with the signs of all memories of its scopes, and with the whole vectors of the nearest.
A vector goes when its memory ends or loses its text. The name of the model stands with each: vectors of two
models have nothing in common. Signs stand by columns: first the first byte of each memory, then the second of
each, so that one step in C compares one byte in all of them.
"""

from __future__ import annotations

from told.store.database import rows
from told.store.memory_rows import hash_of_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

SIZE = 31  # bytes: with 248 signs, a count of differences fits into a byte
SIGNS = 8 * SIZE
_AS_DIGITS = bytes([ord("1") if value >= 128 else ord("0") for value in range(256)])
_FEW = 500


class Meanings:
    """Reads them."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def signs(self, scopes: Sequence[str], model: str, most: int) -> list[tuple[memoryview[int], bytes]]:
        """Return the signs of the newest memories of each scope, many at once.

        Returns:
            (rows, the signs by columns) of each part. Rows are left out at the beginning of a part where
            there are more than `most`.
        """
        sql = "SELECT rows, signs FROM meaning_signs WHERE scope = ? AND model = ? ORDER BY first DESC"
        found = []
        for scope in scopes:
            left = most
            for packed, signs in self._db.execute(sql, (scope, model)):
                numbers = memoryview(packed).cast("q")
                found.append((numbers[-left:], signs))
                left -= len(numbers)
                if left <= 0:
                    break
        return found

    def vectors(self, numbers: Sequence[int], model: str) -> dict[int, bytes]:
        """Return the vectors of memories, by row, without those of other models."""
        found: dict[int, bytes] = {}
        for start in range(0, len(numbers), _FEW):
            some = numbers[start : start + _FEW]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT row, vector FROM meaning_of WHERE row IN ({marks}) AND model = ?"
            found.update(rows(self._db, sql, (*some, model)))
        return found

    def counts(self) -> dict[str, int]:
        """Return how many vectors there are of each model."""
        return dict(rows(self._db, "SELECT model, count(*) FROM meaning_of GROUP BY model ORDER BY model"))

    def missing(self, model: str, most: int = -1) -> list[int]:
        """Return the rows of active memories that have no vector of a model, the oldest first."""
        sql = (
            "SELECT row FROM memory WHERE status = 'active' AND text != ''"
            " AND row NOT IN (SELECT row FROM meaning_of WHERE model = ?) ORDER BY row LIMIT ?"
        )
        return [row[0] for row in rows(self._db, sql, (model, most))]


def signs(vector: bytes) -> bytes:
    """Return the signs of a vector's first 248 numbers, which are signed bytes."""
    return int(vector[:SIGNS].translate(_AS_DIGITS), 2).to_bytes(SIZE, "little")


def check_of(values: tuple[int, str, str, bytes]) -> bytes:
    """Return the check of a vector's row: its own number, the scope, the model and the vector."""
    return hash_of_row((*values[:-1], values[-1].hex()))


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
