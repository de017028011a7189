"""What memories mean, as vectors: one for each that is active, and the signs of many side by side.

A prompt is compared with the signs of all memories of its scopes, and with the whole vectors of the nearest.
A vector goes when its memory ends or loses its text. The name of the model stands with each: vectors of two
models have nothing in common.
"""

from __future__ import annotations

from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

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
