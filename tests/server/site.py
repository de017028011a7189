"""A server for one test: its app in this process, on a real database."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from starlette.testclient import TestClient

from told.server.app import make_app
from told.server.context import Server, ServerSettings
from told.server.handlers import HANDLERS
from told.server.hybrid import register_table
from told.server.jobs import Worker
from told.server.people import create_token, ensure_team
from told.store.postgres.database import Database

HOST = "http://localhost"


@dataclass(frozen=True)
class Site:
    """A team with an admin, a member and a reader."""

    server: Server
    tokens: dict[str, str]

    def client(self, token: str = "", *, local: bool = False, **headers: str) -> TestClient:
        """Return an HTTP client with the token of somebody, or with none."""
        given = {"authorization": f"Bearer {token}"} if token else {}
        app: Any = make_app(self.server, local=local)
        return TestClient(app, base_url=HOST, headers=given | headers, raise_server_exceptions=False)

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
        return replace(self, server=replace(self.server, settings=settings))


def make_site(database: Database, home: str, redact: Callable[[str], str] = str) -> Site:
    """Create a team with three people."""
    team = ensure_team(database, "acme")
    tokens = {
        name: create_token(database, team.team, name, role=role).secret
        for name, role in (("ada", "admin"), ("max", "member"), ("rea", "reader"))
    }
    settings = ServerSettings(home, b"k" * 32, redact)
    return Site(Server(database, settings, team, time.time()), tokens)
