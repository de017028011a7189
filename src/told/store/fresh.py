"""What waits to be learned from: sessions with new turns, renamed projects, and what was said before."""

from __future__ import annotations

from told.record import record
from told.store.database import Transaction, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

TO_CAPTURE, TO_OBSERVE, TO_UNDERSTAND = 0, 1, 2  # stages; triggers see to the last one
REST = 30 * 60_000  # a session that was quiet for so long can be looked back at


@record
class FreshSession:
    """A session with turns that were not looked at."""

    id: int
    agent: str
    native: str
    kind: str
    project: str  # the key of its project; empty if nobody knows it
    next_n: int

    @property
    def name(self) -> str:
        """What it is called in notes about sessions."""
        return f"{self.agent}/{self.native}"


class Fresh:
    """The tables `fresh`, `renamed` and `said`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def add(self, session_id: int) -> None:
        """Say that a session has new turns; inside the transaction that writes them."""
        values = [(TO_CAPTURE, session_id), (TO_OBSERVE, session_id)]
        self._db.executemany("INSERT OR IGNORE INTO fresh VALUES(?, ?)", values)

    def is_waiting(self) -> bool:
        """Tell whether there is anything that nobody has listened to."""
        sql = "SELECT EXISTS(SELECT 1 FROM fresh WHERE stage = 0) OR EXISTS(SELECT 1 FROM renamed)"
        return bool(rows(self._db, sql)[0][0])

    def is_at_rest(self, now: int) -> bool:
        """Tell whether there is a session that nobody has looked back at, and that came to rest."""
        return bool(self.waiting(TO_OBSERVE, now - REST, 1))

    def waiting(self, stage: int, before: int = 1 << 62, limit: int = 500) -> list[FreshSession]:
        """Return the sessions that wait at a stage and were quiet since a time, the oldest first."""
        found = rows(
            self._db,
            "SELECT s.id, s.agent, s.native, s.kind, coalesce(p.key, ''), s.next_n FROM fresh f"
            " JOIN session s ON s.id = f.session_id LEFT JOIN project p ON p.id = s.project_id"
            " WHERE f.stage = ? AND s.ended < ? ORDER BY s.started, s.public LIMIT ?",
            (stage, before, limit),
        )
        return [FreshSession(*row) for row in found]

    def done(
        self, stage: int, sessions: Iterable[FreshSession], said: Iterable[tuple[int, int, int]] = ()
    ) -> None:
        """Strike off sessions, unless turns came in meanwhile, and note what was said (words, session, n)."""
        with Transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO said VALUES(?, ?, ?)", said)
            self._db.executemany(
                "DELETE FROM fresh WHERE stage = ? AND session_id ="
                " (SELECT id FROM session WHERE id = ? AND next_n = ?)",
                [(stage, one.id, one.next_n) for one in sessions],
            )

    def nothing_to_understand(self, session_id: int) -> None:
        """Strike off a session that has lost its texts, unless a title or a note is left."""
        self._db.execute(
            "DELETE FROM fresh WHERE stage = ?1 AND session_id = ?2 AND NOT EXISTS"
            " (SELECT 1 FROM turn WHERE session_id = ?2 AND (asked != '' OR answered != ''))",
            (TO_UNDERSTAND, session_id),
        )

    def saying(self, words: int, limit: int) -> list[tuple[int, int, str, str, str]]:
        """Return (session id, n, agent, native, project key) of the first sessions that say something."""
        return rows(
            self._db,
            "SELECT session_id, n, s.agent, s.native, coalesce(p.key, '') FROM said"
            " JOIN session s ON s.id = session_id LEFT JOIN project p ON p.id = s.project_id"
            " WHERE words = ? ORDER BY session_id LIMIT ?",
            (words, limit),
        )

    def rename(self, old: str, new: str) -> None:
        """Say that a project has another key; inside the transaction that gives it."""
        self._db.execute("INSERT OR REPLACE INTO renamed VALUES(?, ?)", (old, new))

    def renamed(self) -> list[tuple[str, str]]:
        """Return the (old, new) keys of projects whose memories were not told."""
        return rows(self._db, "SELECT old, new FROM renamed ORDER BY old")

    def told_of(self, renamed: Iterable[tuple[str, str]]) -> None:
        """Strike off renamed projects."""
        with Transaction(self._db):
            self._db.executemany("DELETE FROM renamed WHERE old = ? AND new = ?", renamed)
