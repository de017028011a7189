"""The checkpoints that told keeps as files: what of each file was taken in, and how it is taken out again."""

from __future__ import annotations

import os

from told.record import record
from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from told.store.writing import Writer

LAYOUT = "checkpoint"  # of their sources, which no sweep looks at
_KNOWN = "SELECT id, path, size, changed, state FROM source WHERE layout = 'checkpoint'"


@record
class KnownFile:
    """A checkpoint's file as it was when it was taken in."""

    source_id: int
    path: str
    size: int
    changed: int  # nanoseconds
    id: str  # as the file says; a copy has it, too

    @property
    def state(self) -> tuple[int, int]:
        """What tells whether it has changed since."""
        return self.size, self.changed


class OwnCheckpoints:
    """Told's own rows of the table `checkpoint`, and their sources."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def known(self, folder: str = "") -> dict[str, KnownFile]:
        """Return what is known of the files in a folder, or of all, by their paths."""
        if not folder:
            found = rows(self._db, _KNOWN)
        else:
            found = rows(self._db, f"{_KNOWN} AND path > ? AND path < ?", _inside(folder))
        return {row[1]: KnownFile(*row) for row in found}

    def states(self, folder: str = "") -> list[tuple[str, int, int]]:
        """Return the (path, size, time of change in ns) of files in a folder, or of all, the latest first."""
        inside = " AND path > ? AND path < ?" if folder else ""
        sql = f"SELECT path, size, changed FROM source WHERE layout = 'checkpoint'{inside}"
        return rows(self._db, f"{sql} ORDER BY changed DESC", _inside(folder) if folder else ())

    def add(self, path: str, folder: str, public: str, state: tuple[int, int]) -> int:
        """Note that a file is taken in as it is; return the number of its source."""
        self._db.execute(
            "INSERT INTO source(agent, path, layout, root, size, changed, offset, line, state, print, gone)"
            " VALUES('told', ?, 'checkpoint', ?, ?, ?, 0, 0, ?, '', 1) ON CONFLICT(path) DO UPDATE SET"
            " agent = excluded.agent, layout = excluded.layout, root = excluded.root, size = excluded.size,"
            " changed = excluded.changed, state = excluded.state, gone = 1",
            (path, folder, *state, public),
        )
        return int(rows(self._db, "SELECT id FROM source WHERE path = ?", (path,))[0][0])

    def drop_source(self, source_id: int) -> None:
        """Forget a file."""
        self._db.execute("DELETE FROM source WHERE id = ?", (source_id,))

    def clear(self, writer: Writer, source_id: int) -> list[tuple[str, str]]:
        """Take out what a file said; return the (agent, native) of the sessions that it was about."""
        found = rows(
            self._db,
            "SELECT s.agent, s.native FROM checkpoint c JOIN session s ON s.id = c.session_id"
            " WHERE c.source_id = ?",
            (source_id,),
        )
        for agent, native in found:
            session = writer.session(agent, native)
            if session is not None:
                writer.clear_source(session, source_id)
        return [tuple(row) for row in found]

    def session_called(self, public: str) -> tuple[str, str] | None:
        """Return the (agent, native) of a session by told's own id of it."""
        found = rows(self._db, "SELECT agent, native FROM session WHERE public = ?", (public,))
        return tuple(found[0]) if found else None

    def drop_unfounded(self, sessions: Iterable[tuple[str, str]]) -> None:
        """Remove those of some sessions of which only a checkpoint told, which is gone."""
        for agent, native in sessions:
            self._db.execute(
                "DELETE FROM session WHERE agent = ? AND native = ?"
                " AND NOT EXISTS(SELECT 1 FROM fact WHERE session_id = session.id)"
                " AND NOT EXISTS(SELECT 1 FROM turn WHERE session_id = session.id)"
                " AND NOT EXISTS(SELECT 1 FROM checkpoint WHERE session_id = session.id)",
                (agent, native),
            )

    def put_status(self, public: str, status: str) -> None:
        """Change the status of a checkpoint."""
        self._db.execute("UPDATE checkpoint SET status = ? WHERE public = ?", (status, public))

    def of_session(self, agent: str, native: str) -> list[tuple[str, str, str]]:
        """Return the (id, status, path) of a session's, the latest first."""
        return rows(
            self._db,
            "SELECT c.public, c.status, c.path FROM checkpoint c JOIN session s ON s.id = c.session_id"
            " WHERE s.agent = ? AND s.native = ? AND c.path != '' ORDER BY c.at DESC, c.public",
            (agent, native),
        )

    def sessions_by_path(self) -> dict[str, tuple[str, str]]:
        """Return the (agent, native) of the session that each file belongs to, by its path."""
        found = rows(
            self._db,
            "SELECT c.path, s.agent, s.native FROM checkpoint c JOIN session s ON s.id = c.session_id"
            " WHERE c.path != ''",
        )
        return {path: (agent, native) for path, agent, native in found}


def _inside(folder: str) -> tuple[str, str]:
    """Return between which texts the paths in a folder are."""
    return folder + os.sep, folder + chr(ord(os.sep) + 1)
