"""Reads every text of `sessions.db` once more, a row at a time, and changes those that lost something."""

from __future__ import annotations

from told.record import record
from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

_FACTS = ("branch", "repository", "title", "model")
_NOTE = ("title", "overview", "work_done", "technical_details", "important_files", "next_steps", "history")


@record
class StoredText:
    """A text, or several that belong together, and the session they are of."""

    kind: str
    session_id: int  # 0: of none
    name: str  # by which a user can find it
    texts: tuple[str, ...]


class Redacting:
    """What only redacting does to `sessions.db`. Everything else about it is written by `Writer`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def size(self) -> int:
        """Return how many rows there are to look at."""
        tables = ("turn", "session", "fact", "checkpoint", "touch", "ref", "source", "problem")
        return sum(rows(self._db, f"SELECT count(*) FROM {table}")[0][0] for table in tables)

    def texts(self) -> Iterator[StoredText]:
        """Yield everything that was said or noted, in the order in which it lies on the disk."""
        for session_id, n, public, *turn in self._db.execute(
            "SELECT t.session_id, t.n, s.public, t.asked, t.answered, t.steps FROM turn t"
            " JOIN session s ON s.id = t.session_id ORDER BY t.id"
        ):
            # The search's own copies of titles and checkpoints have numbers below 0.
            yield StoredText("turn" if n >= 0 else "search", session_id, f"{public}.{n}", tuple(turn))
        for session_id, public, summary in self._db.execute("SELECT id, public, summary FROM session"):
            yield StoredText("session", session_id, public, (summary,))
        for kind, table, columns in (
            ("session", "fact", _FACTS), ("checkpoint", "checkpoint", _NOTE), ("touch", "touch", ("path",)),
            ("ref", "ref", ("value",)),
        ):  # fmt: skip
            name = "f.public" if kind == "checkpoint" else "s.public"
            texts = ", ".join(f"f.{column}" for column in columns)
            for session_id, public, *found in self._db.execute(
                f"SELECT s.id, {name}, {texts} FROM {table} f JOIN session s ON s.id = f.session_id"
            ):
                yield StoredText(kind, session_id, public, tuple(found))

    def ids(self) -> Iterator[str]:
        """Yield the agents' own ids of sessions."""
        for table in ("session", "fact"):
            native = "native, " if table == "session" else ""
            for row in self._db.execute(f"SELECT DISTINCT {native}parent FROM {table}"):
                yield from filter(None, row)

    def places(self) -> Iterator[str]:
        """Yield the paths of files and folders, and the names of projects."""
        for table, columns in (
            ("session", "cwd, part"), ("fact", "cwd"), ("project", "key, name, root"), ("place", "path"),
            ("source", "path, root"), ("folder", "path"),
        ):  # fmt: skip
            for row in self._db.execute(f"SELECT DISTINCT {columns} FROM {table}"):
                yield from filter(None, row)

    def states(self) -> Iterator[tuple[int, str, str]]:
        """Yield the (source, path, state) of each reader that keeps a state of its own."""
        yield from self._db.execute("SELECT id, path, state FROM source WHERE state != '' ORDER BY id")

    def problems(self) -> Iterator[tuple[int, int, str, int, str]]:
        """Yield the (source, line, reason, time, path) of what could not be taken in."""
        yield from self._db.execute(
            "SELECT p.source_id, p.line, p.reason, p.at, coalesce(s.path, '') FROM problem p"
            " LEFT JOIN source s ON s.id = p.source_id"
        )

    def names(self, session_id: int) -> tuple[str, str]:
        """Return a session's agent and its own id; nothing for both if it is gone."""
        found = rows(self._db, "SELECT agent, native FROM session WHERE id = ?", (session_id,))
        return tuple(found[0]) if found else ("", "")

    def facts(self, session_id: int) -> list[tuple[int, str, str, str, str]]:
        """Return the (source, branch, repository, title, model) of all that tell of a session."""
        columns = ", ".join(_FACTS)
        return rows(self._db, f"SELECT source_id, {columns} FROM fact WHERE session_id = ?", (session_id,))

    def put_facts(self, session_id: int, source_id: int, facts: list[str]) -> None:
        """Change what a source said of a session."""
        columns = ", ".join(f"{name} = ?" for name in _FACTS)
        self._db.execute(
            f"UPDATE fact SET {columns} WHERE session_id = ? AND source_id = ?",
            (*facts, session_id, source_id),
        )

    def refs(self, session_id: int) -> list[tuple[str, str, int, int]]:
        """Return the (kind, value, source, time) of what a session names."""
        return rows(
            self._db, "SELECT kind, value, source_id, at FROM ref WHERE session_id = ?", (session_id,)
        )

    def put_state(self, source_id: int, state: str) -> None:
        """Change what a reader keeps."""
        self._db.execute("UPDATE source SET state = ? WHERE id = ?", (state, source_id))

    def put_problem(self, source_id: int, line: int, old: str, new: str, at: int) -> None:
        """Change what is said of a line that could not be taken in."""
        self._db.execute(
            "DELETE FROM problem WHERE source_id = ? AND line = ? AND reason = ?", (source_id, line, old)
        )
        self._db.execute("INSERT OR IGNORE INTO problem VALUES(?, ?, ?, ?)", (source_id, line, new, at))

    def numbers(self, session_id: int) -> set[int]:
        """Return the numbers of a session's turns."""
        found = rows(self._db, "SELECT n FROM turn WHERE session_id = ? AND n >= 0", (session_id,))
        return {row[0] for row in found}
