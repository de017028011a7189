"""The series of the team's log that the server writes: what each person shares over REST."""

from __future__ import annotations

import os
from typing import NamedTuple

from told.store.memories.names import SHARED
from told.store.memories.records import SHARED_WITH, USER
from told.store.postgres.database import Connection, Viewer, fetch_value
from told.store.postgres.series import SpaceKey

_SECRET_BYTES, _KEY_BYTES = 16, 32
_OWN = "team = %s AND person = %s"


class ServerSeries(NamedTuple):
    """A person's series on the server, and the keys that sign it."""

    series: str
    secret: bytes  # of the identity
    machine_key: bytes


def find_server_series(connection: Connection, viewer: Viewer) -> str:
    """Return the name of the series that the server writes for a person; empty if there is none."""
    statement = f"SELECT series FROM server_series WHERE {_OWN}"
    return fetch_value(connection, statement, (viewer.team, viewer.person)) or ""


def lock_server_series(connection: Connection, viewer: Viewer, series: str) -> ServerSeries:
    """Lock a person's series until the transaction ends; create it with this name if there is none."""
    connection.execute(
        "INSERT INTO server_series(team, person, series, secret, machine_key) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT DO NOTHING",
        (viewer.team, viewer.person, series, os.urandom(_SECRET_BYTES), os.urandom(_KEY_BYTES)),
    )
    name, secret, key = connection.execute(
        f"SELECT series, secret, machine_key FROM server_series WHERE {_OWN} FOR UPDATE",
        (viewer.team, viewer.person),
    ).fetchall()[0]
    return ServerSeries(name, bytes(secret), bytes(key))


def rename_server_series(connection: Connection, viewer: Viewer, series: str) -> None:
    """Let the server go on with another series for a person."""
    connection.execute(
        f"UPDATE server_series SET series = %s WHERE {_OWN}", (series, viewer.team, viewer.person)
    )


def queue_publishing(connection: Connection) -> None:
    """Let a worker sign the heads of all series of the viewer's team again."""
    connection.execute("SELECT queue_publishing()")


def drop_server_heads(connection: Connection) -> None:
    """Delete the heads of all series that the server wrote, because it does not know their end any more.

    What is shared goes into new series, of the same people.
    """
    connection.execute(
        "DELETE FROM series_head h USING server_series s"
        " WHERE h.team = s.team AND h.owner = '' AND h.series = s.series"
    )
    connection.execute(
        "INSERT INTO job(team, kind, key, person, payload)"
        " SELECT team, 'publish', gen_random_uuid()::text, person, '{}' FROM server_series"
    )


def list_applied(connection: Connection, key: SpaceKey) -> dict[str, int]:
    """Return how far the server has read each series of a space."""
    rows = connection.execute(
        "SELECT series, applied FROM series_head WHERE team = %s AND space = %s AND owner = %s"
        " AND applied > 0",
        key,
    )
    return dict(rows.fetchall())


def list_shared(connection: Connection, viewer: Viewer, team_name: str) -> dict[str, int]:
    """Return when a person shared each memory that they share now, by its id."""
    rows = connection.execute(
        "SELECT m.id, coalesce(e.at, m.created) FROM memory m LEFT JOIN edge e ON e.team = m.team"
        " AND e.owner = m.owner AND e.source = m.id AND e.kind = %s AND e.target = m.team AND e.by = %s"
        " WHERE m.team = %s AND m.owner = %s AND (e.source IS NOT NULL OR m.scope = %s)",
        (SHARED_WITH, USER, viewer.team, viewer.person, SHARED + team_name),
    )
    return dict(rows.fetchall())
