"""Store projects, and the checkpoints that told saves as files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import apsw

from told.store.database import Queries
from told.store.sessions.facts import WorkQueue

if TYPE_CHECKING:  # reading does not load what writes
    from told.store.sessions.write import SessionWriter

PLANS, QUESTIONS = "Plans", "Open questions"  # headings after the pending items
LAYOUT = "checkpoint"  # of their sources, which no sweep reads
_KNOWN = "SELECT id, path, size, changed, state FROM source WHERE layout = 'checkpoint'"
_PROJECT = "SELECT id, key, name, root FROM project"


class KnownFile(NamedTuple):
    """A checkpoint's file as it was imported."""

    source_id: int
    path: str
    size: int
    changed: int  # nanoseconds
    id: str  # as the file says; a copy has the same

    @property
    def state(self) -> tuple[int, int]:
        """Size and time of change."""
        return self.size, self.changed


class OwnCheckpoints(Queries):
    """The rows of `checkpoint` and `source` for told's own checkpoints."""

    def known(self, folder: str = "") -> dict[str, KnownFile]:
        """Return the imported files of a folder, or all, by path, the latest first."""
        where = " AND path > ? AND path < ?" if folder else ""
        values = (folder + os.sep, folder + chr(ord(os.sep) + 1)) if folder else ()
        found = self._fetch_all(KnownFile, f"{_KNOWN}{where} ORDER BY changed DESC", values)
        return {one.path: one for one in found}

    def add(self, path: str, folder: str, public: str, state: tuple[int, int]) -> int:
        """Store a file as imported; return the number of its source."""
        self._db.execute(
            "INSERT INTO source(agent, path, layout, root, size, changed, offset, line, state, print, gone)"
            " VALUES('told', ?, 'checkpoint', ?, ?, ?, 0, 0, ?, '', 1) ON CONFLICT(path) DO UPDATE SET"
            " agent = excluded.agent, layout = excluded.layout, root = excluded.root, size = excluded.size,"
            " changed = excluded.changed, state = excluded.state, gone = 1",
            (path, folder, *state, public),
        )
        return int(self._fetch_value("SELECT id FROM source WHERE path = ?", (path,)))

    def drop_source(self, source_id: int) -> None:
        """Delete a file's row."""
        self._db.execute("DELETE FROM source WHERE id = ?", (source_id,))

    def clear(self, writer: SessionWriter, source_id: int) -> list[tuple[str, str]]:
        """Delete a file's checkpoints; return the (agent, native) of their sessions."""
        sql = (
            "SELECT s.agent, s.native FROM checkpoint c JOIN session s ON s.id = c.session_id"
            " WHERE c.source_id = ?"
        )
        found = self._fetch(sql, (source_id,))
        for agent, native in found:
            session = writer.session(agent, native)
            if session is not None:
                writer.clear_source(session, source_id)
        return [tuple(row) for row in found]

    def find_session(self, public: str) -> tuple[str, str] | None:
        """Return the (agent, native) of a session by told's id."""
        found = self._fetch("SELECT agent, native FROM session WHERE public = ?", (public,))
        return tuple(found[0]) if found else None

    def drop_empty_sessions(self, sessions: Iterable[tuple[str, str]]) -> None:
        """Delete those sessions that have no facts, turns or checkpoints."""
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
        """Return the (id, status, path) of a session's checkpoints, the latest first."""
        return self._fetch(
            "SELECT c.public, c.status, c.path FROM checkpoint c JOIN session s ON s.id = c.session_id"
            " WHERE s.agent = ? AND s.native = ? AND c.path != '' ORDER BY c.at DESC, c.public",
            (agent, native),
        )

    def sessions_by_path(self) -> dict[str, tuple[str, str]]:
        """Return the (agent, native) of each file's session by path."""
        found = self._fetch(
            "SELECT c.path, s.agent, s.native FROM checkpoint c JOIN session s ON s.id = c.session_id"
            " WHERE c.path != ''"
        )
        return {path: (agent, native) for path, agent, native in found}


class Project(NamedTuple):
    """One code base."""

    id: int
    key: str  # the same everywhere: its remote, its first commit, or its folder
    name: str
    root: str


