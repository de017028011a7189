"""Store the state of agents' files: progress, problems, watched folders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from told.model import Cursor, Problem, Source
from told.store.database import Queries

_SELECT = "SELECT id, agent, path, layout, root, size, changed, offset, line, state, print, gone FROM source"

_MAX_PROBLEMS = 1000  # of one source


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source as it was last read."""

    id: int
    source: Source
    size: int
    changed: int  # nanoseconds
    cursor: Cursor
    print: str  # of its start and the bytes before the cursor: detects rewritten files
    gone: bool


class Sources(Queries):
    """The tables `source`, `folder`, `problem` and `sweep`."""

    def all(self) -> list[KnownSource]:
        """Return every known source."""
        return self._fetch_all(_known, _SELECT)

    def paths(self) -> set[str]:
        """Return the paths of the sources that existed at the last sweep."""
        return set(self._fetch_column("SELECT path FROM source WHERE gone = 0"))

    def get(self, path: str) -> KnownSource | None:
        """Return one source."""
        return self._fetch_first(_known, f"{_SELECT} WHERE path = ?", (path,))

    def by_id(self, source_id: int) -> KnownSource | None:
        """Return one source by its id."""
        return self._fetch_first(_known, f"{_SELECT} WHERE id = ?", (source_id,))

    def of_session(self, agent: str, native: str) -> KnownSource | None:
        """Return the source that a session's turns come from."""
        owner = "SELECT source_id FROM session WHERE agent = ? AND native = ?"
        return self._fetch_first(_known, f"{_SELECT} WHERE id = ({owner})", (agent, native))

    def add(self, sources: Iterable[Source]) -> None:
        """Add sources that were not read yet."""
        self._db.executemany(
            "INSERT INTO source(agent, path, layout, root, size, changed, offset, line, state, print)"
            " VALUES(?, ?, ?, ?, 0, 0, 0, 0, '', '') ON CONFLICT(path) DO UPDATE SET gone = 0, changed = 0",
            ((source.agent, source.path, source.layout, source.root) for source in sources),
        )

    def advance(self, source_id: int, cursor: Cursor, fingerprint: str) -> None:
        """Store how far a source has been read."""
        self._db.execute(
            "UPDATE source SET offset = ?, line = ?, state = ?, print = ? WHERE id = ?",
            (cursor.offset, cursor.line, cursor.state, fingerprint, source_id),
        )

    def finish(self, source_id: int, size: int, changed: int) -> None:
        """Store that a source was read to the end at a size and time."""
        self._db.execute(
            "UPDATE source SET size = ?, changed = ?, gone = 0 WHERE id = ?", (size, changed, source_id)
        )

    def mark_gone(self, paths: Iterable[str]) -> None:
        """Mark files as gone; what was read from them stays."""
        self._db.executemany("UPDATE source SET gone = 1 WHERE path = ?", ((path,) for path in paths))

    def put_folders(self, agent: str, folders: Iterable[tuple[str, int]]) -> None:
        """Replace the watched folders of an agent."""
        self._db.execute("DELETE FROM folder WHERE agent = ?", (agent,))
        self.add_folders(agent, folders)

    def add_folders(self, agent: str, folders: Iterable[tuple[str, int]]) -> None:
        """Add watched folders of an agent."""
        self._db.executemany(
            "INSERT OR REPLACE INTO folder VALUES(?, ?, ?)",
            ((path, agent, changed) for path, changed in folders),
        )

    def clear_problems(self, source_id: int) -> None:
        """Delete a source's problems before it is read again."""
        self._db.execute("DELETE FROM problem WHERE source_id = ?", (source_id,))

    def put_problems(self, source_id: int, problems: Iterable[Problem], at: int) -> None:
        """Store problems of a source, up to 1,000."""
        new = list(problems)
        if not new:
            return
        known = self._fetch_value("SELECT count(*) FROM problem WHERE source_id = ?", (source_id,))
        self._db.executemany(
            "INSERT OR IGNORE INTO problem VALUES(?, ?, ?, ?)",
            ((source_id, one.line, one.reason, at) for one in new[: max(0, _MAX_PROBLEMS - known)]),
        )

    def sessions_of(self, source_id: int) -> list[tuple[int, int]]:
        """Return the (id, revision) of a source's sessions."""
        return self._fetch("SELECT id, revision FROM session WHERE source_id = ?", (source_id,))

    def mark_archived(self, sessions: Iterable[tuple[int, int]]) -> None:
        """Store the (id, revision) of sessions that were archived."""
        self._db.executemany(
            "UPDATE session SET kept = ? WHERE id = ?", ((revision, one) for one, revision in sessions)
        )

    def put_sweep(self, at: int, remaining: int) -> None:
        """Store the time of a full sweep and how many files it left unread."""
        self._db.execute("UPDATE sweep SET at = ?, remaining = ?", (at, remaining))

    def put_surroundings(self, surroundings: str) -> None:
        """Store the environment in which the folders were found."""
        self._db.execute("UPDATE sweep SET surroundings = ?", (surroundings,))


