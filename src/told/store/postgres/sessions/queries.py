"""Base of the classes that query one team's sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import psycopg
from psycopg.rows import TupleRow

from told.hashing import blake2s
from told.store.postgres.database import Connection, Viewer

T = TypeVar("T")


class TeamQueries:
    """Statements of one team; each finds the team and the person among its values."""

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        """Take a connection inside `Database.viewing`."""
        self._db = connection
        self._viewer = viewer

    def _fetch(self, statement: str, **values: Any) -> list[Any]:
        return self._execute(statement, **values).fetchall()

    def _execute(self, statement: str, **values: Any) -> psycopg.Cursor[TupleRow]:
        return self._db.execute(statement, self._add_own(values))

    def _execute_many(self, statement: str, each: Iterable[dict[str, Any]]) -> None:
        """Run a statement for each of some values, without waiting for every answer."""
        with self._db.cursor() as cursor:
            cursor.executemany(statement, [self._add_own(values) for values in each])

    def _add_own(self, values: dict[str, Any]) -> dict[str, Any]:
        own = {"team": self._viewer.team, "person": self._viewer.person}
        return own | {name: clean(value) for name, value in values.items()}

    def _fetch_value(self, statement: str, **values: Any) -> Any:
        """Return the first value of the first row; None if there is none."""
        return next(iter(self._fetch(statement, **values)), (None,))[0]

    def _fetch_all(self, make: Callable[..., T], statement: str, **values: Any) -> list[T]:
        """Return what `make` makes of every row."""
        return [make(*row) for row in self._fetch(statement, **values)]


def project_number(key: str) -> int:
    """Return the number of a project, which is a hash of its key; 0 for none."""
    return (
        int.from_bytes(blake2s(key.encode("utf-8", "replace"), digest_size=6).digest(), "big") if key else 0
    )


def clean(value: Any) -> Any:
    """Replace in texts what PostgreSQL cannot store."""
    if isinstance(value, str):
        return value.replace("\0", " ").encode("utf-8", "replace").decode()
    return [clean(one) for one in value] if isinstance(value, list) else value
