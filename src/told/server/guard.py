"""Decide which requests get in, before anything else reads them: host, size, rate, token.

A web page in a browser cannot pass: its requests name the page's host or origin, and it has no token.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from told.errors import ToldError
from told.server.context import Client, Server
from told.server.errors import status_of
from told.server.people import find_owner, hash_token
from told.store.postgres.people import find_token_owner, note_token_use

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS = frozenset(("/api/health", "/api/v1/health", "/openapi.json", "/docs"))
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
_KNOWN_SECONDS = 2.0  # how long a token is let in without asking the database again
_NOTE_SECONDS = 60.0  # between two notes of a token's last use
_MAX_KNOWN = 10_000


class RefusedError(Exception):
    """A request that does not get in."""

    def __init__(self, status: int, detail: str, retry_after: int = 0) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after = status, detail, retry_after


class Guard:
    """The ASGI layer around the whole app."""

    def __init__(self, app: ASGIApp, server: Server, *, local: bool = False) -> None:
        """Wrap an app.

        Args:
            app: What is guarded.
            server: The database and settings.
            local: Requests come through the Unix socket that only the user reaches.
        """
        self._app, self._server, self._local = app, server, local
        self._tokens = _Tokens(server)
        self._rates: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check_origin(headers)
            client = await self._identify(scope, headers)
            self._check_rate(client.token or client.viewer.person if client else _address(scope))
            scope.setdefault("state", {}).update(client=client, server=self._server)
            limit = self._check_size(headers)
        except RefusedError as error:
            await _refuse(send, error)
            return
        except ToldError as error:
            await _refuse(send, RefusedError(status_of(error), str(error), 1))
            return
        await self._app(scope, _limited(receive, limit), send)

    def _check_origin(self, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and ":" in host else host
        if not self._local and name not in (*_LOOPBACK, *self._server.settings.public_hosts):
            raise RefusedError(421, f"This server is not {host[:80]!r}. Start it with --public-host NAME.")
        if "origin" in headers:
            raise RefusedError(403, "Requests of web pages are refused.")

    async def _identify(self, scope: Scope, headers: Headers) -> Client | None:
        path = scope["path"]
        given = headers.get("authorization", "")
        if given:
            kind, _, secret = given.partition(" ")
            client = None
            if kind.lower() == "bearer" and secret.strip():
                client = await run_in_threadpool(self._tokens.find, secret.strip())
            if client is None:
                raise RefusedError(401, "This token is wrong, expired or revoked.")
            return client
        if path in OPEN_PATHS:
            return None
        settings = self._server.settings
        is_open = settings.compat_open and not path.startswith(("/api/v1/", "/mcp", "/metrics"))
        if self._local or is_open:
            return await run_in_threadpool(self._tokens.local)
        raise RefusedError(401, "Send a token: `Authorization: Bearer TOKEN`.")

    def _check_rate(self, who: str) -> None:
        settings, now = self._server.settings, time.monotonic()
        left, at = self._rates.pop(who, (float(settings.burst), now))
        left = min(float(settings.burst), left + (now - at) * settings.rate)
        if left < 1:
            self._rates[who] = left, now
            raise RefusedError(429, "Too many requests. Retry in a second.", 1)
        self._rates[who] = left - 1, now
        if len(self._rates) > _MAX_KNOWN:
            self._rates.popitem(last=False)

    def _check_size(self, headers: Headers) -> int:
        limit = self._server.settings.max_body
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise RefusedError(400, "The header content-length is wrong.")
        if int(length) > limit:
            raise RefusedError(413, f"The body is larger than {limit // 1_000_000} MB.")
        return limit


class _Tokens:
    """Looks tokens up, and remembers the answer for a moment."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: OrderedDict[bytes, tuple[float, float, Client]] = OrderedDict()
        self._owner: Client | None = None

    def find(self, secret: str) -> Client | None:
        digest, now = hash_token(secret), time.monotonic()
        until, noted, client = self._known.get(digest, (0.0, -_NOTE_SECONDS, None))
        if client and now < until:
            return client
        with self._server.database.owning() as connection:
            owner = find_token_owner(connection, digest)
            if owner and now >= noted + _NOTE_SECONDS:
                note_token_use(connection, owner.viewer.team, owner.token)
                noted = now
        self._known.pop(digest, None)
        if owner is None:
            return None
        client = Client(owner.viewer, owner.role, owner.token)
        self._known[digest] = now + _KNOWN_SECONDS, noted, client
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return client

    def local(self) -> Client:
        """Return the first admin, for whom this machine's user acts."""
        if self._owner is None:
            self._owner = Client(*find_owner(self._server.database, self._server.team))
        return self._owner


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0]}" if client else "local"


def _limited(receive: Receive, limit: int) -> Receive:
    """Count a body of unknown length."""
    left = limit

    async def receive_limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, f"The body is larger than {limit // 1_000_000} MB.")
        return message

    return receive_limited


async def _refuse(send: Send, error: RefusedError) -> None:
    body = json.dumps({"detail": error.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if error.retry_after:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