def _known(*row: Any) -> KnownSource:
    source = Source(row[1], row[2], row[3], row[4])
    return KnownSource(row[0], source, row[5], row[6], Cursor(row[7], row[8], row[9]), row[10], bool(row[11]))


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is stored of one agent."""

    agent: str
    files: int
    gone: int
    bytes: int
    sessions: int
    turns: int
    last: int
    problems: int


class StoreStatus(Queries):
    """Queries about the store itself."""

    def inventory(self) -> dict[str, Inventory]:
        """Return what is stored of each agent that has files or sessions."""
        found = self._fetch(
            """SELECT a.agent, coalesce(f.files, 0), coalesce(f.gone, 0), coalesce(f.bytes, 0),
                coalesce(s.sessions, 0), coalesce(s.turns, 0), coalesce(s.last, 0), coalesce(f.problems, 0)
              FROM (SELECT agent FROM source UNION SELECT agent FROM session) a
              LEFT JOIN (SELECT agent, sum(gone = 0) files, sum(gone) gone, sum(size * (gone = 0)) bytes,
                  sum((SELECT count(*) FROM problem p WHERE p.source_id = source.id)) problems
                FROM source GROUP BY agent) f ON f.agent = a.agent
              LEFT JOIN (SELECT agent, count(*) sessions, sum(turns) turns, max(ended) last
                FROM session WHERE turns > 0 GROUP BY agent) s ON s.agent = a.agent"""
        )
        return {row[0]: Inventory(*row) for row in found}

    def problems(self, limit: int) -> list[tuple[str, str, int, str]]:
        """Return the (agent, path, line, reason) of problems, the latest first."""
        return self._fetch(
            "SELECT s.agent, s.path, p.line, p.reason FROM problem p JOIN source s ON s.id = p.source_id"
            " ORDER BY p.at DESC, s.path, p.line LIMIT ?",
            (limit,),
        )

    def totals(self) -> tuple[int, int, int, int, int]:
        """Return (sessions, with a summary, with a project, turns, last activity)."""
        sessions, summarised, placed, turns, last = self._fetch(
            "SELECT count(*), coalesce(sum(summary != '' OR title != ''), 0),"
            " coalesce(sum(project_id IS NOT NULL), 0), coalesce(sum(turns), 0), coalesce(max(ended), 0)"
            " FROM session WHERE turns > 0"
        )[0]
        return sessions, summarised, placed, turns, last

    def latest_question(self) -> tuple[str, str] | None:
        """Return the (session, text) of the latest question, for the health check."""
        found = self._fetch(
            "SELECT s.public, t.asked FROM turn t JOIN session s ON s.id = t.session_id"
            " WHERE t.n >= 0 AND length(t.asked) > 12 ORDER BY t.id DESC LIMIT 1"
        )
        return (found[0][0], found[0][1]) if found else None
