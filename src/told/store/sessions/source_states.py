"""Read which of the agents' files and folders are known, and in which state."""

from __future__ import annotations

from told.store.database import Queries


class SourceStates(Queries):
    """Read-only queries of `source`, `folder` and `sweep`."""

    def surroundings(self) -> str:
        """Return the environment of the last sweep."""
        return str(self._fetch_value("SELECT surroundings FROM sweep"))

    def last_sweep(self) -> tuple[int, int]:
        """Return the time of the last full sweep, and how many files are unread."""
        at, unread = self._fetch(
            "SELECT at, (SELECT count(*) FROM source WHERE gone = 0 AND changed = 0) FROM sweep"
        )[0]
        return at, unread

    def files(self, limit: int) -> list[tuple[str, int, int]]:
        """Return the (path, size, time of change) of files, the latest first."""
        return self._fetch(
            "SELECT path, size, changed FROM source WHERE gone = 0 ORDER BY changed DESC LIMIT ?", (limit,)
        )

    def folders(self, limit: int) -> list[tuple[str, str, int]]:
        """Return the (path, agent, time of change) of folders, the latest first."""
        return self._fetch("SELECT path, agent, changed FROM folder ORDER BY changed DESC LIMIT ?", (limit,))
