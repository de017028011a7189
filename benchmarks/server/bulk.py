"""Load invented memories as told's writer derives them, without the journal and in bulk."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple

from benchmarks.server.corpus import BLOCK, PEOPLE, TEAM_NAME, make_block
from told.search.index_text import make_index_fields
from told.search.vectors.table import table_model_id
from told.server.embedded import EmbeddedPostgres
from told.server.hybrid import register_table
from told.server.people import create_token, ensure_team
from told.store.memories.match import pack_vector_signs
from told.store.memories.records import Embedding
from told.store.postgres.database import Database, Viewer, connect
from told.store.postgres.memories.match import PostgresVectors
from told.store.postgres.memories.write import PostgresWriter
from told.store.postgres.migrate import migrate

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".cache")
_READY = "ready.json"
# While it is loaded; a half-loaded cluster is thrown away.
_LOADING = (
    "fsync=off", "full_page_writes=off", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0",
    "max_wal_size=8GB", "maintenance_work_mem=3GB", "max_parallel_maintenance_workers=2",
)  # fmt: skip
_TABLES = (
    "memory", "memory_own", "word_of", "trigger_of", "meaning_of", "memory_vector",
    "evidence_of", "edge",
)  # fmt: skip
_INTO = re.compile(r"INSERT INTO (\w+)")
_NUMBERS = [str(value - 256 if value > 127 else value) for value in range(256)]  # signed bytes
_CHUNK = 5  # blocks of one COPY


class Loaded(NamedTuple):
    """A team's memories in a running PostgreSQL."""

    database: Database
    home: str  # told's folder of a server for it
    size: int
    viewers: Sequence[Viewer]  # of PEOPLE
    tokens: Sequence[str]
    seconds: dict[str, float]  # that loading took


class _Sink(PostgresWriter):
    """The real writer, with lists of rows in place of a database."""

    def __init__(
        self, viewer: Viewer, rows: dict[str, list[tuple[Any, ...]]], names: dict[str, list[str]]
    ) -> None:
        self._viewer, self._values = viewer, {"team": viewer.team, "person": viewer.person}
        self.rows, self.names, self.reader = rows, names, ""
        self.vectors = _VectorSink(self)

    def _fetch(self, statement: str, **values: Any) -> list[Any]:
        """Take the one statement of a fresh memory that answers: its insertion."""
        self.reader = "" if values["shared"] else self._viewer.person
        values |= {"team": self._viewer.team, "owner": self._viewer.person}
        self.add(_name_table(statement), values)
        return [(values["row"],)]

    def _run(self, statement: str, **values: Any) -> None:
        table = _name_table(statement)
        values |= {"team": self._viewer.team, "owner": self._viewer.person, "reader": self.reader}
        lists = [name for name, value in values.items() if isinstance(value, list)]
        if not lists:
            self.add(table, values)
        for parts in zip(*(values[name] for name in lists), strict=True):
            self.add(table, values | dict(zip(lists, parts, strict=True)))

    def add(self, table: str, values: dict[str, Any]) -> None:
        self.rows[table].append(tuple([values[name] for name in self.names[table]]))


class _VectorSink(PostgresVectors):
    def __init__(self, sink: _Sink) -> None:
        self._sink = sink

    def put(self, row: int, scope: str, embedding: Embedding) -> None:
        sink, vector = self._sink, embedding.vector
        values = {"team": sink._viewer.team, "row": row, "scope": scope, "reader": sink.reader}  # noqa: SLF001
        values["model"] = table_model_id() or ""
        sink.add("meaning_of", values | {"vector": vector, "signs": pack_vector_signs(vector)})
        numbers = ",".join([_NUMBERS[value] for value in vector])
        sink.add("memory_vector", values | {"vector": f"[{numbers}]"})


def _name_table(statement: str) -> str:
    found = _INTO.match(statement)
    assert found, statement
    return found[1]


