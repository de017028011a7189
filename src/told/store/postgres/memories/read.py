"""Read memories from PostgreSQL, as one person may see them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import psycopg

from told.store.memories.names import STRANGER
from told.store.memories.records import (
    ACTIVE,
    MARKS,
    PRIVATE,
    READER,
    TEAM,
    IdleMemory,
    Memory,
    Position,
    is_private,
    parse_memory,
)
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.memories.match import MemoryIndex, PostgresVectors
from told.store.postgres.memories.queries import LAST, clean, clean_all, limit_of
from told.store.postgres.memories.write import JOINED, LOADED, PostgresWriter

_OWN = "m.owner = %(person)s"
_TRUST = f"CASE WHEN {_OWN} THEN m.trust ELSE %(theirs)s || coalesce(p.name, m.owner) END"
_LOAD = (
    f"SELECT m.row, m.owner, coalesce(p.name, m.owner), {LOADED} FROM {JOINED}"
    " LEFT JOIN person p ON p.team = %(team)s AND p.person = m.owner"
)
_IDLE = ", ".join(f"m.{name}" for name in IdleMemory._fields)
_OBSERVATION = f"({_OWN} AND m.trust = 'agent' AND m.kind = 'observation' AND m.label <> '')"
_FORGOTTEN_OR_WAITING = "('archived', 'forgotten', 'candidate', 'dismissed')"


class PostgresMemories(MemoryIndex):
    """The memories that one person may read: the own ones, and what colleagues share.

    It lives as long as the transaction of its connection. A colleague's memory reads as one: never locked or
    confirmed, and without evidence.
    """

    STORE_ERRORS: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)
    QUERY_ERRORS: ClassVar[tuple[type[Exception], ...]] = ()

    def __init__(self, connection: Connection, viewer: Viewer, *, only_own: bool = False) -> None:
        """Take the connection of a viewer's transaction.

        Args:
            connection: An open transaction of the viewer.
            viewer: Who reads.
            only_own: Find none of the colleagues' memories by id.
        """
        super().__init__(connection, viewer)
        self.writer = PostgresWriter(connection, viewer)
        self.vectors = PostgresVectors(connection, viewer)
        self.left_out: Collection[int] = ()  # rows that are not loaded
        self._own = f" AND {_OWN}" if only_own else ""

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories by id; of two with the same id, the viewer's."""
        return {memory.id: memory for _, memory in self._load("id", clean_all(ids))}

    def load(self, numbers: Iterable[int]) -> dict[int, Memory]:
        """Return memories by row."""
        return dict(self._load("row", list(numbers)))

    def load_ids(self, ids: Iterable[str]) -> dict[int, Memory]:
        """Return memories by row, given their ids."""
        return dict(self._load("id", clean_all(ids)))

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        """Return the ids that start with a prefix."""
        where = self._where("m.id >= %(first)s AND m.id < %(last)s") + self._own
        statement = f"SELECT DISTINCT m.id {where} ORDER BY m.id LIMIT %(limit)s"
        given = clean(prefix)
        return self._fetch_column(statement, first=given, last=given + LAST, limit=limit_of(limit))

    def ids(self) -> list[str]:
        """Return the id of every memory, the oldest first."""
        return self._fetch_column(f"SELECT m.id {self._where('true')} ORDER BY m.row")

    def ids_with_trust(self, prefix: str) -> list[str]:
        """Return the ids of memories whose trust has a prefix."""
        return self._fetch_column(
            f"SELECT m.id {self._where('starts_with(' + _TRUST + ', %(prefix)s)', people=True)}",
            prefix=prefix, theirs=self._theirs,
        )  # fmt: skip

    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """Return (status, kind, scope, memories, locked ones)."""
        return self._count_by("m.status, m.kind, m.scope")

    def counts_by_trust(self) -> list[tuple[str, str, str, str, int, int]]:
        """Return (status, kind, scope, trust, memories, locked ones)."""
        return self._count_by(f"m.status, m.kind, m.scope, {_TRUST}")

    def _count_by(self, columns: str) -> list[Any]:
        places = ", ".join(str(place) for place in range(1, 4 + ("CASE" in columns)))
        return self._fetch(
            f"SELECT {columns}, count(*), count(*) FILTER (WHERE m.locked AND {_OWN})"
            f" {self._where('true', people=True)} GROUP BY {places} ORDER BY {places}",
            theirs=self._theirs,
        )

    def count_since(self, mark: str, at: int) -> tuple[int, int]:
        """Return how many active memories with a mark were made and shown since a time."""
        made, shown = self._fetch(
            "SELECT count(*) FILTER (WHERE m.created >= %(at)s), count(*) FILTER"
            f" (WHERE m.shown_last >= %(at)s AND {_OWN})"
            f" {self._where(_ACTIVE + ' AND strpos(m.marks, %(mark)s) > 0')}",
            mark=mark, at=at,
        )[0]  # fmt: skip
        return made, shown

    def count_from_sessions(self) -> int:
        """Return how many active memories users stated in sessions."""
        where = f"{_ACTIVE} AND {_OWN} AND m.trust = 'user' AND {_FROM_SESSION}"
        return int(self._fetch_value(f"SELECT count(*) {self._where(where)}"))

    def count_observations(self, scopes: Sequence[str]) -> int:
        """Return how many active memories only record what an agent did."""
        where = self._where(f"{_ACTIVE} AND {_OBSERVATION}", scopes)
        return int(self._fetch_value(f"SELECT count(*) {where}", scopes=clean_all(scopes)))

    def count_candidates(self, scopes: Sequence[str] = ()) -> int:
        """Return how many candidates scopes have; all if no scope is given."""
        where = self._where("m.status = 'candidate'", scopes)
        return int(self._fetch_value(f"SELECT count(*) {where}", scopes=clean_all(scopes)))

    def repeated(self) -> list[int]:
        """Return the rows of users' memories that were stated more than once, without dismissed ones."""
        said = (
            "m.row IN (SELECT e.row FROM evidence_of e WHERE e.team = %(team)s AND e.owner = %(person)s"
            " GROUP BY e.row HAVING count(DISTINCT e.session) > 1)"
        )
        return self._rows(
            f"{_OWN} AND m.trust = 'user' AND m.status <> 'dismissed' AND (m.repeated > 0 OR {said})"
        )

    def listed(
        self, *, status: str = ACTIVE, scopes: Sequence[str] = (), kinds: Sequence[str] = (),
        limit: int = -1, observations: bool = True,
    ) -> list[int]:  # fmt: skip
        """Return the rows of memories with a status, of the given scopes, kinds or marks.

        Without `observations`, records of what agents did are left out.
        """
        conditions = [_ACTIVE if status == ACTIVE else "m.status = %(status)s AND m.status <> 'active'"]
        marks = [one for one in kinds if one in MARKS]
        if kinds:
            conditions.append(
                "(m.kind = ANY(%(kinds)s) OR (m.marks <> '' AND string_to_array(m.marks, ' ') && %(marks)s))"
            )
        if not observations:
            conditions.append(f"NOT {_OBSERVATION}")
        given = [one for one in kinds if one not in MARKS]
        return self._rows(" AND ".join(conditions), scopes, limit, status=status, kinds=given, marks=marks)

    def rejected(self, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of memories that the user rejected, of some scopes or of all."""
        return self._rows(f"{_OWN} AND m.status = 'dismissed' AND m.was = 'user'", scopes)

    def forgotten_with(self, marks: Sequence[str], scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of forgotten memories with one of some marks, of some scopes or of all."""
        where = (
            f"{_OWN} AND m.status = 'forgotten' AND EXISTS (SELECT FROM memory_own o,"
            " unnest(%(words)s::text[]) AS w(word) WHERE o.team = %(team)s AND o.owner = %(person)s"
            " AND o.row = m.row AND strpos(o.evidence, w.word) > 0)"
        )
        return self._rows(where, scopes, words=clean_all(marks))

    def unreviewed(self, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of active statements that the user neither worded, locked nor confirmed."""
        where = (
            f"{_OWN} AND {_ACTIVE} AND m.trust IN ('user', 'agent') AND m.label = '' AND NOT m.locked"
            " AND m.confirmed = 0 AND m.worded_by <> 'user'"
        )
        return self._rows(where, scopes)

    def changed_since(
        self, at: int, scopes: Sequence[str], kinds: Sequence[str], *, session: str = ""
    ) -> list[str]:
        """Return the ids of the users' active statements of some kinds that changed since a time.

        What users said in `session` is left out, unless a reader worded it.
        """
        where = (
            f"{_OWN} AND {_ACTIVE} AND m.trust = 'user' AND m.updated > %(at)s AND m.kind = ANY(%(kinds)s)"
        )
        rows = self._rows(where, scopes, at=at, kinds=list(kinds))
        found = self.load(rows)
        heard = {
            row
            for row, one in found.items()
            if one.worded_by != READER and any(place.session == session for place in one.evidence)
        }
        return [found[row].id for row in rows if row in found and row not in heard]

    def idle(self, before: int) -> Iterator[IdleMemory]:
        """Yield unlocked memories unchanged since a time, the longest idle first."""
        where = (
            f"{_OWN} AND m.last_at < %(before)s AND NOT m.locked AND m.confirmed = 0"
            f" AND m.status NOT IN {_FORGOTTEN_OR_WAITING}"
        )
        statement = f"SELECT {_IDLE} {self._where(where)} ORDER BY m.last_at, m.row"
        return (IdleMemory(*values) for values in self._fetch(statement, before=before))

    def idle_candidates(self, before: int) -> list[IdleMemory]:
        """Return the candidates unchanged since a time, the longest idle first."""
        where = f"{_OWN} AND m.status = 'candidate' AND m.last_at < %(before)s"
        statement = f"SELECT {_IDLE} {self._where(where)} ORDER BY m.last_at, m.row"
        return [IdleMemory(*values) for values in self._fetch(statement, before=before)]

    def of_scope(self, scope: str) -> list[int]:
        """Return the rows of a scope's memories of any status."""
        return self._rows("true", (scope,))

    def private_scopes(self) -> list[str]:
        """Return the private scopes that have active memories."""
        # Nobody else reads them, so most memories need not be looked at.
        where = f"{_ACTIVE} AND {_OWN} AND m.reader = %(person)s AND starts_with(m.scope, %(prefix)s)"
        statement = f"SELECT DISTINCT m.scope {self._where(where)} ORDER BY m.scope"
        return [one for one in self._fetch_column(statement, prefix=PRIVATE) if is_private(one)]

    def locked(self, scopes: Sequence[str], limit: int = -1) -> list[int]:
        """Return the rows of locked memories; a colleague's never are."""
        return self._rows(f"{_OWN} AND m.locked AND {_ACTIVE}", scopes, limit) if scopes else []

    def by_trigger(
        self, kind: str, values: Sequence[str], scopes: Sequence[str], limit: int = 200
    ) -> list[int]:
        """Return the rows of memories triggered by commands, paths or tasks."""
        if not values or not scopes:
            return []
        statement = (
            "SELECT DISTINCT t.row FROM unnest(%(values)s::text[]) AS v(value) JOIN trigger_of t ON"
            " t.team = %(team)s AND t.kind = %(kind)s AND t.value = v.value AND t.scope = ANY(%(scopes)s)"
            " AND t.reader = ANY(%(readers)s) ORDER BY t.row DESC LIMIT %(limit)s"
        )
        return self._fetch_column(
            statement,
            kind=clean(kind),
            values=clean_all(values),
            scopes=clean_all(scopes),
            limit=limit_of(limit),
        )  # fmt: skip

    def of_session(self, session: str) -> list[int]:
        """Return the rows of the viewer's memories from a session, forgotten ones included."""
        return self._fetch_column(
            "SELECT DISTINCT row FROM evidence_of WHERE team = %(team)s AND owner = %(person)s"
            " AND session = %(session)s ORDER BY row DESC",
            session=clean(session),
        )

    def positions(self) -> dict[tuple[str, str], Position]:
        """Return how far the viewer's series is applied: always to its end."""
        statement = "SELECT series, number FROM series WHERE team = %(team)s AND person = %(person)s"
        return {(series, ""): Position(0, number, "") for series, number in self._fetch(statement)}

    def superseded(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """Return for each memory the ids it superseded."""
        where = "m.superseded_by = ANY(%(ids)s) AND m.superseded_by <> ''"
        found: dict[str, list[str]] = {}
        statement = f"SELECT m.superseded_by, m.id {self._where(where)} ORDER BY m.row"
        for new, old in self._fetch(statement, ids=clean_all(ids)):
            found.setdefault(new, []).append(old)
        return found

    def edges(self, ids: Iterable[str]) -> list[tuple[str, str, str, int, str]]:
        """Return (source, kind, target, at, by) of the edges of the viewer's memories."""
        given = clean_all(ids)
        own = "SELECT source, kind, target, at, by FROM edge WHERE team = %(team)s AND owner = %(person)s"
        statement = f"{own} AND source = ANY(%(ids)s) UNION {own} AND target = ANY(%(ids)s)"
        return sorted(self._fetch(statement, ids=given)) if given else []

    def shown_in(self, session: str) -> dict[str, int]:
        """Return the memories shown in a session, with the last time."""
        own = "FROM shown WHERE team = %(team)s AND owner = %(person)s"
        statement = f"SELECT memory_id, at {own} AND session = %(session)s"
        return dict(self._fetch(statement, session=clean(session)))

    def sessions_showing(self, memory_id: str) -> dict[str, int]:
        """Return the sessions that a memory was shown in, with the last time."""
        own = "FROM shown WHERE team = %(team)s AND owner = %(person)s"
        return dict(self._fetch(f"SELECT session, at {own} AND memory_id = %(id)s", id=clean(memory_id)))

    @property
    def _theirs(self) -> str:
        """What a colleague's trust begins with."""
        return f"{TEAM}{self._viewer.team_name}/"

    def _where(self, condition: str, scopes: Sequence[str] = (), *, people: bool = False) -> str:
        """Return FROM and WHERE of the memories that the viewer may read."""
        person = " LEFT JOIN person p ON p.team = %(team)s AND p.person = m.owner" if people else ""
        inside = " AND m.scope = ANY(%(scopes)s)" if scopes else ""
        readable = "m.team = %(team)s AND m.reader = ANY(%(readers)s)"
        return f"FROM memory m{person} WHERE {readable}{inside} AND {condition}"

    def _rows(self, condition: str, scopes: Sequence[str] = (), limit: int = -1, **values: Any) -> list[int]:
        statement = f"SELECT m.row {self._where(condition, scopes)} ORDER BY m.row DESC LIMIT %(limit)s"
        return self._fetch_column(statement, scopes=clean_all(scopes), limit=limit_of(limit), **values)

    def _load(self, column: str, values: list[Any]) -> list[tuple[int, Memory]]:
        if not values:
            return []
        statement = (
            f"{_LOAD} WHERE m.team = %(team)s AND m.reader = ANY(%(readers)s)"
            f" AND m.{column} = ANY(%(values)s){self._own} ORDER BY m.row"
        )
        found: dict[int, Memory] = {}
        rows = self._fetch(statement, values=values)
        # Of two memories with the same id the viewer's counts: it comes last.
        rows.sort(key=lambda row: row[1] == self._viewer.person)
        seen: dict[str, int] = {}
        for row, owner, name, *columns in rows:
            if row in self.left_out:
                continue
            memory = parse_memory(columns)
            if owner != self._viewer.person:
                memory = self._as_colleagues(memory, name)
            if column == "id" and memory.id in seen:
                del found[seen[memory.id]]
            seen[memory.id] = row
            found[row] = memory
        return sorted(found.items())

    def _as_colleagues(self, memory: Memory, name: str) -> Memory:
        """Return what a colleague's memory is to the viewer: never the own word, and without its evidence."""
        plain = Memory(memory.id)
        trust = f"{self._theirs}{name}"
        return memory._replace(
            machine=STRANGER + memory.machine, trust=trust, worded_by=trust, locked=False, confirmed=0,
            alpha=plain.alpha, beta=plain.beta, shown=0, shown_last=0, followed=0, repeated=0, was="",
        )  # fmt: skip


_ACTIVE = "m.status = 'active'"
_FROM_SESSION = "m.row IN (SELECT e.row FROM evidence_of e WHERE e.team = %(team)s AND e.owner = %(person)s)"
