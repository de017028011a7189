"""A team server on PostgreSQL, reached through its public doors only: REST, MCP and direct SQL."""

from __future__ import annotations

import json
import secrets
from copy import copy
from dataclasses import replace
from typing import Any

from psycopg.rows import dict_row
from starlette.testclient import TestClient

from tests.server.site import Site
from told.journal.postgres_journal import PostgresJournal
from told.server.context import Server
from told.server.memory import EMBED
from told.server.people import create_token
from told.store.postgres.database import Viewer
from told.store.postgres.jobs import enqueue
from told.store.postgres.people import find_person

SHOP, PAY = "acme/shop", "acme/pay"
STATUSES = ("active", "candidate", "superseded", "archived", "dismissed")
_VIEWS = ("memories", "operations", "session_view", "turn_view", "touch_view", "checkpoint_view")


class ServerSite:
    """A team with an admin (ada), a member (max) and a reader (rea), and another team's member (oz)."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.database = site.server.database
        with self.database.owning() as connection:
            connection.execute("INSERT INTO team(team, name) VALUES ('tother', 'other')")
        self._tokens = site.tokens | {"oz": create_token(self.database, "tother", "oz").secret}
        self._clients: dict[str, TestClient] = {}

    def of(self, name: str) -> TestClient:
        """Return the HTTP client of a person; it keeps one event loop, which is faster."""
        if name not in self._clients:
            self._clients[name] = self.site.client(self._tokens[name]).__enter__()
        return self._clients[name]

    def close(self) -> None:
        """End the event loops."""
        for one in self._clients.values():
            one.__exit__(None, None, None)
        self._clients.clear()

    def get(self, name: str, path: str, **query: Any) -> Any:
        """Return what a person reads."""
        answer = self.of(name).get(f"/api/v1{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, name: str, path: str, **body: Any) -> Any:
        """Return the answer to what a person sends."""
        answer = self.of(name).post(f"/api/v1{path}", json=body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def save(self, text: str, name: str = "ada", **more: Any) -> str:
        """Save a statement over REST; return its id."""
        return str(self.post(name, "/memories", text=text, **{"project": SHOP} | more)["memory"]["id"])

    def change(self, memory: str, name: str = "ada", **changes: Any) -> Any:
        """Change a memory over REST."""
        answer = self.of(name).patch(f"/api/v1/memories/{memory}", json=changes)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def delete(self, path: str, name: str = "ada") -> Any:
        """Delete something over REST."""
        answer = self.of(name).delete(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def push(self, native: str, *asked: str, name: str = "ada", **more: Any) -> str:
        """Push a session with some prompts; return its id."""
        turns = [{"n": n, "at": 1_790_000_000_000 + n, "asked": text} for n, text in enumerate(asked)]
        given = {"agent": "codex", "native": native, "project": SHOP, "turns": turns} | more
        return str(self.post(name, "/sessions", **given)["id"])

    def tool(self, name: str, of: str = "ada", **arguments: Any) -> str:
        """Call a tool over MCP as a person's agent; return its answer."""
        params = {"name": name, "arguments": arguments}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self.of(of).post(
            "/mcp", json=asked, headers={"accept": "application/json, text/event-stream"}
        )
        return "".join(one["text"] for one in answer.json()["result"]["content"])

    def brief(self, prompt: str, name: str = "ada", project: str = SHOP, **more: Any) -> str:
        """Return the brief for a prompt over REST."""
        return str(self.post(name, "/brief", prompt=prompt, project=project, **more)["text"])

    def texts(self, status: str = "active", name: str = "ada", **query: Any) -> list[str]:
        """Return the statements of a status, in a project."""
        found = self.get(name, "/memories", status=status, limit=500, **{"project": SHOP} | query)
        return [one["text"] for one in found["memories"]]

    def status(self, memory: str, name: str = "ada") -> str:
        """Return the status of a memory."""
        return str(self.get(name, f"/memories/{memory}")["status"])

    def seen(self, word: str, query: str, name: str = "ada", project: str = SHOP) -> list[str]:
        """Return the read paths of one project on which a person or an agent meets a word."""
        lists = [self.get(name, "/memories", project=project, status=one, limit=500) for one in STATUSES]
        return self._paths_with(word, {
            "brief": self.brief(query, name, project),
            "brief tool": self.tool("brief", name, prompt=query, project=project),
            "search": self.post(name, "/search", query=query, project=project),
            "recall": self.post(name, "/search", query=query, project=project, mode="recall"),
            "search tool": self.tool("search", name, query=query, project=project),
            "list": lists,
            "graph": self.get(name, "/graph", topic=query, project=project),
            "review": self.get(name, "/review", project=project),
            "sessions": self.get(name, "/sessions", project=project),
            "sessions tool": self.tool("sessions", name, project=project),
            "timeline": self.get(name, "/timeline", project=project),
            "checkpoints": self.get(name, "/checkpoints", project=project),
        })  # fmt: skip

    def seen_anywhere(self, word: str, query: str, name: str = "ada") -> list[str]:
        """Return the read paths of all projects on which a person meets a word."""
        return self._paths_with(word, {
            "search": self.post(name, "/search", query=query, all_projects=True),
            "recall": self.post(name, "/search", query=query, all_projects=True, mode="recall"),
            "search tool": self.tool("search", name, query=query),
            "list": [self.get(name, "/memories", all_projects=True, status=one) for one in STATUSES],
            "review": self.get(name, "/review"),
            "sessions": self.get(name, "/sessions"),
            "timeline": self.get(name, "/timeline"),
            "checkpoints": self.get(name, "/checkpoints"),
            "operations": self.get(name, "/operations", limit=5000),
            "projects": self.get(name, "/projects"),
            "sql": self._sql(name),
        })  # fmt: skip

    def _paths_with(self, word: str, paths: dict[str, Any]) -> list[str]:
        return [name for name, found in paths.items() if word.lower() in json.dumps(found).lower()]

    def viewer(self, name: str) -> Viewer:
        """Return how the database knows a person."""
        team = "tother" if name == "oz" else self.site.server.team.team
        with self.database.owning() as connection:
            person = find_person(connection, team, name)
        assert person
        return Viewer(team, person.person, self.site.server.team.team_name, name)

    def _sql(self, name: str) -> str:
        """Return what a person reads in the views."""
        with (
            self.database.viewing(self.viewer(name)) as connection,
            connection.cursor(row_factory=dict_row) as at,
        ):
            return repr([at.execute(f"SELECT * FROM {view}").fetchall() for view in _VIEWS])

    def work(self) -> None:
        """Let a worker process the queue."""
        self.site.work()

    def rebuild(self, *names: str) -> None:
        """Derive people's memories again from the journal; no command does that on a server."""
        for name in names or ("ada", "max"):
            viewer = self.viewer(name)
            with self.database.viewing(viewer) as connection:
                PostgresJournal(connection, viewer).rebuild()
                enqueue(connection, viewer, EMBED, {}, secrets.token_hex(8))
        self.work()

    def pass_time(self, seconds: float = 3600) -> None:
        """Let items of the queue wait no longer that are due within some time, and process them."""
        with self.database.owning() as connection:
            connection.execute(
                "UPDATE job SET run_at = run_at - make_interval(secs => %s) WHERE state = 'ready'", (seconds,)
            )
        self.work()

    def with_settings(self, **changes: Any) -> ServerSite:
        """Return the same database behind a server that was just started, with other settings."""
        again = copy(self)
        server = Server(self.database, self.site.server.settings, self.site.server.team)
        again._clients = {}
        again.site = replace(self.site, server=server).with_settings(**changes)
        return again

    def dump(self) -> str:
        """Return the text of all rows of all tables."""
        with self.database.owning() as connection:
            names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'told'").fetchall()
            rows = [connection.execute(f"SELECT t::text FROM {name} t").fetchall() for (name,) in names]
        return f"{rows} {self.log()!r}".lower()

    def log(self) -> bytes:
        """Return every byte of the team's log."""
        with self.database.owning() as connection:
            return b"".join(bytes(one) for (one,) in connection.execute("SELECT data FROM series_file"))
