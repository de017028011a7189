"""Read memories from `memory.db`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import apsw

from told.store.memories.match import MemoryIndex, MemoryVectors
from told.store.memories.records import (
    ACTIVE,
    COLUMNS,
    MARKS,
    PRIVATE,
    WRITTEN,
    IdleMemory,
    Memory,
    Position,
    hash_row,
    is_private,
    parse_memory,
)
from told.store.memories.schema import migrate
from told.store.memories.write import MemoryWriter
from told.store.opening import open_database

# Raised for a damaged file, which has to be rebuilt.
UNREADABLE = (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError)
_COLUMNS = ", ".join(WRITTEN)
_IDLE = ", ".join(IdleMemory._fields)
_END = 1 + len(COLUMNS)
_BATCH = 500  # values in one query
_OBSERVATION = "(trust = 'agent' AND kind = 'observation' AND label != '')"


def memory_path(home: str) -> str:
    """Return the path of the database of memories."""
    return os.path.join(home, "memory.db")


def open_memory_database(path: str) -> apsw.Connection | None:
    """Open or create the database; None if it has to be rebuilt."""
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


class SqliteMemories(MemoryIndex):
    """The memories of a home. Newer memories have higher rows; rows are returned newest first."""

    STORE_ERRORS: ClassVar[tuple[type[Exception], ...]] = (apsw.Error, UnicodeDecodeError)
    QUERY_ERRORS: ClassVar[tuple[type[Exception], ...]] = (apsw.SQLError,)

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.connection = connection
        self.writer = MemoryWriter(connection)
        self.vectors = MemoryVectors(connection)
        self.left_out: Collection[int] = ()  # rows that are not loaded

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories by id, skipping damaged rows."""
        return {memory.id: memory for _, memory in self._load("id", ids)}

    def load(self, numbers: Iterable[int]) -> dict[int, Memory]:
        """Return memories by row, skipping damaged rows."""
        return dict(self._load("row", numbers))

    def load_ids(self, ids: Iterable[str]) -> dict[int, Memory]:
        """Return memories by row, given their ids."""
        return dict(self._load("id", ids))

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        """Return the ids that start with a prefix."""
        sql = "SELECT id FROM memory WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
        return self._fetch_column(sql, (prefix, prefix + "\U0010ffff", limit))

    def ids(self) -> list[str]:
        """Return the id of every memory, the oldest first."""
        return self._fetch_column("SELECT id FROM memory ORDER BY row")

    def ids_with_trust(self, prefix: str) -> list[str]:
        """Return the ids of memories whose trust has a prefix."""
        return self._fetch_column(
            "SELECT id FROM memory WHERE substr(trust, 1, ?) = ?", (len(prefix), prefix)
        )

    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """Return (status, kind, scope, memories, locked ones)."""
        return self._count_by("status, kind, scope")

    def counts_by_trust(self) -> list[tuple[str, str, str, str, int, int]]:
        """Return (status, kind, scope, trust, memories, locked ones)."""
        return self._count_by("status, kind, scope, trust")

    def _count_by(self, columns: str) -> list[Any]:
        sql = f"SELECT {columns}, count(*), sum(locked) FROM memory GROUP BY {columns} ORDER BY {columns}"
        return self._fetch(sql)

    def count_since(self, mark: str, at: int) -> tuple[int, int]:
        """Return how many active memories with a mark were made and shown since a time."""
        sql = (
            "SELECT coalesce(sum(created >= ?2), 0), coalesce(sum(shown_last >= ?2), 0) FROM memory"
            " WHERE status = 'active' AND instr(marks, ?1)"
        )
        made, shown = self._fetch(sql, (mark, at))[0]
        return made, shown

    def count_from_sessions(self) -> int:
        """Return how many active memories users stated in sessions."""
        sql = (
            "SELECT count(*) FROM memory WHERE status = 'active' AND trust = 'user'"
            " AND row IN (SELECT row FROM evidence_of)"
        )
        return int(self._fetch_value(sql))

    def count_observations(self, scopes: Sequence[str]) -> int:
        """Return how many active memories only record what an agent did."""
        where = f" AND scope IN ({_marks(scopes)})" if scopes else ""
        sql = f"SELECT count(*) FROM memory WHERE status = 'active' AND {_OBSERVATION}{where}"
        return int(self._fetch_value(sql, tuple(scopes)))

    def count_candidates(self, scopes: Sequence[str] = ()) -> int:
        """Return how many candidates scopes have; all if no scope is given."""
        where = f" AND scope IN ({_marks(scopes)})" if scopes else ""
        sql = f"SELECT count(*) FROM memory WHERE status = 'candidate' AND status != 'active'{where}"
        return int(self._fetch_value(sql, tuple(scopes)))

    def repeated(self) -> list[int]:
        """Return the rows of users' memories that were stated more than once, without dismissed ones."""
        said = "SELECT row FROM evidence_of GROUP BY row HAVING count(DISTINCT session) > 1"
        where = f"trust = 'user' AND status != 'dismissed' AND (repeated > 0 OR row IN ({said}))"
        return self._rows("memory", where, (), -1)

    def listed(
        self, *, status: str = ACTIVE, scopes: Sequence[str] = (), kinds: Sequence[str] = (),
        limit: int = -1, observations: bool = True,
    ) -> list[int]:  # fmt: skip
        """Return the rows of memories with a status, of the given scopes, kinds or marks.

        Without `observations`, records of what agents did are left out.
        """
        conditions = ["status = 'active'" if status == ACTIVE else "status = ? AND status != 'active'"]
        values: list[Any] = [] if status == ACTIVE else [status]
        if scopes:
            conditions.append(f"scope IN ({_marks(scopes)})")
            values += scopes
        if kinds:
            parts = ["(marks != '' AND instr(marks, ?))" if name in MARKS else "kind = ?" for name in kinds]
            conditions.append(f"({' OR '.join(parts)})")
            values += kinds
        if not observations:
            conditions.append(f"NOT {_OBSERVATION}")
        return self._rows("memory", " AND ".join(conditions), values, limit)

    def rejected(self, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of memories that the user rejected, of some scopes or of all."""
        where = "status = 'dismissed' AND status != 'active' AND was = 'user'"
        where += f" AND scope IN ({_marks(scopes)})" if scopes else ""
        return self._rows("memory", where, scopes, -1)

    def forgotten_with(self, marks: Sequence[str], scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of forgotten memories with one of some marks, of some scopes or of all."""
        has_mark = " OR ".join("instr(detail, ?)" for _ in marks)
        where = f"status = 'forgotten' AND status != 'active' AND ({has_mark})"
        where += f" AND scope IN ({_marks(scopes)})" if scopes else ""
        return self._rows("memory", where, (*marks, *scopes), -1)

    def unreviewed(self, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of active statements that the user neither worded, locked nor confirmed."""
        where = (
            "status = 'active' AND trust IN ('user', 'agent') AND label = '' AND locked = 0"
            " AND confirmed = 0 AND worded_by != 'user'"
        )
        where += f" AND scope IN ({_marks(scopes)})" if scopes else ""
        return self._rows("memory", where, scopes, -1)

    def changed_since(
        self, at: int, scopes: Sequence[str], kinds: Sequence[str], *, session: str = ""
    ) -> list[str]:
        """Return the ids of the users' active statements of some kinds that changed since a time.

        What users said in `session` is left out, unless a reader worded it.
        """
        wanted = (
            f"status = 'active' AND trust = 'user' AND updated > ? AND kind IN ({_marks(kinds)})"
            f" AND scope IN ({_marks(scopes)})"
            " AND (worded_by = 'reader' OR row NOT IN (SELECT row FROM evidence_of WHERE session = ?))"
        )
        # SQLite would look at all rules of the scopes. What the user confirmed is no news.
        sql = (
            "SELECT id FROM (SELECT id, row FROM memory INDEXED BY memory_idle WHERE last_at > ?"
            " AND locked = 0 AND confirmed = 0"
            f" AND status NOT IN ('archived', 'forgotten', 'candidate', 'dismissed') AND {wanted}"
            f" UNION SELECT id, row FROM memory INDEXED BY memory_locked WHERE locked = 1 AND {wanted})"
            " ORDER BY row DESC"
        )
        values = (at, *kinds, *scopes, session)
        return self._fetch_column(sql, (at, *values, *values))

    def idle(self, before: int) -> Iterator[IdleMemory]:
        """Yield unlocked memories unchanged since a time, the longest idle first."""
        sql = (
            f"SELECT {_IDLE} FROM memory WHERE last_at < ? AND locked = 0 AND confirmed = 0"
            " AND status NOT IN ('archived', 'forgotten', 'candidate', 'dismissed') ORDER BY last_at, row"
        )
        return (IdleMemory(*values) for values in self._db.execute(sql, (before,)))

    def idle_candidates(self, before: int) -> list[IdleMemory]:
        """Return the candidates unchanged since a time, the longest idle first."""
        sql = (
            f"SELECT {_IDLE} FROM memory WHERE status = 'candidate' AND status != 'active' AND last_at < ?"
            " ORDER BY last_at, row"
        )
        return self._fetch_all(IdleMemory, sql, (before,))

    def of_scope(self, scope: str) -> list[int]:
        """Return the rows of a scope's memories of any status."""
        return self._rows("memory", "scope = ?", (scope,), -1)

    def private_scopes(self) -> list[str]:
        """Return the private scopes that have active memories."""
        where = "status = 'active' AND scope >= ? AND scope < ?"
        sql = f"SELECT DISTINCT scope FROM memory WHERE {where} ORDER BY scope"
        return [one for one in self._fetch_column(sql, (PRIVATE, f"{PRIVATE};")) if is_private(one)]

    def locked(self, scopes: Sequence[str], limit: int = -1) -> list[int]:
        """Return the rows of locked memories."""
        where = f"locked = 1 AND status = 'active' AND scope IN ({_marks(scopes)})"
        return self._rows("memory", where, scopes, limit)

    def by_trigger(
        self, kind: str, values: Sequence[str], scopes: Sequence[str], limit: int = 200
    ) -> list[int]:
        """Return the rows of memories triggered by commands, paths or tasks."""
        where = f"kind = ? AND value IN ({_marks(values)}) AND scope IN ({_marks(scopes)})"
        return self._rows("trigger_of", where, (kind, *values, *scopes), limit)

    def of_session(self, session: str) -> list[int]:
        """Return the rows of memories from a session, forgotten ones included."""
        return self._rows("evidence_of", "session = ?", (session,), -1)

    def positions(self) -> dict[tuple[str, str], Position]:
        """Return how far each (machine, segment) of the journal is applied."""
        found = self._fetch("SELECT machine, segment, size, number, mark, erased FROM position")
        return {(machine, segment): Position(*rest) for machine, segment, *rest in found}

    def stale(self) -> set[str]:
        """Return the ids of memories that have to be folded again."""
        return set(self._fetch_column("SELECT memory_id FROM stale"))

    def superseded(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """Return for each memory the ids it superseded."""
        found: dict[str, list[str]] = {}
        for some in _batches(ids):
            sql = (
                f"SELECT superseded_by, id FROM memory WHERE superseded_by IN ({_marks(some)})"
                " AND superseded_by != '' ORDER BY row"
            )
            for new, old in self._fetch(sql, some):
                found.setdefault(new, []).append(old)
        return found

    def edges(self, ids: Iterable[str]) -> list[tuple[str, str, str, int, str]]:
        """Return (source, kind, target, at, by) of the edges of memories."""
        found: set[tuple[str, str, str, int, str]] = set()
        for some in _batches(ids):
            for end in ("source", "target"):
                sql = f"SELECT source, kind, target, at, by FROM edge WHERE {end} IN ({_marks(some)})"
                found |= set(self._fetch(sql, some))
        return sorted(found)

    def shown_in(self, session: str) -> dict[str, int]:
        """Return the memories shown in a session, with the last time."""
        return dict(self._fetch("SELECT memory_id, at FROM shown WHERE session = ?", (session,)))

    def sessions_showing(self, memory_id: str) -> dict[str, int]:
        """Return the sessions that a memory was shown in, with the last time."""
        return dict(self._fetch("SELECT session, at FROM shown WHERE memory_id = ?", (memory_id,)))

    def _rows(self, table: str, where: str, values: Sequence[Any], limit: int) -> list[int]:
        sql = f"SELECT DISTINCT row FROM {table} WHERE {where} ORDER BY row DESC LIMIT ?"
        return self._fetch_column(sql, (*values, limit))

    def _load(self, column: str, values: Iterable[Any]) -> list[tuple[int, Memory]]:
        found: list[Any] = []
        for some in _batches(values):
            sql = f"SELECT {_COLUMNS} FROM memory WHERE {column} IN ({_marks(some)}) ORDER BY row"
            found += self._fetch(sql, some)
        intact = [row for row in found if row[0] not in self.left_out and hash_row(row[:-1]) == row[-1]]
        return [(row[0], parse_memory(row[1:_END])) for row in intact]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _batches(values: Iterable[Any]) -> list[list[Any]]:
    every = list(values)
    return [every[start : start + _BATCH] for start in range(0, len(every), _BATCH)]
