"""`memory.db`: what is known, ready to be found by words, triggers, entities, kind, scope and time."""

from __future__ import annotations

import os

import apsw

from told.store.database import open_database, rows
from told.store.memory_matching import MemoryMatching
from told.store.memory_meaning import Meanings
from told.store.memory_records import ACTIVE, CORRECTION, Edge, Evidence, Idle, Memory, Position, Trigger
from told.store.memory_rows import COLUMNS, WRITTEN, hash_of_row, memory_of
from told.store.memory_schema import migrate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from told.store.memory_writing import MemoryWriter

__all__ = [
    "UNREADABLE",
    "Edge",
    "Evidence",
    "Memories",
    "Memory",
    "Position",
    "Trigger",
    "memory_path",
    "open_memory_database",
]

# What SQLite says of a file that is damaged: it has to be rebuilt.
UNREADABLE = (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError)
_COLUMNS = ", ".join(WRITTEN)
_IDLE = ", ".join(Idle._fields)  # type: ignore[attr-defined]
_END = 1 + len(COLUMNS)
_FEW = 500  # values in one query
_DEED = "(trust = 'agent' AND kind = 'observation' AND label != '')"


def memory_path(home: str) -> str:
    """Return where the derived database of memories is."""
    return os.path.join(home, "memory.db")


def open_memory_database(path: str) -> apsw.Connection | None:
    """Open the database, make it if it is not there; None if it has to be rebuilt.

    Raises:
        MissingError: it is not there, or its folder cannot be written.
    """
    create = os.access(os.path.dirname(path), os.W_OK) or not os.path.exists(path)
    try:
        connection = open_database(path, create=create)
    except UNREADABLE:
        return None
    try:
        if migrate(connection):
            return connection
    except UNREADABLE:
        pass
    connection.close()
    return None


