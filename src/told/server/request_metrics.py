"""Count requests and how long they take, for `/metrics`."""

from __future__ import annotations

import time
from bisect import bisect_left

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_UNKNOWN = "other"  # a path without a route; each of its own would be a series without end
_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))


class RequestMetrics:
    """Requests by method, route and status, and a histogram of latency for each route."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str, int], int] = {}
        self.latency: dict[tuple[str, str], list[int]] = {}  # for each bound, and one for what took longer
        self.seconds: dict[tuple[str, str], float] = {}

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        place = method, route
        self.counts[(*place, status)] = self.counts.get((*place, status), 0) + 1
        self.latency.setdefault(place, [0] * (len(BOUNDS) + 1))[bisect_left(BOUNDS, seconds)] += 1
        self.seconds[place] = self.seconds.get(place, 0.0) + seconds


class Measured:
    """The ASGI layer that counts; outside the guard, so that refused requests count too."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            route = getattr(scope.get("route"), "path", _UNKNOWN)
            method = scope["method"] if scope["method"] in _METHODS else _UNKNOWN
            self._metrics.note(method, route, status, time.perf_counter() - began)
