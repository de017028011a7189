"""Create the team, its people and their tokens."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from told.errors import MissingError, NotFoundError, UsageError
from told.files import create_private, write_private
from told.pattern import lazy_pattern
from told.store.database import public_id
from told.store.postgres.database import Connection, Database, Viewer
from told.store.postgres.erase_person import erase_person
from told.store.postgres.people import (
    ADMIN,
    ROLES,
    Person,
    TokenOwner,
    add_audit,
    add_person,
    add_team,
    add_token,
    find_person,
    find_team,
    list_people,
    lock_people,
    lock_teams,
    remove_person,
    revoke_token,
    set_role,
)

TOKEN_PREFIX = "told_"  # noqa: S105 - what every token begins with, so that scanners recognise it
_TEAM_LETTERS = 12
_NAME = lazy_pattern(r"[\w][\w .@-]{0,39}")


class NewToken(NamedTuple):
    """A token that was just made; it is shown once."""

    token: str  # its id
    secret: str
    person: str
    name: str
    role: str


def hash_token(secret: str) -> bytes:
    """Return what is stored of a token; it is random, so one round is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def ensure_team(database: Database, name: str) -> Viewer:
    """Return the team of this database with its first admin; create both on first use."""
    with database.owning() as connection:
        known = find_team(connection)
        if known is None:
            lock_teams(connection)
            known = find_team(connection)  # another server may have added it meanwhile
        if known is None:
            known = public_id("t", os.urandom(16).hex(), length=_TEAM_LETTERS), check_name(name)
            add_team(connection, *known)
        return Viewer(known[0], "", known[1])


def create_token(
    database: Database, team: str, person_name: str, *, role: str = "", name: str = "", days: float = 0,
    by: Viewer | None = None, by_token: str = "",
) -> NewToken:  # fmt: skip
    """Create a token for a person, who is added to the team if the name is new.

    Args:
        database: Where it is stored.
        team: The team.
        person_name: Whose token it is.
        role: What it allows; by default what the person may do, a member's rights for a new person.
        name: What it is for.
        days: After how many days it expires; 0 is never.
        by: Who creates it, for the audit log.
        by_token: The token that they use for it.

    Raises:
        UsageError: a name or a role is wrong, or the person was removed.
    """
    check_name(person_name)
    if role and role not in ROLES:
        raise UsageError(f'Unknown role "{role}". Use {", ".join(ROLES[:-1])} or {ROLES[-1]}.')
    with database.owning() as connection:
        person = find_person(connection, team, person_name)
        if person is None:
            add_person(connection, team, public_id("u", os.urandom(16).hex()), person_name, role or "member")
            person = find_person(connection, team, person_name)
            assert person
        if person.removed:
            raise UsageError(f"{person.name} is no longer in the team. Choose another name.")
        role = _limit_role(person, role)
        made = NewToken(
            public_id("k", os.urandom(16).hex()), TOKEN_PREFIX + secrets.token_urlsafe(32), person.person,
            person.name, role,
        )  # fmt: skip
        expires = datetime.now(UTC) + timedelta(days=days) if days > 0 else None
        add_token(
            connection, team, person.person, token=made.token, digest=hash_token(made.secret), name=name,
            role=role, expires=expires,
        )  # fmt: skip
        who = by or Viewer(team, person.person)
        add_audit(connection, who, by_token, "token.create", made.token, person=person.name, role=role)
    return made


def write_token(path: str, make: Callable[[], NewToken]) -> NewToken:
    """Make a token and write it to a new file that only the user reads; make none if that cannot be.

    Raises:
        MissingError: the file cannot be written.
    """
    try:
        create_private(path, b"")
    except OSError as error:
        raise MissingError(f"{path} cannot be written ({error.strerror}). Name another file.") from None
    try:
        made = make()
        write_private(path, f"{made.secret}\n".encode())
    except BaseException:
        os.remove(path)
        raise
    return made


