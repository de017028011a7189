"""Reads memories for a search: no more of the store than that needs, since it stands before every answer.

What recall and the commands about memories import would cost a search 2 ms more.
"""

from __future__ import annotations

from told.record import record
from told.store.database import open_database, rows
from told.store.ids import public_id
from told.store.words import indexed_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_HURRY_MS = 20


@record
class MemoryRow:
    """A memory as a search shows it."""

    id: str
    text: str
    kind: str
    label: str
    scope: str
    status: str
    locked: int
    trust: str
    created: int
    updated: int
    expires: int
    superseded_by: str
    words: str  # what it names, and when it applies
    detail: str  # where it comes from, among others

    def said_in(self, agent: str) -> bool:
        """Tell whether it comes from an agent's sessions."""
        return f'"{agent}"' in self.detail

    @property
    def from_session(self) -> bool:
        """Whether it was said in a session, and not at a terminal or in a file."""
        from told.store.memory_json import decoded

        return any(place[1] for place in decoded(self.detail)[0])


_COLUMNS = ", ".join(MemoryRow._fields)  # type: ignore[attr-defined]


class MemorySearch:
    """The memories as they are in the file, for reading only."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def memory_count(self) -> int:
        """Return how many memories are indexed."""
        return indexed_rows(self._db, "memory_words")

    def frequency(self, phrase: str, cap: int) -> int:
        """Return in how many memories an FTS5 expression occurs, counting no further than `cap`."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ?)"
        return int(rows(self._db, sql, (phrase, cap))[0][0])

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        scopes: Sequence[str] = (), ended: bool = False, newest: int = 0,
    ) -> list[tuple[int, float]]:  # fmt: skip
        """Return (row, score) of the best matches among the newest, no archived ones; lower is better."""
        if scopes:
            letters = ("toldscope", "toldended") if ended else ("toldscope",)
            words = [public_id(letter, scope, length=10) for letter in letters for scope in scopes]
            held = f"{{scope_word}}:({' OR '.join(words)}) AND ({expression})"
        else:
            held = f"({expression}) NOT ({{scope_word}}:toldarchived)"  # as `memory_rows` writes it
        marks = ", ".join(str(float(weight)) for weight in (0.0, *weights))
        latest = "SELECT rowid FROM memory_words WHERE memory_words MATCH ?1 ORDER BY rowid DESC LIMIT ?3"
        bound = f" AND rowid >= coalesce((SELECT min(rowid) FROM ({latest})), 0)" if newest else ""
        return rows(
            self._db,
            f"SELECT rowid, bm25(memory_words, {marks}) AS score FROM memory_words"
            f" WHERE memory_words MATCH ?1{bound} ORDER BY score, rowid DESC LIMIT ?2",
            (held, limit, newest) if newest else (held, limit),
        )

    def load(self, numbers: Sequence[int]) -> dict[int, MemoryRow]:
        """Return memories by row."""
        marks = ", ".join("?" * len(numbers))
        found = rows(self._db, f"SELECT row, {_COLUMNS} FROM memory WHERE row IN ({marks})", numbers)
        return {row[0]: MemoryRow(*row[1:]) for row in found}

    def noted(self, topic: str) -> dict[str, str]:
        """Return all notes of a topic by name."""
        found = rows(self._db, "SELECT name, value FROM noted WHERE topic = ? AND value != ''", (topic,))
        return dict(found)

    def sizes(self) -> dict[tuple[str, str], int]:
        """Return up to which byte each segment of the journal is in the file, by machine and name."""
        found = rows(self._db, "SELECT machine, segment, size FROM position")
        return {(machine, segment): size for machine, segment, size in found}

    def close(self) -> None:
        """Let the file go."""
        self._db.close()


def open_for_search(path: str) -> MemorySearch:
    """Open the memories without waiting for anyone.

    Raises:
        MissingError: they are not there, or cannot be read.
    """
    connection = open_database(path, create=False)
    connection.set_busy_timeout(_HURRY_MS)
    return MemorySearch(connection)
