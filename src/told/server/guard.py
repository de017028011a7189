"""Decide which requests get in, before anything else reads them: host, size, rate, token.

A web page in a browser cannot pass: its requests name the page's host or origin, and it has no token.
"""

from __future__ import annotations

import asyncio
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

_LATER = {"retry-after": "1"}
OPEN_PATHS = frozenset(("/api/health", "/api/v1/health", "/openapi.json", "/docs"))
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
_KNOWN_SECONDS = 2.0  # how long a token is let in without asking the database again
_NOTE_SECONDS = 60.0  # between two notes of a token's last use
_MAX_KNOWN = 10_000
_WRONG_RATE, _WRONG_BURST = 10.0, 100  # wrong tokens of one address: in a second, and at once
_SERIES = "/api/v1/sync/"


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
        self._held = 0  # bytes of all bodies that are being processed

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
            limit = self._check_size(scope, headers)
        except RefusedError as error:
            await _refuse(send, error)
            return
        except ToldError as error:
            await _refuse(send, RefusedError(status_of(error), str(error), 1))
            return
        await self._pass_on(scope, receive, send, limit)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        """Let the app answer, and count the bytes of the body, which may be of unknown length."""
        size, has_begun = 0, False

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            more = len(message.get("body", b""))
            size += more
            self._held += more
            if size > limit:
                raise HTTPException(413, _too_large(limit))
            if self._held > self._server.settings.max_held:
                raise HTTPException(503, "Too many large requests at a time. Retry in a second.", _LATER)
            return message

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive_limited, send_noted)
        except asyncio.CancelledError:  # the server ends, and does not wait any longer
            if not has_begun:
                await _refuse(send, RefusedError(503, "The server ends. Retry in a moment.", 1))
        finally:
            self._held -= size

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
                client = await self._find(scope, secret.strip())
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

    async def _find(self, scope: Scope, secret: str) -> Client | None:
        """Look a token up; wrong ones only so often, because each asks the database."""
        who = f"wrong {_address(scope)}"
        if not self._tokens.is_known(secret):
            self._take(who, 0, _WRONG_RATE, _WRONG_BURST)
        client = await run_in_threadpool(self._tokens.find, secret)
        if client is None:
            self._take(who, 1, _WRONG_RATE, _WRONG_BURST)
        return client

    def _check_rate(self, who: str) -> None:
        self._take(who, 1, self._server.settings.rate, self._server.settings.burst)

    def _take(self, who: str, many: int, rate: float, burst: int) -> None:
        """Count requests; refuse one if too few are left."""
        now = time.monotonic()
        left, at = self._rates.pop(who, (float(burst), now))
        left = min(float(burst), left + (now - at) * rate)
        is_allowed = left >= 1
        self._rates[who] = left - many * is_allowed, now
        if len(self._rates) > _MAX_KNOWN:
            self._rates.popitem(last=False)
        if not is_allowed:
            raise RefusedError(429, "Too many requests. Retry in a second.", 1)

    def _check_size(self, scope: Scope, headers: Headers) -> int:
        settings = self._server.settings
        is_series = scope["method"] == "PUT" and scope["path"].startswith(_SERIES)
        limit = settings.max_body if is_series else min(settings.max_json, settings.max_body)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise RefusedError(400, "The header content-length is wrong.")
        if int(length) > limit:
            raise RefusedError(413, _too_large(limit))
        return limit


class _Tokens:
    """Looks tokens up, and remembers the answer for a moment."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: OrderedDict[bytes, tuple[float, float, Client]] = OrderedDict()
        self._owner: tuple[float, Client] | None = None

    def is_known(self, secret: str) -> bool:
        """Tell whether a token was valid a while ago."""
        return hash_token(secret) in self._known

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
        now = time.monotonic()
        if self._owner is None or now >= self._owner[0]:
            owner = Client(*find_owner(self._server.database, self._server.team))
            self._owner = now + _KNOWN_SECONDS, owner
        return self._owner[1]


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"address {client[0]}" if client else "local"


def _too_large(limit: int) -> str:
    return f"The body is larger than {limit // 1_000_000} MB. Send less at a time."


async def _refuse(send: Send, error: RefusedError) -> None:
    body = json.dumps({"detail": error.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if error.retry_after:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
