"""Run the statements of one viewer: each names the team, and who may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from told.store.postgres.database import Connection, Viewer

# The newest rows of a table for each scope and reader, which lie side by side in its index.
NEWEST = (
    "SELECT f.row FROM unnest(%(scopes)s::text[]) AS s(scope), unnest(%(readers)s::text[]) AS r(reader),"
    " LATERAL (SELECT t.row FROM {table} t WHERE t.team = %(team)s AND {where} AND t.scope = s.scope"
    " AND t.reader = r.reader ORDER BY t.row DESC LIMIT %(limit)s) f ORDER BY f.row DESC LIMIT %(limit)s"
)
LAST = "\U0010ffff"  # comes behind every other character


class ViewerQueries:
    """Base of the classes that query for one viewer, in one transaction."""

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        self._db = connection
        self._viewer = viewer
        self._values = {
            "team": viewer.team, "person": viewer.person, "readers": [viewer.person, ""],
        }  # fmt: skip

    def _fetch(self, statement: str, **values: Any) -> list[Any]:
        return self._db.execute(statement, {**self._values, **values}).fetchall()

    def _fetch_value(self, statement: str, **values: Any) -> Any:
        """Return the first value of the first row."""
        return self._fetch(statement, **values)[0][0]

    def _fetch_column(self, statement: str, **values: Any) -> list[Any]:
        """Return the first value of every row."""
        return [row[0] for row in self._fetch(statement, **values)]

    def _run(self, statement: str, **values: Any) -> None:
        self._db.execute(statement, {**self._values, **values})

    def _newest(self, table: str, where: str, scopes: Sequence[str], limit: int, **values: Any) -> list[int]:
        """Return the newest rows of scopes that the viewer may read."""
        statement = NEWEST.format(table=table, where=where)
        most = limit_of(limit)
        found = self._fetch_column(
            statement, scopes=list(dict.fromkeys(clean_all(scopes))), limit=most, **values
        )
        return list(dict.fromkeys(found))


def limit_of(limit: int) -> int | None:
    """Return the value of a LIMIT: none for a negative number."""
    return None if limit < 0 else limit


def clean(text: str) -> str:
    """Return a text that PostgreSQL can store: without NUL and lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "�").encode("utf-8", "replace").decode()


def clean_all(texts: Iterable[str]) -> list[str]:
    """Return texts that PostgreSQL can store."""
    return [clean(one) for one in texts]


def clean_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that PostgreSQL can store."""
    return {name: clean(one) if isinstance(one, str) else one for name, one in values.items()}