def load_chunk(url: str, viewers: Sequence[Viewer], chunk: range, total: int) -> int:
    """Make some blocks and copy their rows."""
    with connect(url) as connection, connection.transaction():
        names = {table: _list_columns(connection, table) for table in _TABLES}
        rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _TABLES}
        sinks = [_Sink(viewer, rows, names) for viewer in viewers]
        for block in chunk:
            for owner, memory in make_block(block, total, viewers[0].team):
                sinks[owner].put(memory, make_index_fields, fresh=True)
        for table in _TABLES:
            columns = ", ".join(names[table])
            with connection.cursor().copy(f"COPY {table}({columns}) FROM STDIN") as copy:
                for row in rows[table]:
                    copy.write_row(row)
    return len(chunk)


def _list_columns(connection: Any, table: str) -> list[str]:
    statement = (
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attgenerated = '' ORDER BY attnum"
    )
    return [name for (name,) in connection.execute(statement, (table,))]


@contextmanager
def loaded(size: int, *settings: str) -> Iterator[Loaded]:
    """Run PostgreSQL with so many memories for a block; load them on first use."""
    home = os.path.join(_FOLDER, str(size))
    ready = os.path.join(home, _READY)
    if not os.path.exists(ready):
        _load(size, home, ready)
    with open(ready, encoding="utf-8") as file:
        found = json.load(file)
    server = EmbeddedPostgres(
        os.path.join(home, "server", "postgres"), settings=("max_connections=100", *settings)
    )
    try:
        server.start()
        database = Database(server.url, size=8)
        viewers = [Viewer(*one) for one in found["viewers"]]
        yield Loaded(database, home, size, viewers, found["tokens"], found["seconds"])
        database.close()
    finally:
        server.stop()


def _load(size: int, home: str, ready: str) -> None:
    began = time.perf_counter()
    server = EmbeddedPostgres(os.path.join(home, "server", "postgres"), settings=_LOADING)
    try:
        server.start()
        database = Database(server.url)
        migrate(database)
        register_table(database)
        team = ensure_team(database, TEAM_NAME)
        tokens = [create_token(database, team.team, name, role="member") for name in PEOPLE]
        viewers = [Viewer(team.team, one.person, team.team_name, one.name) for one in tokens]
        database.close()
        with connect(server.url) as connection:
            again = _drop_indexes(connection)
        blocks = size // BLOCK
        chunks = [range(at, min(at + _CHUNK, blocks)) for at in range(0, blocks, _CHUNK)]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            jobs = [pool.submit(load_chunk, server.url, viewers, chunk, size) for chunk in chunks]
            done = 0
            for job in jobs:
                done += job.result()
                print(f"\r{done * BLOCK:,} of {size:,} memories", end="", file=sys.stderr, flush=True)
        seconds = {"rows": time.perf_counter() - began}
        with connect(server.url) as connection:
            for statement in again:
                began = time.perf_counter()
                connection.execute(statement)
                seconds[statement.partition(" ON ")[0].partition(" USING")[0]] = time.perf_counter() - began
                print(f"\n{statement[:70]}", file=sys.stderr, flush=True)
            connection.execute("VACUUM (ANALYZE, FREEZE)")
            connection.execute("CHECKPOINT")
    finally:
        server.stop()
    with open(ready, "w", encoding="utf-8") as file:
        json.dump({
            "viewers": viewers, "tokens": [one.secret for one in tokens],
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
        }, file)  # fmt: skip


def _drop_indexes(connection: Any) -> list[str]:
    """Drop the indexes of the tables that are filled; return the statements that create them again."""
    keys = connection.execute(
        "SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname,"
        " pg_get_constraintdef(oid)),"
        " format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname)"
        " FROM pg_constraint WHERE contype IN ('p', 'u') AND conrelid = ANY(%s::regclass[]) ORDER BY oid",
        (list(_TABLES),),
    ).fetchall()
    indexes = connection.execute(
        "SELECT pg_get_indexdef(indexrelid), format('DROP INDEX %%s', indexrelid::regclass) FROM pg_index"
        " WHERE indrelid = ANY(%s::regclass[]) AND NOT EXISTS"
        " (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid",
        (list(_TABLES),),
    ).fetchall()
    for _, statement in (*keys, *indexes):
        connection.execute(statement)
    return [statement for statement, _ in (*keys, *indexes)]
