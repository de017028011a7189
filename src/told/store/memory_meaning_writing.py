"""Writes what memories mean: the vector of each, and the signs of many side by side."""

from __future__ import annotations

from told.store.database import rows
from told.store.memory_meaning import apart, check_of, joined, signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from told.store.memory_records import Meant

TOGETHER = 1024  # memories whose signs stand side by side, at most


class MeaningWriter:
    """Writes them; what changes waits for the end of the transaction, so that many are written at once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._pending: dict[int, tuple[str, Meant] | None] = {}

    def put(self, row: int, scope: str, meant: Meant) -> None:
        """Store what a memory means, in place of what is known of it."""
        self._pending[row] = (scope, meant) if meant.vector else None

    def drop(self, row: int) -> None:
        """Remove what a memory means."""
        self._pending[row] = None

    def forget_pending(self) -> None:
        """Drop what belongs to a transaction that was rolled back."""
        self._pending.clear()

    def flush(self) -> None:
        """Bring both tables in line."""
        changes: dict[tuple[str, str], dict[int, bytes | None]] = {}
        known = "SELECT scope, model FROM meaning_of WHERE row = ?"
        for row, new in sorted(self._pending.items()):
            for scope, model in rows(self._db, known, (row,)):
                changes.setdefault((scope, model), {})[row] = None
                self._db.execute("DELETE FROM meaning_of WHERE row = ?", (row,))
            if new:
                scope, meant = new
                values = (row, scope, meant.model, meant.vector)
                self._db.execute("INSERT INTO meaning_of VALUES(?, ?, ?, ?, ?)", (*values, check_of(values)))
                changes.setdefault((scope, meant.model), {})[row] = signs(meant.vector)
        for (scope, model), listed in changes.items():
            self._change_signs(scope, model, listed)
        self._pending.clear()

    def _change_signs(self, scope: str, model: str, changes: dict[int, bytes | None]) -> None:
        """Change signs of memories; each stands in the last block that begins at its row or before."""
        waiting = sorted(changes, reverse=True)
        while waiting:
            row = waiting[-1]
            first, block = self._block(scope, model, row)
            after = "SELECT min(first) FROM meaning_signs WHERE scope = ? AND model = ? AND first > ?"
            end = rows(self._db, after, (scope, model, row))[0][0]
            while waiting and (end is None or waiting[-1] < end):
                changed = waiting.pop()
                if new := changes[changed]:
                    block[changed] = new
                else:
                    block.pop(changed, None)
            self._db.execute(
                "DELETE FROM meaning_signs WHERE scope = ? AND model = ? AND first = ?", (scope, model, first)
            )
            ordered = sorted(block)
            parts = -(-len(ordered) // TOGETHER)
            for at in range(parts):
                part = ordered[at * len(ordered) // parts : (at + 1) * len(ordered) // parts]
                values = joined({one: block[one] for one in part})
                self._db.execute(
                    "INSERT INTO meaning_signs VALUES(?, ?, ?, ?, ?)", (scope, model, part[0], *values)
                )

    def _block(self, scope: str, model: str, row: int) -> tuple[int, dict[int, bytes]]:
        sql = (
            "SELECT first, rows, signs FROM meaning_signs WHERE scope = ? AND model = ? AND first <= ?"
            " ORDER BY first DESC LIMIT 1"
        )
        for first, numbers, found in rows(self._db, sql, (scope, model, row)):
            return first, apart(numbers, found)
        return row, {}
