"""The table of operations: one series for each person, written by one transaction at a time."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import psycopg

from told.errors import BusyError
from told.store.database import public_id
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.memories.queries import LAST, ViewerQueries, clean_all

_WAIT_MS = 5000  # for another transaction of the same person
_COLUMNS = "number, at, kind, memory, by, payload, payload_hash, previous, hash, redacted"
_OWN = "FROM operation WHERE team = %(team)s AND person = %(person)s"


class StoredOperation(NamedTuple):
    """One row."""

    number: int
    at: int
    kind: str
    memory: str
    by: str
    payload: str | None  # None: erased
    payload_hash: str
    previous: str
    hash: str
    redacted: str | None = None


def series_name(viewer: Viewer) -> str:
    """Return the name of a person's series, which has the form of a machine's."""
    return public_id("", viewer.team, viewer.person, length=8)


class Operations(ViewerQueries):
    """The operations of one person."""

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        super().__init__(connection, viewer)
        self.series = series_name(viewer)
        self._key: bytes | None = None

    @property
    def key(self) -> bytes:
        """The person's secret key; b"" before the first operation."""
        if self._key is None:
            statement = "SELECT key FROM series WHERE team = %(team)s AND person = %(person)s"
            found = self._fetch_column(statement)
            self._key = bytes(found[0]) if found else None
        return self._key or b""

    def lock(self, first_hash: str) -> tuple[int, str]:
        """Lock the series until the transaction ends; return number and hash of its last operation.

        Raises:
            BusyError: another transaction held it for too long.
        """
        self._run(
            "INSERT INTO series(team, series, person, hash, key)"
            " VALUES(%(team)s, %(series)s, %(person)s, %(hash)s, %(key)s) ON CONFLICT DO NOTHING",
            series=self.series, hash=first_hash, key=os.urandom(32),
        )  # fmt: skip
        try:
            with self._db.transaction():
                self._run(f"SET LOCAL lock_timeout = {_WAIT_MS}")
                found = self._fetch(
                    "SELECT number, hash FROM series WHERE team = %(team)s AND series = %(series)s"
                    " FOR UPDATE",
                    series=self.series,
                )
        except psycopg.errors.LockNotAvailable:
            raise BusyError from None
        number, last = found[0]
        return number, last

    def append(self, rows: Sequence[StoredOperation], touched: Sequence[Collection[str]]) -> None:
        """Append operations behind a locked end.

        Args:
            rows: The operations, numbered without a gap.
            touched: The families of memories that each of them touches.
        """
        names = StoredOperation._fields
        marks = ", ".join(f"%({name})s" for name in names)
        with self._db.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO operation(team, series, person, {', '.join(names)})"
                f" VALUES(%(team)s, %(series)s, %(person)s, {marks})",
                [{**self._values, "series": self.series, **one._asdict()} for one in rows],
            )
        pairs = [(one.number, name) for one, some in zip(rows, touched, strict=True) for name in some]
        self._run(
            "INSERT INTO operation_of(team, person, family, number)"
            " SELECT %(team)s, %(person)s, family, number"
            " FROM unnest(%(families)s::text[], %(numbers)s::bigint[]) AS o(family, number)"
            " ON CONFLICT DO NOTHING",
            families=[name for _, name in pairs], numbers=[number for number, _ in pairs],
        )  # fmt: skip
        self._run(
            "UPDATE series SET number = %(number)s, hash = %(hash)s"
            " WHERE team = %(team)s AND series = %(series)s",
            series=self.series, number=rows[-1].number, hash=rows[-1].hash,
        )  # fmt: skip

    def all(self) -> list[StoredOperation]:
        """Return all operations in order."""
        return self._read(f"{_OWN} ORDER BY number")

    def after(self, number: int, most: int) -> list[StoredOperation]:
        """Return the first operations after a number in order."""
        return self._read(
            f"{_OWN} AND number > %(after)s ORDER BY number LIMIT %(most)s", after=number, most=most
        )

    def of_kinds(self, kinds: Collection[str]) -> list[StoredOperation]:
        """Return the operations of some kinds in order."""
        return self._read(f"{_OWN} AND kind = ANY(%(kinds)s) ORDER BY number", kinds=list(kinds))

    def of_families(self, families: Collection[str]) -> list[StoredOperation]:
        """Return the operations that touch families of memories, or those that begin so, in order."""
        touching = (
            "SELECT o.number FROM unnest(%(families)s::text[]) AS f(family) JOIN operation_of o"
            " ON o.team = %(team)s AND o.person = %(person)s AND o.family >= f.family"
            " AND o.family < f.family || %(last)s"
        )
        where = f"{_OWN} AND number IN ({touching}) ORDER BY number"
        return self._read(where, families=clean_all(families), last=LAST)

    def erase(self, memories: Collection[str], kept: Collection[str]) -> int:
        """Erase the payloads of the operations on memories, except of some kinds; return how many."""
        found = self._fetch(
            "UPDATE operation SET payload = NULL WHERE team = %(team)s AND person = %(person)s"
            " AND memory = ANY(%(memories)s) AND NOT kind = ANY(%(kept)s) AND payload IS NOT NULL"
            " AND number IN (SELECT o.number FROM operation_of o WHERE o.team = %(team)s"
            " AND o.person = %(person)s AND o.family = ANY(%(families)s)) RETURNING number",
            memories=clean_all(memories), kept=list(kept), families=[one[:8] for one in clean_all(memories)],
        )  # fmt: skip
        return len(found)

    def _read(self, where: str, **values: Any) -> list[StoredOperation]:
        return [StoredOperation(*row) for row in self._fetch(f"SELECT {_COLUMNS} {where}", **values)]
