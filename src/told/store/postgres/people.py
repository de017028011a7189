"""Teams, people, tokens and the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from told.store.postgres.database import Connection, Viewer, fetch_value

READER, MEMBER, ADMIN = "reader", "member", "admin"
ROLES = (READER, MEMBER, ADMIN)
_PEOPLE = "person, name, role, public_key, created, removed"
_TOKENS = "t.token, t.person, p.name, t.name, t.role, t.created, t.expires, t.last_used, t.revoked"


class Person(NamedTuple):
    """A member of a team."""

    person: str
    name: str
    role: str
    public_key: str | None
    created: datetime
    removed: datetime | None


class Token(NamedTuple):
    """A token as it is listed; the token itself is not kept."""

    token: str
    person: str
    person_name: str
    name: str
    role: str
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None


class TokenOwner(NamedTuple):
    """Whom a token lets in."""

    viewer: Viewer
    role: str
    token: str


class AuditEntry(NamedTuple):
    """What somebody did."""

    id: int
    at: datetime
    person: str
    token: str
    action: str
    target: str
    detail: dict[str, Any]


def find_team(connection: Connection) -> tuple[str, str] | None:
    """Return the id and the name of the first team; None if there is none."""
    row = connection.execute("SELECT team, name FROM team ORDER BY created, team LIMIT 1").fetchone()
    return (row[0], row[1]) if row else None


def lock_teams(connection: Connection) -> None:
    """Let others who add a team wait until the transaction ends."""
    connection.execute("LOCK TABLE team IN SHARE ROW EXCLUSIVE MODE")


def add_team(connection: Connection, team: str, name: str) -> None:
    """Add a team."""
    connection.execute("INSERT INTO team(team, name) VALUES (%s, %s)", (team, name))


def add_person(connection: Connection, team: str, person: str, name: str, role: str) -> bool:
    """Add a person; return False if the team has one of this name."""
    added = connection.execute(
        "INSERT INTO person(team, person, name, role) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (team, name) DO NOTHING",
        (team, person, name, role),
    )
    return added.rowcount == 1


def list_people(connection: Connection, team: str) -> list[Person]:
    """Return the people of a team, the first ones first."""
    statement = f"SELECT {_PEOPLE} FROM person WHERE team = %s ORDER BY created, person"
    return [Person(*row) for row in connection.execute(statement, (team,))]


def count_people(connection: Connection, team: str) -> int:
    """Return how many people are in a team now."""
    return int(
        fetch_value(connection, "SELECT count(*) FROM person WHERE team = %s AND removed IS NULL", (team,))
    )


def find_person(connection: Connection, team: str, name: str) -> Person | None:
    """Return the person with a name or an id."""
    statement = f"SELECT {_PEOPLE} FROM person WHERE team = %s AND (name = %s OR person = %s)"
    row = connection.execute(statement, (team, name, name)).fetchone()
    return Person(*row) if row else None


def lock_people(connection: Connection, team: str) -> None:
    """Let other changes of a team's people wait until the transaction ends."""
    connection.execute("SELECT 1 FROM team WHERE team = %s FOR UPDATE", (team,))


def set_role(connection: Connection, team: str, person: str, role: str) -> None:
    """Change the role of a person; that of their tokens never exceeds it."""
    connection.execute("UPDATE person SET role = %s WHERE team = %s AND person = %s", (role, team, person))


def set_public_key(connection: Connection, team: str, person: str, key: str) -> bool:
    """Note the member key of a person; False if they have another one, or somebody else has it."""
    lock_people(connection, team)
    changed = connection.execute(
        "UPDATE person SET public_key = %s WHERE team = %s AND person = %s"
        " AND (public_key IS NULL OR public_key = %s) AND NOT EXISTS (SELECT 1 FROM person other"
        " WHERE other.team = %s AND other.public_key = %s AND other.person <> %s)",
        (key, team, person, key, team, key, person),
    )
    return changed.rowcount == 1


