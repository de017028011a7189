"""Members, tokens and the audit log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from told.errors import NotFoundError
from told.server.context import AsAdmin, AsReader, TheServer
from told.server.people import create_token, revoke
from told.store.postgres.people import (
    ADMIN,
    add_audit,
    find_person,
    list_audit,
    list_people,
    list_tokens,
    remove_person,
)

router = APIRouter(prefix="/api/v1", tags=["people"])


class TokenRequest(BaseModel):
    """A token to create."""

    person: str = Field(min_length=1, max_length=40)
    role: str = ""
    name: str = Field("", max_length=80)
    expires_days: float = Field(0, ge=0, le=36_500)


@router.get("/members")
def members(server: TheServer, client: AsReader) -> list[dict[str, Any]]:
    """List the people of the team."""
    with server.database.viewing(client.viewer) as connection:
        return [one._asdict() for one in list_people(connection, client.viewer.team)]


@router.delete("/members/{name}")
def remove_member(name: str, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """End a membership, and revoke the person's tokens; what they shared stays."""
    team = client.viewer.team
    with server.database.owning() as connection:
        person = find_person(connection, team, name)
        if person is None or not remove_person(connection, team, person.person):
            raise NotFoundError(f"The team has no member {name[:40]!r}.")
        add_audit(connection, client.viewer, client.token, "member.remove", person.person)
    return {"removed": person.person}


@router.get("/tokens")
def tokens(server: TheServer, client: AsReader) -> list[dict[str, Any]]:
    """List tokens: your own, or all of the team for an admin."""
    whose = "" if client.role == ADMIN else client.viewer.person
    with server.database.owning() as connection:
        return [one._asdict() for one in list_tokens(connection, client.viewer.team, whose)]


@router.post("/tokens", status_code=201)
def new_token(wanted: TokenRequest, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """Create a token; it is shown only in this answer."""
    made = create_token(
        server.database, client.viewer.team, wanted.person, role=wanted.role, name=wanted.name,
        days=wanted.expires_days, by=client.viewer,
    )  # fmt: skip
    return made._asdict()


@router.delete("/tokens/{token}")
def remove_token(token: str, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """Revoke a token."""
    revoke(server.database, client.viewer.team, token, client.viewer)
    return {"revoked": token}


@router.get("/audit")
def audit(
    server: TheServer,
    client: AsAdmin,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> list[dict[str, Any]]:
    """List what people did, latest first."""
    with server.database.owning() as connection:
        return [one._asdict() for one in list_audit(connection, client.viewer.team, limit, before)]
