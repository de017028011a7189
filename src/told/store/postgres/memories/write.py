"""Write folded memories and their links into PostgreSQL; only the viewer's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from told.jsontext import dump_json
from told.store.memories.records import (
    ACTIVE,
    COLUMNS,
    SHARED,
    SHARED_WITH,
    SUPERSEDED,
    USER,
    WRITTEN,
    IndexFields,
    MakeFields,
    Memory,
    is_private,
    list_links,
    make_row,
    make_row_id,
    parse_memory,
    row_key,
)
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.fts import format_tsvector, split_words
from told.store.postgres.memories.match import LABELS, PostgresVectors, reader_mark
from told.store.postgres.memories.queries import ViewerQueries, clean, clean_values

# The columns as they are read: with the detail that `parse_memory` takes.
DETAIL = (
    "'[' || coalesce(o.evidence, '[]') || ',' || substr(m.detail, 2, length(m.detail) - 2) || ','"
    " || coalesce(o.edges, '[]') || ']'"
)
LOADED = ", ".join(DETAIL if name == "detail" else f"m.{name}" for name in COLUMNS)
JOINED = "memory m LEFT JOIN memory_own o ON o.team = %(team)s AND o.owner = %(person)s AND o.row = m.row"
_PLAIN = tuple(name for name in COLUMNS if name != "detail")
_CHANGED = (*_PLAIN, "detail", "extra", "shared")
_NAMES = ("row", *_CHANGED)
# Longer values find no memory: one row of an index has less than 2,704 bytes for the value, scope and reader.
_MAX_LISTED = 600  # bytes
_INSERT = (
    f"INSERT INTO memory(team, owner, tokens, {', '.join(_NAMES)}) VALUES(%(team)s, %(person)s,"
    f" %(tokens)s::tsvector, {', '.join(f'%({name})s' for name in _NAMES)})"
    " ON CONFLICT (team, row) DO NOTHING RETURNING row"
)
_UPDATE = (
    f"UPDATE memory SET tokens = %(tokens)s::tsvector, {', '.join(f'{one} = %({one})s' for one in _CHANGED)}"
    " WHERE team = %(team)s AND row = %(row)s AND owner = %(person)s"
)
_STORED = (
    f"SELECT m.row, m.extra, m.shared, {LOADED} FROM {JOINED}"
    " WHERE m.team = %(team)s AND m.id = %(id)s AND m.owner = %(person)s"
)
# Tables that list active memories by scope and reader, and those of the owner alone.
_LISTED = {"trigger_of": ("kind", "value")}
_OWN = {
    "evidence_of": ("session", "agent", "turn", "row"), "edge": ("source", "kind", "target", "at", "by"),
}  # fmt: skip


class _Stored(NamedTuple):
    """A memory as it is stored."""

    row: int
    extra: str
    shared: bool
    memory: Memory


def is_shared(memory: Memory, team: str) -> bool:
    """Tell whether a team may read a memory: the user's word, shared by the user or in a shared scope."""
    if is_private(memory) or not memory.text or memory.status not in (ACTIVE, SUPERSEDED):
        return False
    with_team = (SHARED_WITH, team, USER)
    asked = any((one.kind, one.target, one.by) == with_team for one in memory.edges)
    return memory.is_decided_by_user and (asked or memory.scope.startswith(SHARED))