class Memories(MemoryMatching):
    """Everything that is read of memories. Rows of newer memories have higher numbers."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.connection = connection
        self._writer: MemoryWriter | None = None
        self._about: dict[str, str] = {}
        self.meanings = Meanings(connection)

    @property
    def writer(self) -> MemoryWriter:
        """What writes into it; a prompt hardly ever does."""
        if self._writer is None:
            from told.store.memory_writing import MemoryWriter as Writer

            self._writer = Writer(self.connection)
        return self._writer

    def close(self) -> None:
        """Let the file go."""
        self.connection.close()

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories by id, without those whose row is damaged."""
        return {memory.id: memory for _, memory in self._select("id", ids)}

    def load(self, numbers: Iterable[int]) -> dict[int, Memory]:
        """Return memories by row, without those whose row is damaged."""
        return dict(self._select("row", numbers))

    def about(self, memory: Memory) -> str:
        """Return what was worked out when a memory that was read here was stored; `search.about` reads it."""
        return self._about.get(memory.id, "")

    def about_rows(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the same of rows, without reading the memories."""
        sql = f"SELECT row, about FROM memory WHERE row IN ({_marks(numbers)}) ORDER BY row"
        return dict(rows(self._db, sql, numbers)) if numbers else {}

    def like(self, beginning: str, limit: int = 10) -> list[str]:
        """Return the ids that begin so."""
        found = rows(
            self._db,
            "SELECT id FROM memory WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
            (beginning, beginning + "\U0010ffff", limit),
        )
        return [row[0] for row in found]

    def ids(self) -> list[str]:
        """Return the id of every memory, the oldest first."""
        return [row[0] for row in rows(self._db, "SELECT id FROM memory ORDER BY row")]

    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """Return (status, kind, scope, how many, how many of them locked)."""
        return rows(
            self._db,
            "SELECT status, kind, scope, count(*), sum(locked) FROM memory GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        )

    def tally(self) -> list[tuple[str, str, str, str, int, int]]:
        """Return (status, kind, scope, trust, how many, how many of them locked)."""
        return rows(
            self._db,
            "SELECT status, kind, scope, trust, count(*), sum(locked) FROM memory GROUP BY 1, 2, 3, 4"
            " ORDER BY 1, 2, 3, 4",
        )

    def since(self, kind: str, at: int) -> tuple[int, int]:
        """Return how many active memories of a kind were made since a time, and how many were shown."""
        sql = (
            "SELECT coalesce(sum(created >= ?2), 0), coalesce(sum(shown_last >= ?2), 0) FROM memory"
            " WHERE status = 'active' AND kind = ?1"
        )
        made, shown = rows(self._db, sql, (kind, at))[0]
        return made, shown

    def from_sessions(self) -> int:
        """Return how many active memories are what users said in sessions."""
        sql = (
            "SELECT count(*) FROM memory WHERE status = 'active' AND trust = 'user'"
            " AND row IN (SELECT row FROM evidence_of)"
        )
        return int(rows(self._db, sql)[0][0])

    def said_again(self) -> list[int]:
        """Return the rows of the memories that were said more than once."""
        return self._rows("memory", "repeated > 0", (), -1)

    def deeds(self, scopes: Sequence[str]) -> int:
        """Return how many active memories only say what an agent did."""
        where = f" AND scope IN ({_marks(scopes)})" if scopes else ""
        sql = f"SELECT count(*) FROM memory WHERE status = 'active' AND {_DEED}{where}"
        return int(rows(self._db, sql, tuple(scopes))[0][0])

    # -- rows, the newest first ---------------------------------------------------------------------

    def listed(
        self, *, status: str = ACTIVE, scopes: Sequence[str] = (), kinds: Sequence[str] = (),
        limit: int = -1, deeds: bool = True,
    ) -> list[int]:  # fmt: skip
        """Return the rows of memories with this status, of any of the scopes and kinds, if such are given.

        Without `deeds`, notes on what agents did are left out.
        """
        conditions = ["status = 'active'" if status == ACTIVE else "status = ? AND status != 'active'"]
        values: list[Any] = [] if status == ACTIVE else [status]
        for column, wanted in (("scope", scopes), ("kind", kinds)):
            if wanted:
                conditions.append(f"{column} IN ({_marks(wanted)})")
                values += wanted
        if not deeds:
            conditions.append(f"NOT {_DEED}")
        return self._rows("memory", " AND ".join(conditions), values, limit)

    def idle(self, before: int) -> Iterator[Idle]:
        """Yield what may fade and nothing happened to since a time, the longest first."""
        sql = (
            f"SELECT {_IDLE} FROM memory WHERE last_at < ? AND locked = 0 AND confirmed = 0"
            " AND status NOT IN ('archived', 'forgotten') ORDER BY last_at, row"
        )
        return (Idle(*values) for values in self._db.execute(sql, (before,)))

    def of_scope(self, scope: str) -> list[int]:
        """Return the rows of all memories of a scope, whatever became of them."""
        return self._rows("memory", "scope = ?", (scope,), -1)

    def locked(self, scopes: Sequence[str], limit: int = -1) -> list[int]:
        """Return the rows of the locked memories of some scopes."""
        return self._rows(
            "memory", f"locked = 1 AND status = 'active' AND scope IN ({_marks(scopes)})", scopes, limit
        )

    def newest(
        self, scopes: Sequence[str], kinds: Sequence[str] = (CORRECTION,), limit: int = 20
    ) -> list[int]:
        """Return the rows of the newest memories of some kinds."""
        return self.listed(scopes=scopes, kinds=kinds, limit=limit)

    def by_trigger(
        self, kind: str, values: Sequence[str], scopes: Sequence[str], limit: int = 200
    ) -> list[int]:
        """Return the rows of memories that apply at one of these commands, paths or tasks, word for word."""
        where = f"kind = ? AND value IN ({_marks(values)}) AND scope IN ({_marks(scopes)})"
        return self._rows("trigger_of", where, (kind, *values, *scopes), limit)

    def by_entity(self, names: Sequence[str], scopes: Sequence[str], limit: int = 200) -> list[int]:
        """Return the rows of memories about one of these things; upper and lower case do not matter."""
        where = f"name IN ({_marks(names)}) AND scope IN ({_marks(scopes)})"
        return self._rows("entity_of", where, (*(name.lower() for name in names), *scopes), limit)

    def by_topic(self, name: str, scopes: Sequence[str], limit: int) -> list[int]:
        """Return the rows of the newest memories that a topic is named in."""
        sql = "SELECT row FROM topic_of WHERE name = ? AND scope = ? ORDER BY row DESC LIMIT ?"
        return self._newest(sql, [(name, scope) for scope in scopes], limit)

    def of_session(self, session: str) -> list[int]:
        """Return the rows of memories that come from a session, the forgotten ones included."""
        return self._rows("evidence_of", "session = ?", (session,), -1)

    # -- how far the journal has been applied -------------------------------------------------------

    def positions(self) -> dict[tuple[str, str], Position]:
        """Return how far each (machine, segment) has been applied."""
        found = rows(self._db, "SELECT machine, segment, size, number, mark FROM position")
        return {(machine, segment): Position(*rest) for machine, segment, *rest in found}

    def stale(self) -> set[str]:
        """Return the memories that have to be folded anew."""
        return {row[0] for row in rows(self._db, "SELECT memory_id FROM stale")}

    # -- what the journal notes beside memories --------------------------------------------------------

    def noted(self, topic: str) -> dict[str, str]:
        """Return all notes of a topic by name, such as how far each session was listened to."""
        return dict(rows(self._db, "SELECT name, value FROM noted WHERE topic = ? AND value != ''", (topic,)))

    # -- between memories, and between memories and sessions ------------------------------------------

    def superseded(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """Return for each memory those that it ended."""
        found: dict[str, list[str]] = {}
        for some in _few(ids):
            pairs = rows(
                self._db,
                f"SELECT superseded_by, id FROM memory WHERE superseded_by IN ({_marks(some)})"
                " AND superseded_by != '' ORDER BY row",
                some,
            )
            for new, old in pairs:
                found.setdefault(new, []).append(old)
        return found

    def edges(self, ids: Iterable[str]) -> list[tuple[str, str, str, int, str]]:
        """Return (source, kind, target, at, by) of every edge from or to some memories."""
        found: set[tuple[str, str, str, int, str]] = set()
        for some in _few(ids):
            for end in ("source", "target"):
                found |= set(
                    rows(
                        self._db,
                        f"SELECT source, kind, target, at, by FROM edge WHERE {end} IN ({_marks(some)})",
                        some,
                    )
                )
        return sorted(found)

    def shown_in(self, session: str) -> dict[str, int]:
        """Return the memories that were shown in a session, and when last."""
        return dict(rows(self._db, "SELECT memory_id, at FROM shown WHERE session = ?", (session,)))

    def sessions_showing(self, memory_id: str) -> dict[str, int]:
        """Return the sessions in which a memory was shown, and when last."""
        return dict(rows(self._db, "SELECT session, at FROM shown WHERE memory_id = ?", (memory_id,)))

    def _rows(self, table: str, where: str, values: Sequence[Any], limit: int) -> list[int]:
        sql = f"SELECT DISTINCT row FROM {table} WHERE {where} ORDER BY row DESC LIMIT ?"
        return [row[0] for row in rows(self._db, sql, (*values, limit))]

    def _select(self, column: str, values: Iterable[Any]) -> list[tuple[int, Memory]]:
        found: list[Any] = []
        for some in _few(values):
            found += rows(
                self._db,
                f"SELECT {_COLUMNS} FROM memory WHERE {column} IN ({_marks(some)}) ORDER BY row",
                some,
            )
        whole = [row for row in found if hash_of_row(row[:-1]) == row[-1]]
        self._about.update([(row[1], row[-2]) for row in whole])
        return [(row[0], memory_of(row[1:_END])) for row in whole]


def path_prefixes(path: str) -> list[str]:
    """Return a path and every folder above it, as triggers may name them: "src/api/", "src/"."""
    parts = path.split("/")
    return [path, *("/".join(parts[:end]) + "/" for end in range(1, len(parts)) if any(parts[:end]))]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _few(values: Iterable[Any]) -> list[list[Any]]:
    every = list(values)
    return [every[start : start + _FEW] for start in range(0, len(every), _FEW)]
