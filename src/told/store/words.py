"""What both full-text indexes need: changes held until a transaction ends, and how many rows are indexed."""

from __future__ import annotations

from told.store.database import Transaction, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Protocol

    import apsw

    Words = tuple[str, ...]

    class HoldsWords(Protocol):
        """A writer whose words wait for the end of the transaction."""

        def flush_words(self) -> None:
            """Bring the index in line."""

        def forget_pending(self) -> None:
            """Drop what waits."""


class WordsTransaction(Transaction):
    """A transaction that also brings the full-text index up to date."""

    def __init__(self, connection: apsw.Connection, writer: HoldsWords) -> None:
        """Take the writer whose words wait."""
        super().__init__(connection)
        self._writer = writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep everything, words included, or nothing."""
        if kind is None:
            try:
                self._writer.flush_words()
            except BaseException:
                super().__exit__(BaseException, None, None)
                raise
        else:
            self._writer.forget_pending()
        super().__exit__(kind, error, trace)


def net_changes(pending: Iterable[tuple[int, bool, Words]]) -> dict[int, tuple[Words | None, Words | None]]:
    """Reduce what happened to each row to the words first removed and the words last added.

    Args:
        pending: (row, whether words were added rather than removed, words), in the order it happened.
    """
    changes: dict[int, tuple[Words | None, Words | None]] = {}
    for row_id, adding, words in pending:
        removed, added = changes.get(row_id, (None, None))
        if adding:
            added = words
        else:
            # What was added in this same transaction never reached the index.
            removed = words if added is None and removed is None else removed
            added = None
        changes[row_id] = (removed, added)
    return changes


def indexed_rows(connection: apsw.Connection, index: str) -> int:
    """Return how many rows are indexed, as the index itself says: counting them would read them all."""
    averages = rows(connection, f"SELECT block FROM {index}_data WHERE id = 1")[0][0]
    total = 0
    for byte in averages:
        total = total << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return total
