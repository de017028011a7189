"""A server for one test: its app in this process, on a real database."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from told.server import app as server_app
from told.server.app import make_app
from told.server.context import Server, ServerSettings
from told.server.handlers import HANDLERS
from told.server.hybrid import register_table
from told.server.jobs import Worker
from told.server.people import create_token, ensure_team
from told.store.postgres.database import Database

HOST = "http://localhost"
_make_api = server_app.make_api
_prepared: dict[int, Any] = {}


def _make_prepared_api(server: Server) -> FastAPI:
    """Make an app whose routes are those of earlier ones: to prepare all takes longer than most tests."""
    api = _make_api(server)
    routes = api.router.routes
    for at, one in enumerate(routes):
        if router := getattr(one, "original_router", None):  # one of told's; the others know their app
            routes[at] = _prepared.setdefault(id(router), one)
    return api


server_app.make_api = _make_prepared_api


@dataclass(frozen=True)
class Site:
    """A team with an admin, a member and a reader."""

    server: Server
    tokens: dict[str, str]
    apps: dict[bool, Any] = field(
        default_factory=dict
    )  # by `local`; an app prepares each route at its first use

    def client(self, token: str = "", *, local: bool = False, **headers: str) -> TestClient:
        """Return an HTTP client with the token of somebody, or with none."""
        given = {"authorization": f"Bearer {token}"} if token else {}
        if local not in self.apps:
            self.apps[local] = make_app(self.server, local=local)
        return TestClient(
            self.apps[local], base_url=HOST, headers=given | headers, raise_server_exceptions=False
        )

    def of(self, name: str) -> TestClient:
        """Return the HTTP client of a person."""
        return self.client(self.tokens[name])

    def work(self) -> None:
        """Process the queue until it is empty."""
        register_table(self.server.database)
        worker = Worker(self.server, "test", HANDLERS)
        while worker.work():
            pass

    def with_settings(self, **changes: Any) -> Site:
        """Return the same site with other settings."""
        settings = replace(self.server.settings, **changes)
        return replace(self, server=replace(self.server, settings=settings), apps={})


def make_site(database: Database, home: str, redact: Callable[[str], str] = str) -> Site:
    """Create a team with three people."""
    team = ensure_team(database, "acme")
    tokens = {
        name: create_token(database, team.team, name, role=role).secret
        for name, role in (("ada", "admin"), ("max", "member"), ("rea", "reader"))
    }
    settings = ServerSettings(home, b"k" * 32, redact)
    return Site(Server(database, settings, team, time.time()), tokens)
