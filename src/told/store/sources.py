"""Keeps what is known of agents' files: how far each was read, what was wrong with it, where to look."""

from __future__ import annotations

from told.model import Cursor, Problem, Source
from told.record import record
from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

_SELECT = "SELECT id, agent, path, layout, root, size, changed, offset, line, state, print, gone FROM source"

_MOST_PROBLEMS = 1000  # of one source


@record
class Known:
    """A source as it was when it was last read."""

    id: int
    source: Source
    size: int
    changed: int  # nanoseconds
    cursor: Cursor
    print: str  # of the bytes at its start and before the cursor: tells a rewritten file from a grown one
    gone: bool


class Sources:
    """The tables `source`, `folder`, `problem` and `sweep`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def all(self) -> list[Known]:
        """Return every known source."""
        return [_known(row) for row in rows(self._db, _SELECT)]

    def paths(self) -> set[str]:
        """Return the paths of the sources that are known and were there when last looked for."""
        return {row[0] for row in rows(self._db, "SELECT path FROM source WHERE gone = 0")}

    def get(self, path: str) -> Known | None:
        """Return one source."""
        found = rows(self._db, _SELECT + " WHERE path = ?", (path,))
        return _known(found[0]) if found else None

    def by_id(self, source_id: int) -> Known | None:
        """Return one source by its id."""
        found = rows(self._db, _SELECT + " WHERE id = ?", (source_id,))
        return _known(found[0]) if found else None

    def of_session(self, agent: str, native: str) -> Known | None:
        """Return the source that a session's turns come from."""
        owned = " WHERE id = (SELECT source_id FROM session WHERE agent = ? AND native = ?)"
        found = rows(self._db, _SELECT + owned, (agent, native))
        return _known(found[0]) if found else None

    def add(self, sources: Iterable[Source]) -> None:
        """Note sources that have not been read yet."""
        self._db.executemany(
            "INSERT INTO source(agent, path, layout, root, size, changed, offset, line, state, print)"
            " VALUES(?, ?, ?, ?, 0, 0, 0, 0, '', '') ON CONFLICT(path) DO UPDATE SET gone = 0, changed = 0",
            ((source.agent, source.path, source.layout, source.root) for source in sources),
        )

    def advance(self, source_id: int, cursor: Cursor, fingerprint: str) -> None:
        """Say how far a source has been read."""
        self._db.execute(
            "UPDATE source SET offset = ?, line = ?, state = ?, print = ? WHERE id = ?",
            (cursor.offset, cursor.line, cursor.state, fingerprint, source_id),
        )

    def finish(self, source_id: int, size: int, changed: int) -> None:
        """Say that a source was read to the end as it was at that size and time."""
        self._db.execute(
            "UPDATE source SET size = ?, changed = ?, gone = 0 WHERE id = ?", (size, changed, source_id)
        )

    def mark_gone(self, paths: Iterable[str]) -> None:
        """Note that files are no longer there; what was read from them stays."""
        self._db.executemany("UPDATE source SET gone = 1 WHERE path = ?", ((path,) for path in paths))

    def put_folders(self, agent: str, folders: Iterable[tuple[str, int]]) -> None:
        """Replace the folders that are watched for an agent."""
        self._db.execute("DELETE FROM folder WHERE agent = ?", (agent,))
        self.add_folders(agent, folders)

    def add_folders(self, agent: str, folders: Iterable[tuple[str, int]]) -> None:
        """Watch some folders more for an agent."""
        self._db.executemany(
            "INSERT OR REPLACE INTO folder VALUES(?, ?, ?)",
            ((path, agent, changed) for path, changed in folders),
        )

    def clear_problems(self, source_id: int) -> None:
        """Forget a source's problems before it is read from the start again."""
        self._db.execute("DELETE FROM problem WHERE source_id = ?", (source_id,))

    def put_problems(self, source_id: int, problems: Iterable[Problem], at: int) -> None:
        """Store what could not be taken in; of a file that is nothing else, the first part."""
        new = list(problems)
        if not new:
            return
        known = rows(self._db, "SELECT count(*) FROM problem WHERE source_id = ?", (source_id,))[0][0]
        self._db.executemany(
            "INSERT OR IGNORE INTO problem VALUES(?, ?, ?, ?)",
            ((source_id, one.line, one.reason, at) for one in new[: max(0, _MOST_PROBLEMS - known)]),
        )

    def sessions_of(self, source_id: int) -> list[tuple[int, int]]:
        """Return the (id, revision) of the sessions whose turns come from a source."""
        return rows(self._db, "SELECT id, revision FROM session WHERE source_id = ?", (source_id,))

    def kept(self, sessions: Iterable[tuple[int, int]]) -> None:
        """Note that the archive holds these sessions, each as it was at a revision."""
        self._db.executemany(
            "UPDATE session SET kept = ? WHERE id = ?", ((revision, one) for one, revision in sessions)
        )

    def swept(self, at: int, remaining: int) -> None:
        """Note when every folder was last looked at, and how many files were then left to read."""
        self._db.execute("UPDATE sweep SET at = ?, remaining = ?", (at, remaining))

    def surrounded(self, surroundings: str) -> None:
        """Note the environment in which the agents' folders were found."""
        self._db.execute("UPDATE sweep SET surroundings = ?", (surroundings,))


def _known(row: tuple[int, str, str, str, str, int, int, int, int, str, str, int]) -> Known:
    source = Source(row[1], row[2], row[3], row[4])
    return Known(row[0], source, row[5], row[6], Cursor(row[7], row[8], row[9]), row[10], bool(row[11]))
