"""What the reader of the team server was asked, what it cost, and how far it has read sessions."""

from __future__ import annotations

from typing import NamedTuple

from told.store.postgres.database import Connection, Viewer, fetch_value

_TODAY = "at >= date_trunc('day', now())"  # of UTC, the time zone of all connections


class Spent(NamedTuple):
    """What the reader used."""

    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    today: int  # tokens, sent and received


def begin_call(
    connection: Connection, viewer: Viewer, *, session: str, model: str, tokens: int, most: int
) -> int | None:
    """Note a call with its estimated tokens; None if the day's budget does not allow it."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('told reader ' || %s))", (viewer.team,))
    if spent(connection, viewer.team).today + tokens > most:
        return None
    statement = (
        "INSERT INTO model_call(team, person, session, model, tokens_in)"
        " VALUES (%s, %s, %s, %s, %s) RETURNING id"
    )
    values = viewer.team, viewer.person, session, model, tokens
    return int(fetch_value(connection, statement, values))


def end_call(
    connection: Connection, team: str, call: int, *, tokens_in: int, tokens_out: int, failed: str = ""
) -> None:
    """Note what a call used."""
    connection.execute(
        "UPDATE model_call SET tokens_in = %s, tokens_out = %s, failed = %s WHERE team = %s AND id = %s",
        (tokens_in, tokens_out, failed, team, call),
    )


def spent(connection: Connection, team: str) -> Spent:
    """Return what the reader used, ever and today."""
    row = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE failed <> ''), coalesce(sum(tokens_in), 0),"
        f" coalesce(sum(tokens_out), 0), coalesce(sum(tokens_in + tokens_out) FILTER (WHERE {_TODAY}), 0)"
        " FROM model_call WHERE team = %s",
        (team,),
    ).fetchone()
    assert row
    return Spent(*map(int, row))


def next_turn(connection: Connection, viewer: Viewer, session: int) -> int:
    """Return the first turn of a session that the reader has not read."""
    statement = "SELECT next_turn FROM reviewed WHERE team = %s AND session = %s"
    return int(fetch_value(connection, statement, (viewer.team, session)) or 0)


def note_reviewed(connection: Connection, viewer: Viewer, session: int, turn: int) -> None:
    """Note the first turn of a session that the reader has not read, if it still exists."""
    connection.execute(
        "INSERT INTO reviewed(team, person, session, next_turn)"
        " SELECT team, %s, session, %s FROM session WHERE team = %s AND session = %s"
        " ON CONFLICT (team, session) DO UPDATE SET next_turn = excluded.next_turn",
        (viewer.person, turn, viewer.team, session),
    )
