"""Finds and rewrites what `sessions.db` says somewhere, and leaves no byte of what was there before."""

from __future__ import annotations

from told.model import Checkpoint
from told.store.database import purge, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from told.store.writing import SessionState, Writer

_NOTE = (
    "number, title, overview, at, work_done, technical_details, important_files, next_steps, history,"
    " public, status, path"
)
# A larger file is copied on the disk when it is made anew, not in memory.
_IN_MEMORY = 256 * 1024 * 1024


class Erasing:
    """What only forgetting does to sessions. Everything else about them is written by `Writer`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def sessions_with(self, expression: str) -> list[int]:
        """Return the sessions of which a turn, the title or a checkpoint matches an FTS5 expression."""
        found = rows(
            self._db,
            "SELECT DISTINCT t.session_id FROM turn_words w JOIN turn t ON t.id = w.rowid"
            " WHERE turn_words MATCH ? ORDER BY 1",
            (expression,),
        )
        return [row[0] for row in found]

    def find(self, agent: str, native: str) -> int:
        """Return a session's row by its own id; 0 if there is none."""
        found = rows(self._db, "SELECT id FROM session WHERE agent = ? AND native = ?", (agent, native))
        return int(found[0][0]) if found else 0

    def names(self, session_id: int) -> tuple[str, str]:
        """Return a session's agent and its own id."""
        agent, native = rows(self._db, "SELECT agent, native FROM session WHERE id = ?", (session_id,))[0]
        return agent, native

    def helpers(self, agent: str, native: str) -> list[str]:
        """Return the sessions that a session started, by their own ids."""
        sql = "SELECT native FROM session WHERE agent = ? AND parent = ? AND native != ? ORDER BY native"
        return [row[0] for row in rows(self._db, sql, (agent, native, native))]

    def facts(self, session_id: int) -> list[tuple[int, str, str, str]]:
        """Return the (source, title, branch, the reader's own state) of all that tell of a session."""
        return rows(
            self._db,
            "SELECT f.source_id, f.title, f.branch, coalesce(s.state, '') FROM fact f"
            " LEFT JOIN source s ON s.id = f.source_id WHERE f.session_id = ?",
            (session_id,),
        )

    def put_facts(self, session_id: int, source_id: int, title: str, branch: str, state: str) -> None:
        """Change what a source said of a session, and what its reader keeps."""
        self._db.execute(
            "UPDATE fact SET title = ?, branch = ? WHERE session_id = ? AND source_id = ?",
            (title, branch, session_id, source_id),
        )
        self._db.execute("UPDATE source SET state = ? WHERE id = ?", (state, source_id))

    def files(self, session_id: int) -> list[str]:
        """Return the agents' own files that tell of a session."""
        found = rows(
            self._db,
            "SELECT s.path FROM fact f JOIN source s ON s.id = f.source_id"
            " WHERE f.session_id = ? AND s.layout != 'archive' ORDER BY s.path",
            (session_id,),
        )
        return [row[0] for row in found]

    def notes(self, session_id: int) -> list[tuple[int, Checkpoint]]:
        """Return the (source, checkpoint) pairs of a session."""
        found = rows(
            self._db, f"SELECT source_id, {_NOTE} FROM checkpoint WHERE session_id = ?", (session_id,)
        )
        return [(row[0], Checkpoint("", *row[1:])) for row in found]

    def keys(self, session_id: int) -> list[int]:
        """Return the numbers of the agent's own ids of a session's turns."""
        sql = "SELECT key FROM turn WHERE session_id = ? AND key IS NOT NULL ORDER BY n"
        return [row[0] for row in rows(self._db, sql, (session_id,))]

    def drop_touch(self, session_id: int, path: str) -> None:
        """Remove a touch."""
        self._db.execute("DELETE FROM touch WHERE session_id = ? AND path = ?", (session_id, path))

    def drop_ref(self, session_id: int, value: str) -> None:
        """Remove what a session names."""
        self._db.execute("DELETE FROM ref WHERE session_id = ? AND value = ?", (session_id, value))

    def drop_said(self, session_id: int) -> None:
        """Remove what is counted as said in a session; what still stands there is counted again."""
        self._db.execute("DELETE FROM said WHERE session_id = ?", (session_id,))

    def drop_session(self, writer: Writer, session: SessionState) -> None:
        """Remove a session and all that hangs on it; inside a transaction of the writer.

        A file of a checkpoint that is still there is taken in again.
        """
        files = "SELECT source_id FROM checkpoint WHERE session_id = ? AND path != ''"
        for (source_id,) in rows(self._db, files, (session.id,)):
            writer.clear_source(session, source_id)
            self._db.execute("DELETE FROM source WHERE id = ?", (source_id,))
        for source_id, *_ in self.facts(session.id):
            writer.clear_source(session, source_id)
        writer.put_turns(session, (), replace=True)
        self._db.execute("UPDATE session SET title = '' WHERE id = ?", (session.id,))
        cleared = writer.session(session.agent, session.native)
        assert cleared is not None
        writer.put_title(cleared)
        for table in ("touch", "ref", "checkpoint", "fact", "fresh", "said", "trimmed"):
            self._db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session.id,))
        self._db.execute("DELETE FROM session WHERE id = ?", (session.id,))


def leave_nothing(connection: apsw.Connection) -> None:
    """Leave no byte of what was removed, neither in the index nor in free pages nor in the log.

    Raises:
        BusyError: another told is reading or writing.
    """
    pages, size = rows(connection, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size")[0]
    connection.execute(f"PRAGMA temp_store={'MEMORY' if pages * size < _IN_MEMORY else 'FILE'}")
    purge(connection, "turn_words")