class PostgresWriter(ViewerQueries):
    """Writes memories and all that is derived from them."""

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        super().__init__(connection, viewer)
        self.vectors = PostgresVectors(connection, viewer)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block or nothing."""
        # In a pipeline a statement does not wait for the answer to the one before.
        with self._db.transaction(), self._db.pipeline():
            yield

    def put(self, memory: Memory, make_fields: MakeFields, *, fresh: bool = False) -> None:
        """Store a memory; `make_fields` is only called for a new text, `fresh` ones are not stored yet."""
        old = None if fresh else self._stored(memory.id)
        if old and row_key(old.memory) != row_key(memory):
            self._remove(old)
            old = None
        made: IndexFields | None = None
        if old and old.memory.text == memory.text:
            extra = old.extra
        elif memory.text:
            made = make_fields(memory.text, memory.created, memory.when)
            extra = made.extra
        else:
            extra = ""
        new = _Stored(
            old.row if old else make_row_id(memory),
            extra,
            is_shared(memory, self._viewer.team),
            memory,
        )
        row = self._write(new, is_new=old is None)
        new = new._replace(row=row)
        if old is None or _links_key(old) != _links_key(new):
            if old:
                self._unlink(old)
            self._link(new)
        self._put_own(new, old)
        if memory.status != ACTIVE or not memory.text:
            if old:
                self.vectors.drop(row)
        elif not old or _vector_key(old) != _vector_key(new):
            made = made or make_fields(memory.text, memory.created, memory.when)
            if old:
                self.vectors.drop(row)  # also those that are written later
            self.vectors.put(row, memory.scope, made.embedding)

    def drop(self, memory_id: str) -> None:
        """Remove a memory that was never created."""
        old = self._stored(memory_id)
        if old:
            self._remove(old)
            self.clear_shown(memory_id)

    def put_shown(self, memory_id: str, shown: Iterable[tuple[str, int]]) -> None:
        """Store the sessions a memory was shown in, with the last time."""
        for session, at in shown:
            self._run(
                "INSERT INTO shown(team, owner, session, memory_id, at) VALUES(%(team)s, %(person)s,"
                " %(session)s, %(id)s, %(at)s) ON CONFLICT (team, owner, session, memory_id)"
                " DO UPDATE SET at = greatest(shown.at, excluded.at)",
                session=clean(session), id=memory_id, at=at,
            )  # fmt: skip

    def clear_shown(self, memory_id: str) -> None:
        """Delete where a memory was shown."""
        self._run(
            "DELETE FROM shown WHERE team = %(team)s AND owner = %(person)s AND memory_id = %(id)s",
            id=memory_id,
        )

    def put_noted(self, topic: str, name: str, value: str, key: tuple[int, str, int]) -> None:
        """Store a note; the latest by key wins."""
        at, machine, number = key
        self._run(
            "INSERT INTO noted(team, owner, topic, name, value, at, machine, number) VALUES(%(team)s,"
            " %(person)s, %(topic)s, %(name)s, %(value)s, %(at)s, %(machine)s, %(number)s)"
            " ON CONFLICT (team, owner, topic, name) DO UPDATE SET value = excluded.value, at = excluded.at,"
            " machine = excluded.machine, number = excluded.number"
            " WHERE (noted.at, noted.machine, noted.number)"
            " <= (excluded.at, excluded.machine, excluded.number)",
            at=at, machine=machine, number=number,
            **clean_values({"topic": topic, "name": name, "value": value}),
        )  # fmt: skip

    def is_orphan(self, memory_id: str) -> bool:
        """Tell whether a memory has operations but no creation yet."""
        statement = "SELECT 1 FROM orphan WHERE team = %(team)s AND owner = %(person)s AND memory_id = %(id)s"
        return bool(self._fetch(statement, id=memory_id))

    def set_orphan(self, memory_id: str, *, orphan: bool) -> None:
        """Mark whether a memory has operations but no creation yet."""
        if orphan:
            statement = "INSERT INTO orphan VALUES(%(team)s, %(person)s, %(id)s) ON CONFLICT DO NOTHING"
        else:
            statement = (
                "DELETE FROM orphan WHERE team = %(team)s AND owner = %(person)s AND memory_id = %(id)s"
            )
        self._run(statement, id=memory_id)

    def clear(self) -> None:
        """Delete everything that is derived from the viewer's operations."""
        rows = "SELECT m.row FROM memory m WHERE m.team = %(team)s AND m.owner = %(person)s"
        for table in ("word_of", *_LISTED, "meaning_of", "memory_vector"):
            self._run(f"DELETE FROM {table} WHERE team = %(team)s AND row IN ({rows})")
        for table in ("memory_own", "evidence_of", "edge", "shown", "noted", "orphan", "memory"):
            self._run(f"DELETE FROM {table} WHERE team = %(team)s AND owner = %(person)s")

    def _write(self, new: _Stored, *, is_new: bool) -> int:
        """Write the row of a memory; return its number."""
        memory, row = new.memory, new.row
        made = dict(zip(WRITTEN, make_row(row, memory, new.extra), strict=True))
        columns = [(LABELS[name], clean(str(made[name]))) for name in ("text", "words", "extra")]
        reader = "" if new.shared else self._viewer.person
        marks = [*split_words(str(made["scope_word"])), reader_mark(self._viewer.team, reader)]
        values: dict[str, Any] = clean_values({name: made[name] for name in (*_PLAIN, "extra")})
        values |= {
            "locked": memory.locked, "shared": new.shared, "row": row,
            "detail": clean(dump_json([memory.triggers, memory.entities])),
            "tokens": format_tsvector(columns, marks),
        }  # fmt: skip
        if not is_new:
            self._run(_UPDATE, **values)
            return row
        while not self._fetch(_INSERT, **values):  # another memory of the same moment has this row
            values["row"] += 1
        return int(values["row"])

    def _put_own(self, new: _Stored, old: _Stored | None) -> None:
        """Write what only the owner reads: evidence and edges."""
        memory = new.memory
        if old is None or (old.memory.evidence, old.memory.edges) != (memory.evidence, memory.edges):
            self._run(
                "INSERT INTO memory_own(team, owner, row, evidence, edges) VALUES(%(team)s, %(person)s,"
                " %(row)s, %(evidence)s, %(edges)s) ON CONFLICT (team, owner, row) DO UPDATE"
                " SET evidence = excluded.evidence, edges = excluded.edges",
                row=new.row, evidence=clean(dump_json(memory.evidence)), edges=clean(dump_json(memory.edges)),
            )  # fmt: skip
        links = {one for one in list_links(new.row, memory) if one[0] in _OWN}
        known = {one for one in list_links(old.row, old.memory) if one[0] in _OWN} if old else set()
        for table, *values in known - links:
            where = " AND ".join(f"{name} = %({name})s" for name in _OWN[table])
            given = clean_values(dict(zip(_OWN[table], values, strict=True)))
            self._run(
                f"DELETE FROM {table} WHERE team = %(team)s AND owner = %(person)s AND {where}", **given
            )
        for table, *values in links - known:
            names = _OWN[table]
            marks = ", ".join(f"%({name})s" for name in names)
            again = "DO UPDATE SET at = excluded.at, by = excluded.by" if table == "edge" else "DO NOTHING"
            key = "(team, owner, source, kind, target)" if table == "edge" else ""
            self._run(
                f"INSERT INTO {table}(team, owner, {', '.join(names)}) VALUES(%(team)s, %(person)s, {marks})"
                f" ON CONFLICT {key} {again}",
                **clean_values(dict(zip(names, values, strict=True))),
            )

    def _link(self, new: _Stored) -> None:
        """List an active memory by its words and triggers."""
        for table, columns in self._list(new).items():
            names = ", ".join(columns)
            values = ", ".join(f"%({name})s::text[]" for name in columns)
            size = " + ".join(f"octet_length({name})" for name in columns)
            self._run(
                f"INSERT INTO {table}(team, {names}, scope, reader, row)"
                f" SELECT %(team)s, {names}, %(scope)s, %(reader)s, %(row)s"
                f" FROM unnest({values}) AS v({names}) WHERE {size} <= %(most)s ON CONFLICT DO NOTHING",
                **columns, **self._place(new), most=_MAX_LISTED,
            )  # fmt: skip

    def _unlink(self, old: _Stored) -> None:
        for table, columns in self._list(old).items():
            names = ", ".join(columns)
            values = ", ".join(f"%({name})s::text[]" for name in columns)
            self._run(
                f"DELETE FROM {table} WHERE team = %(team)s AND ({names}) IN (SELECT * FROM unnest({values}))"
                " AND scope = %(scope)s AND reader = %(reader)s AND row = %(row)s",
                **columns, **self._place(old),
            )  # fmt: skip

    def _place(self, stored: _Stored) -> dict[str, Any]:
        """Return what all entries of a memory have in common."""
        reader = "" if stored.shared else self._viewer.person
        return {"scope": clean(stored.memory.scope), "reader": reader, "row": stored.row}

    def _list(self, stored: _Stored) -> dict[str, dict[str, list[str]]]:
        """Return the values by which an active memory is listed: the columns of each table."""
        words = self._words(stored)
        found: dict[str, dict[str, list[str]]] = {"word_of": {"word": words}} if words else {}
        for table, *values in list_links(stored.row, stored.memory):
            if table in _LISTED:
                columns = found.setdefault(table, {name: [] for name in _LISTED[table]})
                for name, value in zip(_LISTED[table], values, strict=False):
                    columns[name].append(clean(value))
        return found

    def _words(self, stored: _Stored) -> list[str]:
        """Return the words by which an active memory is listed."""
        memory = stored.memory
        if memory.status != ACTIVE or not memory.text:
            return []
        words = split_words(clean(f"{memory.text}\n{memory.words}\n{stored.extra}"))
        return list(dict.fromkeys(words))

    def _stored(self, memory_id: str) -> _Stored | None:
        found = self._fetch(_STORED, id=memory_id)
        if not found:
            return None
        row, extra, shared, *values = found[0]
        return _Stored(row, extra, shared, parse_memory(values))

    def _remove(self, old: _Stored) -> None:
        self._unlink(old)
        self.vectors.drop(old.row)
        self._put_own(old._replace(memory=Memory(old.memory.id)), old)
        own = "WHERE team = %(team)s AND owner = %(person)s AND row = %(row)s"
        self._run(f"DELETE FROM memory_own {own}", row=old.row)
        self._run(f"DELETE FROM memory {own}", row=old.row)


def _links_key(stored: _Stored) -> tuple[Any, ...]:
    """Return what the tables that list active memories depend on."""
    memory = stored.memory
    said = memory.text, memory.words, memory.triggers, memory.entities, memory.scope, memory.status
    return (*said, stored.extra, stored.shared)


def _vector_key(stored: _Stored) -> tuple[Any, ...]:
    """Return what a memory's vectors depend on."""
    own = stored.memory
    return own.text, own.when, own.scope, own.status == ACTIVE, stored.shared
