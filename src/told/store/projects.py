"""Keeps which folder belongs to which project."""

from __future__ import annotations

from told.record import record
from told.store.database import rows
from told.store.fresh import Fresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw


@record
class Project:
    """One code base."""

    id: int
    key: str  # what makes it the same everywhere: its remote, its first commit, or its folder
    name: str
    root: str


class Projects:
    """The tables `project` and `place`."""

    def __init__(self, connection: apsw.Connection, hide: Callable[[str], str] = str) -> None:
        """Take the store, and what takes secrets out of the names under which all this is stored."""
        self._db = connection
        self.hide = hide

    def at(self, path: str) -> Project | None:
        """Return the project that a folder was found to belong to."""
        found = rows(
            self._db,
            "SELECT id, key, name, root FROM project"
            " WHERE id = (SELECT project_id FROM place WHERE path = ?)",
            (self.hide(path),),
        )
        return Project(*found[0]) if found else None

    def by_key(self, key: str) -> Project | None:
        """Return a project by its key."""
        found = rows(self._db, "SELECT id, key, name, root FROM project WHERE key = ?", (self.hide(key),))
        return Project(*found[0]) if found else None

    def named(self, name: str) -> list[Project]:
        """Return the projects a user may mean by a name, `owner/name`, or the end of a key."""
        exact = rows(
            self._db,
            "SELECT id, key, name, root FROM project WHERE lower(name) = lower(?1) OR lower(key) = lower(?1)"
            " OR substr(lower(key), -length(?1) - 1) = '/' || lower(?1) ORDER BY key",
            (name,),
        )
        return [Project(*row) for row in exact]

    def put(self, key: str, name: str, root: str) -> Project:
        """Make a project, or return the one with that key."""
        known = self.by_key(key)
        if known is not None:
            return known
        key, name, root = self.hide(key), self.hide(name), self.hide(root)
        self._db.execute("INSERT INTO project(key, name, root) VALUES(?, ?, ?)", (key, name, root))
        return Project(self._db.last_insert_rowid(), key, name, root)

    def rename(self, project_id: int, key: str, name: str) -> None:
        """Give a project a better key, once it is known; its memories have to be told."""
        key, name = self.hide(key), self.hide(name)
        for (old,) in rows(self._db, "SELECT key FROM project WHERE id = ?", (project_id,)):
            Fresh(self._db).rename(old, key)
        self._db.execute("UPDATE project SET key = ?, name = ? WHERE id = ?", (key, name, project_id))

    def follow(self, old: str, new: str) -> None:
        """Let the memories of a project that was known by another key follow it."""
        Fresh(self._db).rename(self.hide(old), self.hide(new))

    def place(self, path: str, project_id: int) -> None:
        """Note that a folder belongs to a project."""
        self._db.execute("INSERT OR REPLACE INTO place VALUES(?, ?)", (self.hide(path), project_id))

    def below(self, path: str) -> list[str]:
        """Return the known folders below one."""
        path = self.hide(path).rstrip("/")
        low, high = f"{path}/", f"{path}0"
        found = rows(
            self._db, "SELECT path FROM place WHERE path > ? AND path < ? ORDER BY path", (low, high)
        )
        return [row[0] for row in found]

    def move(self, old: int, new: int) -> list[tuple[int, str, str]]:
        """Move a project's folders to another one; return the (id, cwd, part) of its sessions."""
        keys = dict(rows(self._db, "SELECT id, key FROM project WHERE id IN (?, ?)", (old, new)))
        Fresh(self._db).rename(keys[old], keys[new])
        self._db.execute("UPDATE place SET project_id = ? WHERE project_id = ?", (new, old))
        return rows(self._db, "SELECT id, cwd, part FROM session WHERE project_id = ?", (old,))

    def drop(self, project_id: int) -> None:
        """Forget a project that has neither folders nor sessions any more."""
        self._db.execute("DELETE FROM project WHERE id = ?", (project_id,))

    def helpers_behind(self) -> list[tuple[int, int]]:
        """Return the (session, project) of helpers without a project whose helped session has one."""
        return rows(
            self._db,
            "SELECT helper.id, helped.project_id FROM session helper JOIN session helped"
            " ON helped.agent = helper.agent AND helped.native = helper.parent"
            " WHERE helper.project_id IS NULL AND helper.parent != '' AND helped.project_id IS NOT NULL",
        )

    def places(self) -> list[tuple[str, str, str, str]]:
        """Return the (folder, project's key, name, root) of all folders."""
        return rows(
            self._db,
            "SELECT place.path, key, name, root FROM place JOIN project ON project.id = project_id"
            " ORDER BY place.path",
        )

    def roots(self) -> list[str]:
        """Return the folders of all projects."""
        return [row[0] for row in rows(self._db, "SELECT path FROM place ORDER BY path")]
