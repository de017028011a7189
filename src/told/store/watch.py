"""What every query needs to see whether an agent has written something new."""

from __future__ import annotations

from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


class Watch:
    """Read-only view of the tables `source`, `folder` and `sweep`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def surroundings(self) -> str:
        """Return the environment in which the agents' folders were last found."""
        return str(rows(self._db, "SELECT surroundings FROM sweep")[0][0])

    def last_sweep(self) -> tuple[int, int]:
        """Return when every folder was last looked at, and how many files were never read to the end."""
        at, unread = rows(
            self._db, "SELECT at, (SELECT count(*) FROM source WHERE gone = 0 AND changed = 0) FROM sweep"
        )[0]
        return at, unread

    def files(self, limit: int) -> list[tuple[str, int, int]]:
        """Return the (path, size, time of change) of the most recently changed files; -1 is all of them."""
        return rows(
            self._db,
            "SELECT path, size, changed FROM source WHERE gone = 0 ORDER BY changed DESC LIMIT ?",
            (limit,),
        )

    def folders(self, limit: int) -> list[tuple[str, str, int]]:
        """Return the (path, agent, time of change) of folders; -1 is all of them."""
        return rows(
            self._db, "SELECT path, agent, changed FROM folder ORDER BY changed DESC LIMIT ?", (limit,)
        )