def _limit_role(person: Person, role: str) -> str:
    if not role:
        return person.role
    if ROLES.index(role) > ROLES.index(person.role):
        raise UsageError(
            f"{person.name} is a {person.role}. First run `told server members role {person.name} {role}`."
        )
    return role


def revoke(database: Database, team: str, token: str, by: Viewer, *, by_token: str = "") -> None:
    """Revoke a token.

    Raises:
        NotFoundError: there is no valid token of this id.
    """
    with database.owning() as connection:
        if not revoke_token(connection, team, token):
            raise NotFoundError(f'No valid token has the id "{token}". `told server token list` shows them.')
        add_audit(connection, by, by_token, "token.revoke", token)


def change_role(
    database: Database, team: str, name: str, role: str, by: Viewer, *, token: str = ""
) -> Person:
    """Change what a person may do; their tokens never allow more. Return the person.

    Raises:
        UsageError: there is no such role, or no admin would be left.
        NotFoundError: the team has no member of this name.
    """
    if role not in ROLES:
        raise UsageError(f'Unknown role "{role}". Use {", ".join(ROLES[:-1])} or {ROLES[-1]}.')
    with database.owning() as connection:
        person = _find_member(connection, team, name, stays_admin=role == ADMIN)
        set_role(connection, team, person.person, role)
        add_audit(connection, by, token, "member.role", person.person, role=role)
    return person._replace(role=role)


def end_membership(database: Database, team: str, name: str, by: Viewer, *, token: str = "") -> Person:
    """End a membership and revoke the person's tokens; what they shared stays. Return the person.

    Raises:
        UsageError: no admin would be left.
        NotFoundError: the team has no member of this name.
    """
    with database.owning() as connection:
        person = _find_member(connection, team, name)
        remove_person(connection, team, person.person)
        add_audit(connection, by, token, "member.remove", person.person)
    return person


def erase_member(database: Database, team: str, name: str, by: Viewer, *, token: str = "") -> Person:
    """Erase all that a former member had on the server, also what they shared. Return the person.

    Raises:
        UsageError: the person is still a member.
        NotFoundError: the team never had one of this name.
    """
    with database.owning() as connection:
        person = find_person(connection, team, name)
        if person is None:
            raise NotFoundError(f"The team has no member {name[:40]!r}.")
        if not person.removed:
            raise UsageError(
                f"{person.name} is a member. First run `told server members remove {person.name}`."
            )
        erase_person(connection, Viewer(team, person.person), by)
        add_audit(connection, by, token, "member.erase", person.person)
    return person


def _find_member(connection: Connection, team: str, name: str, *, stays_admin: bool = False) -> Person:
    lock_people(connection, team)  # two admins may end each other at the same time
    person = find_person(connection, team, name)
    if person is None or person.removed:
        raise NotFoundError(f"The team has no member {name[:40]!r}.")
    admins = {one.person for one in list_people(connection, team) if one.role == ADMIN and not one.removed}
    if admins == {person.person} and not stays_admin:
        raise UsageError(f"{person.name} is the only admin. Make somebody else an admin first.")
    return person


def check_name(name: str) -> str:
    """Return the name of a person or a team.

    Raises:
        UsageError: it cannot be one.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name[:40]!r} cannot be a name. Use letters, digits, spaces, . @ - or _.")
    return name


def find_owner(database: Database, team: Viewer) -> TokenOwner:
    """Return the first admin of the team, for whom this machine's user acts.

    Raises:
        MissingError: the team has no admin any more.
    """
    with database.owning() as connection:
        people = list_people(connection, team.team)
    for one in people:
        if one.role == ADMIN and not one.removed:
            return TokenOwner(Viewer(team.team, one.person, team.team_name, one.name), ADMIN, "")
    raise MissingError("The team has no admin. Create one: `told server token create NAME --role admin`.")


def first_admin(database: Database, team: str, name: str) -> NewToken:
    """Create the first token of a team, or one more for its admin."""
    return create_token(database, team, name, role=ADMIN, name="first token")