class Projects(Queries):
    """The tables `project` and `place`; `hide` removes secrets from names."""

    def __init__(self, connection: apsw.Connection, hide: Callable[[str], str] = str) -> None:
        super().__init__(connection)
        self.hide = hide

    def at(self, path: str) -> Project | None:
        """Return the project of a folder."""
        where = " WHERE id = (SELECT project_id FROM place WHERE path = ?)"
        return self._fetch_first(Project, _PROJECT + where, (self.hide(path),))

    def by_key(self, key: str) -> Project | None:
        """Return a project by its key."""
        return self._fetch_first(Project, f"{_PROJECT} WHERE key = ?", (self.hide(key),))

    def named(self, name: str) -> list[Project]:
        """Return the projects that match a name, `owner/name`, or the end of a key."""
        where = (
            " WHERE lower(name) = lower(?1) OR lower(key) = lower(?1)"
            " OR substr(lower(key), -length(?1) - 1) = '/' || lower(?1) ORDER BY key"
        )
        return self._fetch_all(Project, _PROJECT + where, (name,))

    def put(self, key: str, name: str, root: str) -> Project:
        """Return the project with a key; create it if it is missing.

        Without a root it is known from another machine only, until a folder here belongs to it.
        """
        known = self.by_key(key)
        if known is not None and (known.root or not root):
            return known
        key, name, root = self.hide(key), self.hide(name), self.hide(root)
        if known is not None:
            self._db.execute("UPDATE project SET root = ? WHERE id = ?", (root, known.id))
            return known._replace(root=root)
        self._db.execute("INSERT INTO project(key, name, root) VALUES(?, ?, ?)", (key, name, root))
        return Project(self._db.last_insert_rowid(), key, name, root)

    def rename(self, project_id: int, key: str, name: str) -> None:
        """Change the key and name of a project, and queue its memories."""
        key, name = self.hide(key), self.hide(name)
        for (old,) in self._fetch("SELECT key FROM project WHERE id = ?", (project_id,)):
            WorkQueue(self._db).rename(old, key)
        self._db.execute("UPDATE project SET key = ?, name = ? WHERE id = ?", (key, name, project_id))

    def follow(self, old: str, new: str) -> None:
        """Queue the memories of an old key for a move to the new one."""
        WorkQueue(self._db).rename(self.hide(old), self.hide(new))

    def place(self, path: str, project_id: int) -> None:
        """Store that a folder belongs to a project."""
        self._db.execute("INSERT OR REPLACE INTO place VALUES(?, ?)", (self.hide(path), project_id))

    def below(self, path: str) -> list[str]:
        """Return the known folders below one."""
        path = self.hide(path).rstrip("/")
        sql = "SELECT path FROM place WHERE path > ? AND path < ? ORDER BY path"
        return self._fetch_column(sql, (f"{path}/", f"{path}0"))

    def move(self, old: int, new: int) -> list[tuple[int, str, str]]:
        """Move folders to another project; return the (id, cwd, part) of its sessions."""
        keys = dict(self._fetch("SELECT id, key FROM project WHERE id IN (?, ?)", (old, new)))
        WorkQueue(self._db).rename(keys[old], keys[new])
        self._db.execute("UPDATE place SET project_id = ? WHERE project_id = ?", (new, old))
        return self._fetch("SELECT id, cwd, part FROM session WHERE project_id = ?", (old,))

    def drop(self, project_id: int) -> None:
        """Delete a project without folders and sessions."""
        self._db.execute("DELETE FROM project WHERE id = ?", (project_id,))

    def unplaced_helpers(self) -> list[tuple[int, int]]:
        """Return (session, project of its parent) of helpers without a project."""
        return self._fetch(
            "SELECT helper.id, helped.project_id FROM session helper JOIN session helped"
            " ON helped.agent = helper.agent AND helped.native = helper.parent"
            " WHERE helper.project_id IS NULL AND helper.parent != '' AND helped.project_id IS NOT NULL"
        )

    def places(self) -> list[tuple[str, str, str, str]]:
        """Return the (folder, project key, name, root) of all folders."""
        return self._fetch(
            "SELECT place.path, key, name, root FROM place JOIN project ON project.id = project_id"
            " ORDER BY place.path"
        )

    def roots(self) -> list[str]:
        """Return the folders of all projects."""
        return self._fetch_column("SELECT path FROM place ORDER BY path")
