"""What every route of the server needs, and who calls it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from fastapi import Depends, HTTPException, Request

from told.reader.base import Reader
from told.server.request_metrics import RequestMetrics
from told.store.postgres.database import Database, Viewer
from told.store.postgres.people import ADMIN, MEMBER, READER, ROLES


@dataclass(frozen=True)
class ServerSettings:
    """How the server runs."""

    home: str  # told's folder, for its key
    key: bytes  # marks forgotten text
    redact: Callable[[str], str] = str
    compat: bool = False  # answer agent-memory's paths as well
    compat_open: bool = False  # they need no token: only on loopback
    reader: Reader | None = None  # reads the sessions that people push
    reader_daily_tokens: int = 0
    public_hosts: tuple[str, ...] = ()  # names under which a proxy serves it
    rate: float = 500.0  # requests per second of one token
    burst: int = 2000
    max_body: int = 64 * 1024 * 1024  # bytes of series in one request
    # Bytes of another request: as Python's objects they take 50 times as much.
    max_json: int = 8 * 1024 * 1024
    max_held: int = 256 * 1024 * 1024  # bytes of all requests at a time


@dataclass(frozen=True)
class Server:
    """The database and settings of one process."""

    database: Database
    settings: ServerSettings
    team: Viewer  # the team that this server is for; its person is empty
    started: float = field(default=0.0)

    @staticmethod
    def now() -> int:
        """Return the time in ms since 1970."""
        return time.time_ns() // 1_000_000

    requests: RequestMetrics = field(default_factory=RequestMetrics)


class Client(NamedTuple):
    """Who sent a request."""

    viewer: Viewer
    role: str
    token: str


def server_of(request: Request) -> Server:
    """Return the database and settings, as the guard handed them over."""
    server: Server = request.state.server
    return server


def client_of(request: Request) -> Client:
    """Return who sent a request, as the guard found out."""
    client: Client | None = getattr(request.state, "client", None)
    if client is None:
        raise HTTPException(401, "Send a token: `Authorization: Bearer TOKEN`.")
    return client


def _require(role: str) -> Callable[[Request], Client]:
    def check(request: Request) -> Client:
        client = client_of(request)
        if ROLES.index(client.role) < ROLES.index(role):
            raise HTTPException(403, f"This needs the role {role}, and your token has {client.role}.")
        return client

    return check


TheServer = Annotated[Server, Depends(server_of)]
AsReader = Annotated[Client, Depends(_require(READER))]
AsMember = Annotated[Client, Depends(_require(MEMBER))]
AsAdmin = Annotated[Client, Depends(_require(ADMIN))]
