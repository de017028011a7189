"""The log that clients exchange: series of operations, relayed as they are."""

from __future__ import annotations

import io
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from told.errors import NotFoundError, UsageError
from told.server.apply import enqueue_series
from told.server.context import AsAdmin, AsMember, AsReader, Client, TheServer
from told.server.publish import enqueue_publishing
from told.server.team_log import check_files, read_head
from told.store.postgres.people import (
    ADMIN,
    add_audit,
    find_person,
    forget_public_key,
    list_people,
    set_public_key,
)
from told.store.postgres.purge import SERIES_TABLES, request_purge
from told.store.postgres.series import (
    ForeignSeriesError,
    SpaceKey,
    claim_team_space,
    delete_series,
    find_team_space,
    list_heads,
    read_files,
    write_series,
)
from told.store.postgres.server_series import find_server_series
from told.sync.identity import is_signed
from told.sync.server import KEY_USE
from told.sync.transports.names import check_write, is_file
from told.sync.transports.server import PROTOCOL
from told.sync.transports.wire import BrokenStreamError, receive, send

_BINARY = "application/octet-stream"
_MAX_NAMES = 200
_READ_BYTES = 16 * 1024 * 1024  # of one answer
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {_BINARY: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_ANSWER: dict[int | str, dict[str, Any]] = {200: {"content": {_BINARY: {}}, "description": "A message."}}

router = APIRouter(prefix="/api/v1", tags=["sync"])

# A space is one of somebody's own machines (o…) or of a team (t…).
SpaceId = Annotated[str, Path(pattern=r"^[ot][a-z0-9-]{0,63}$")]
SeriesId = Annotated[str, Path(pattern=r"^[a-z0-9]{8}$")]


class KeyRequest(BaseModel):
    """The member key of a client's user, and the proof that the user has it."""

    public_key: str = Field(pattern=r"^[0-9a-f]{64}$")
    signature: str = Field(pattern=r"^[0-9a-f]{128}$")


class SpaceRequest(BaseModel):
    """The log that a client has created for the team."""

    space: str = Field(pattern=r"^t[a-z0-9]{12}$")


async def _read_body(request: Request) -> bytes:
    return await request.body()


@router.get("/sync")
def describe_log(server: TheServer, client: AsReader) -> dict[str, Any]:
    """Return the log of the team, and the member key that the server knows of you."""
    with server.database.viewing(client.viewer) as connection:
        space = find_team_space(connection, client.viewer.team)
        person = find_person(connection, client.viewer.team, client.viewer.person)
    return {
        "protocol": PROTOCOL, "space": space or None, "name": client.viewer.team_name, "encrypted": False,
        "public_key": person.public_key if person else None,
    }  # fmt: skip


@router.put("/sync/key")
def connect(wanted: KeyRequest, server: TheServer, client: AsReader) -> dict[str, Any]:
    """Tie your member key to your name; all your machines have the same."""
    viewer = client.viewer
    if not is_signed(wanted.public_key, wanted.signature, KEY_USE, viewer.team, viewer.person):
        raise UsageError("The signature of this key is wrong.")
    with server.database.owning() as connection:
        if not set_public_key(connection, viewer.team, viewer.person, wanted.public_key):
            raise HTTPException(
                409,
                f"{viewer.person_name} syncs with another key, or this key belongs to another member. On a"
                " machine that syncs already, run `told sync code`; here, `told sync join CODE server URL`."
                f" If there is none, an admin runs `told server token forget-key {viewer.person_name}`.",
            )
        add_audit(connection, viewer, client.token, "sync.key", wanted.public_key[:16])
    return {"public_key": wanted.public_key}


@router.delete("/members/{name}/key")
def forget_key(name: str, server: TheServer, client: AsAdmin) -> dict[str, Any]:
    """Let a member connect with another key, because all machines with the old one are lost."""
    with server.database.owning() as connection:
        if not forget_public_key(connection, client.viewer.team, name):
            raise NotFoundError(f"The team has no member {name[:40]!r} with a key.")
        add_audit(connection, client.viewer, client.token, "sync.forget-key", name)
    return {"forgotten": name}


@router.post("/sync")
def create_log(wanted: SpaceRequest, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Make a log that you have created the one of the team, unless it has one; return which it is."""
    with server.database.owning() as connection:
        space = claim_team_space(connection, client.viewer.team, wanted.space)
        if space == wanted.space:
            add_audit(connection, client.viewer, client.token, "sync.create", space)
            for one in list_people(connection, client.viewer.team):
                enqueue_publishing(connection, client.viewer._replace(person=one.person))
    return {"space": space}


@router.get("/sync/{space}", response_class=Response, responses=_ANSWER)
def heads(space: SpaceId, server: TheServer, client: AsReader) -> Response:
    """Return the head of each series of a space; not of what you share over REST, which is yours already."""
    with server.database.viewing(client.viewer) as connection:
        found = list_heads(connection, SpaceKey.of(client.viewer, space))
        found.pop(find_server_series(connection, client.viewer), None)
        return _message(found)


@router.get("/sync/{space}/{series}", response_class=Response, responses=_ANSWER)
def read(
    space: SpaceId,
    series: SeriesId,
    server: TheServer,
    client: AsReader,
    name: Annotated[list[str], Query(max_length=_MAX_NAMES)],
) -> Response:
    """Return files of a series in the order of their names, the first ones if they are large."""
    names = [one for one in name if is_file(one)]
    with server.database.viewing(client.viewer) as connection:
        key = SpaceKey.of(client.viewer, space)
        return _message(read_files(connection, key, series, names, _READ_BYTES))


@router.put("/sync/{space}/{series}", openapi_extra=_BODY)
def write(
    space: SpaceId,
    series: SeriesId,
    server: TheServer,
    client: AsMember,
    body: Annotated[bytes, Depends(_read_body)],
) -> JSONResponse:
    """Write files of a series, then its head, if that is still the one that you name."""
    files, head, before = _parse(series, body)
    key = SpaceKey.of(client.viewer, space)
    try:
        with server.database.viewing(client.viewer) as connection:
            is_plain = not key.owner and space == find_team_space(connection, key.team)
            checked = None
            if is_plain and head is not None:
                checked = read_head(connection, client.viewer, key, series, head)
            if not write_series(connection, client.viewer, space, series, files, head=head, before=before):
                detail = "The series changed meanwhile. Sync again."
                return JSONResponse({"detail": detail, "written": False}, 409)
            if checked and head is not None:
                check_files(connection, key, checked, files)
                enqueue_series(connection, client.viewer, space, series, head)
            add_audit(connection, client.viewer, client.token, "sync.write", f"{space}/{series}")
    except ForeignSeriesError as error:
        raise HTTPException(403, str(error)) from None
    return JSONResponse({"written": True})


@router.delete("/sync/{space}/{series}")
def delete(space: SpaceId, series: SeriesId, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Delete a series of yours with its files, not memories made of it; an admin also a team's."""
    key = SpaceKey.of(client.viewer, space)
    with _deleting(server, client, key) as connection:
        if not delete_series(connection, key, series):
            raise NotFoundError(f"There is no series {series} that you can delete.")
        request_purge(connection, client.viewer, SERIES_TABLES)
        add_audit(connection, client.viewer, client.token, "sync.delete", f"{space}/{series}")
    return {"deleted": series}


def _deleting(server: TheServer, client: Client, key: SpaceKey) -> Any:
    if client.role == ADMIN and not key.owner:
        return server.database.owning()
    return server.database.viewing(client.viewer)


def _message(found: dict[str, bytes]) -> Response:
    stream = io.BytesIO()
    send(stream, {"protocol": PROTOCOL, "names": list(found)}, list(found.values()))
    return Response(stream.getvalue(), media_type=_BINARY)


def _parse(series: str, body: bytes) -> tuple[dict[str, bytes | None], bytes | None, str | None]:
    """Return the files, the head and the digest of the old one of a request."""
    try:
        header, parts = receive(io.BytesIO(body))
        head = parts.pop(0) if header["has_head"] is True else None
        files: dict[str, bytes | None] = dict(zip(map(str, header["names"]), parts, strict=True))
        files |= dict.fromkeys(map(str, header["deleted"]))
        before = None if header["before"] is None else str(header["before"])
        check_write(series, files, head or b"")
    except BrokenStreamError as error:
        raise UsageError(f"This is no message of told: {error}.") from None
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise UsageError(f"This message of told is wrong: {str(error)[:100]}.") from None
    return files, head, before