def forget_public_key(connection: Connection, team: str, name: str) -> bool:
    """Let a person connect with another member key; False if there was none."""
    changed = connection.execute(
        "UPDATE person SET public_key = NULL WHERE team = %s AND (name = %s OR person = %s)"
        " AND public_key IS NOT NULL",
        (team, name, name),
    )
    return changed.rowcount == 1


def remove_person(connection: Connection, team: str, person: str) -> bool:
    """End the membership of a person and revoke their tokens; what they shared stays."""
    removed = connection.execute(
        "UPDATE person SET removed = now() WHERE team = %s AND person = %s AND removed IS NULL",
        (team, person),
    )
    connection.execute(
        "UPDATE token SET revoked = now() WHERE team = %s AND person = %s AND revoked IS NULL", (team, person)
    )
    return removed.rowcount == 1


def add_token(
    connection: Connection, team: str, person: str, *, token: str, digest: bytes, name: str, role: str,
    expires: datetime | None,
) -> None:  # fmt: skip
    """Add a token by its hash."""
    connection.execute(
        "INSERT INTO token(team, token, person, hash, name, role, expires)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        (team, token, person, digest, name, role, expires),
    )


def list_tokens(connection: Connection, team: str, person: str = "") -> list[Token]:
    """Return the tokens of a team, or of one person, the first ones first."""
    statement = (
        f"SELECT {_TOKENS} FROM token t JOIN person p ON p.team = t.team AND p.person = t.person"
        " WHERE t.team = %s AND (%s = '' OR t.person = %s) ORDER BY t.created, t.token"
    )
    return [Token(*row) for row in connection.execute(statement, (team, person, person))]


def revoke_token(connection: Connection, team: str, token: str) -> bool:
    """Revoke a token; False if there is no valid one of this id."""
    revoked = connection.execute(
        "UPDATE token SET revoked = now() WHERE team = %s AND token = %s AND revoked IS NULL", (team, token)
    )
    return revoked.rowcount == 1


def find_token_owner(connection: Connection, digest: bytes) -> TokenOwner | None:
    """Return whom a token lets in, by its hash; None if it is unknown, expired or revoked."""
    row = connection.execute(
        "SELECT t.team, t.person, team.name, p.name, t.token, t.role, p.role"
        " FROM token t JOIN person p ON p.team = t.team AND p.person = t.person"
        " JOIN team ON team.team = t.team WHERE t.hash = %s AND t.revoked IS NULL AND p.removed IS NULL"
        " AND (t.expires IS NULL OR t.expires > now())",
        (digest,),
    ).fetchone()
    if row is None:
        return None
    team, person, team_name, person_name, token, given, of_person = row
    role = ROLES[min(ROLES.index(given), ROLES.index(of_person))]
    return TokenOwner(Viewer(team, person, team_name, person_name), role, token)


def note_token_use(connection: Connection, team: str, token: str) -> None:
    """Note that a token was used now."""
    connection.execute("UPDATE token SET last_used = now() WHERE team = %s AND token = %s", (team, token))


def has_tokens(connection: Connection, team: str) -> bool:
    """Tell whether a team ever had a token."""
    return fetch_value(connection, "SELECT 1 FROM token WHERE team = %s LIMIT 1", (team,)) is not None


def add_audit(
    connection: Connection, viewer: Viewer, token: str, action: str, target: str = "", **detail: Any
) -> None:
    """Log what somebody did, in the same transaction."""
    connection.execute(
        "INSERT INTO audit(team, person, token, action, target, detail) VALUES (%s, %s, %s, %s, %s, %s)",
        (viewer.team, viewer.person, token, action, target, Jsonb(detail)),
    )


def list_audit(connection: Connection, team: str, limit: int, before: int = 0) -> list[AuditEntry]:
    """Return the latest entries of the audit log, or those before one."""
    statement = (
        "SELECT id, at, person, token, action, target, detail FROM audit"
        " WHERE team = %s AND (%s = 0 OR id < %s) ORDER BY id DESC LIMIT %s"
    )
    return [AuditEntry(*row) for row in connection.execute(statement, (team, before, before, limit))]
