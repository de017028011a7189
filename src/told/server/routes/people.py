"""Members, tokens and the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from told.server.context import AsAdmin, AsReader, TheServer
from told.server.people import change_role, create_token, end_membership, erase_member, revoke
from told.store.postgres.people import ADMIN, list_audit, list_people, list_tokens

router = APIRouter(prefix="/api/v1", tags=["people"])


class TokenRequest(BaseModel):
    """A token to create."""

    person: str = Field(min_length=1, max_length=40)
    role: str = ""
    name: str = Field("", max_length=80)
    expires_days: float = Field(0, ge=0, le=36_500)


class RoleRequest(BaseModel):
    """What a person may do from now on."""

    role: Literal["reader", "member", "admin"]


@router.get("/members")
def members(server: TheServer, client: AsReader) -> list[dict[str, Any]]:
    """List the people of the team."""
    with server.database.viewing(client.viewer) as connection:
        return [one._asdict() for one in list_people(connection, client.viewer.team)]


@router.patch("/members/{name}")
def change_member(name: str, wanted: RoleRequest, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """Change what a person may do; their tokens never allow more."""
    viewer = client.viewer
    return change_role(server.database, viewer.team, name, wanted.role, viewer, token=client.token)._asdict()


@router.delete("/members/{name}")
def remove_member(name: str, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """End a membership, and revoke the person's tokens; what they shared stays."""
    viewer = client.viewer
    return {"removed": end_membership(server.database, viewer.team, name, viewer, token=client.token).person}


@router.delete("/members/{name}/data")
def erase_data(name: str, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """Erase all that a former member had here, also what they shared; colleagues' machines keep copies."""
    viewer = client.viewer
    return {"erased": erase_member(server.database, viewer.team, name, viewer, token=client.token).person}


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
        server.database, client.viewer.team, wanted.person, role=wanted.role,
        name=server.settings.redact(wanted.name), days=wanted.expires_days, by=client.viewer,
        by_token=client.token,
    )  # fmt: skip
    return made._asdict()


@router.delete("/tokens/{token}")
def remove_token(token: str, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """Revoke a token."""
    revoke(server.database, client.viewer.team, token, client.viewer, by_token=client.token)
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
