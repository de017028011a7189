"""Series of the log that clients exchange: heads and files, as they were sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from told.errors import MissingError
from told.hashing import blake2b
from told.store.postgres.database import Connection, Viewer, fetch_value
from told.store.postgres.purge import SERIES_TABLES, request_purge

_OWN = "o"  # first letter of a space of somebody's own machines
_KEY = "team = %s AND space = %s AND owner = %s AND series = %s"


class SpaceKey(NamedTuple):
    """A space as somebody sees it."""

    team: str
    space: str
    owner: str  # the person, for a space of own machines; two people with one id do not meet

    @classmethod
    def of(cls, viewer: Viewer, space: str) -> SpaceKey:
        """Return the space of an id for a person."""
        return cls(viewer.team, space, viewer.person if space.startswith(_OWN) else "")


class ForeignSeriesError(MissingError):
    """This series belongs to somebody else. Nothing was changed."""


def list_heads(connection: Connection, key: SpaceKey) -> dict[str, bytes]:
    """Return the head of each series, by its name."""
    rows = connection.execute(
        "SELECT series, head FROM series_head WHERE team = %s AND space = %s AND owner = %s"
        " AND head IS NOT NULL ORDER BY series",
        key,
    )
    return {series: bytes(head) for series, head in rows}


def list_digests(connection: Connection, key: SpaceKey, series: str) -> dict[str, str]:
    """Return the digest of each file of a series."""
    return dict(
        connection.execute(f"SELECT name, digest FROM series_file WHERE {_KEY}", (*key, series)).fetchall()
    )


def read_files(
    connection: Connection, key: SpaceKey, series: str, names: Sequence[str], limit: int
) -> dict[str, bytes]:
    """Return files of a series in the order of their names, until they have more bytes than the limit."""
    rows = connection.execute(
        f"SELECT name, length(data) FROM series_file WHERE {_KEY} AND name = ANY(%s) ORDER BY name",
        (*key, series, list(names)),
    ).fetchall()
    chosen, size = [], 0
    for name, length in rows:
        chosen.append(name)
        size += length
        if size > limit:
            break
    found = connection.execute(
        f"SELECT name, data FROM series_file WHERE {_KEY} AND name = ANY(%s) ORDER BY name",
        (*key, series, chosen),
    )
    return {name: bytes(data) for name, data in found}


def write_series(
    connection: Connection, viewer: Viewer, space: str, series: str, files: Mapping[str, bytes | None], *,
    head: bytes | None, before: str | None,
) -> bool:  # fmt: skip
    """Write and delete (None) files of a series, then its head; False if that is another one by now.

    Args:
        connection: Of the person who writes.
        viewer: The person.
        space: The id of the space.
        series: Its name.
        files: New content by name.
        head: The new head; None if more files follow before it.
        before: The digest of the head that is to be replaced; None if there was none.

    Raises:
        ForeignSeriesError: another person writes this series.
    """
    key = SpaceKey.of(viewer, space)
    if before is None:
        connection.execute(
            "INSERT INTO series_head(team, space, owner, series, person) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (*key, series, viewer.person),
        )
    writer = fetch_value(connection, f"SELECT person FROM series_head WHERE {_KEY}", (*key, series))
    if writer not in (None, viewer.person):
        raise ForeignSeriesError
    row = connection.execute(
        f"SELECT head FROM series_head WHERE {_KEY} FOR UPDATE", (*key, series)
    ).fetchone()
    if row is None or (digest_of(row[0]) if row[0] is not None else None) != before:
        return False
    if _erases(connection, key, series, files):
        request_purge(connection, viewer, SERIES_TABLES)
    deleted = [name for name, data in files.items() if data is None]
    if deleted:
        connection.execute(
            f"DELETE FROM series_file WHERE {_KEY} AND name = ANY(%s)", (*key, series, deleted)
        )
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO series_file(team, space, owner, series, name, person, digest, data)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (team, space, owner, series, name)"
            " DO UPDATE SET digest = excluded.digest, data = excluded.data",
            [
                (*key, series, name, viewer.person, digest_of(data), data)
                for name, data in files.items()
                if data is not None
            ],
        )
    if head is not None:
        connection.execute(
            f"UPDATE series_head SET head = %s, changed = now() WHERE {_KEY}", (head, *key, series)
        )
    return True


def _erases(connection: Connection, key: SpaceKey, series: str, files: Mapping[str, bytes | None]) -> bool:
    """Tell whether new content of files leaves out anything of the old one."""
    rows = connection.execute(
        f"SELECT name, data FROM series_file WHERE {_KEY} AND name = ANY(%s)", (*key, series, list(files))
    )
    return any(not (files[name] or b"").startswith(bytes(data)) for name, data in rows)


def delete_series(connection: Connection, key: SpaceKey, series: str) -> bool:
    """Delete a series with its files; False if there is none that may be deleted."""
    return connection.execute(f"DELETE FROM series_head WHERE {_KEY}", (*key, series)).rowcount == 1


def get_applied(connection: Connection, key: SpaceKey, series: str, *, lock: bool = False) -> int:
    """Return the last operation that the server's memories have; 0 if the series is gone."""
    locked = " FOR UPDATE" if lock else ""
    return (
        fetch_value(connection, f"SELECT applied FROM series_head WHERE {_KEY}{locked}", (*key, series)) or 0
    )


def set_applied(connection: Connection, key: SpaceKey, series: str, number: int) -> None:
    """Note the last operation that the server's memories have."""
    connection.execute(f"UPDATE series_head SET applied = %s WHERE {_KEY}", (number, *key, series))


def digest_of(data: bytes) -> str:
    """Return the digest of a head or a file, as clients make it."""
    return blake2b(data, digest_size=16).hexdigest()


def find_team_space(connection: Connection, team: str) -> str:
    """Return the id of the plain log of a team; empty if there is none yet."""
    return fetch_value(connection, "SELECT space FROM team WHERE team = %s", (team,)) or ""


def claim_team_space(connection: Connection, team: str, space: str) -> str:
    """Make a space the plain log of a team unless there is one; return which it is."""
    connection.execute("UPDATE team SET space = %s WHERE team = %s AND space IS NULL", (space, team))
    return find_team_space(connection, team)
