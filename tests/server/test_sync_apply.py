"""What the team shares through its log is in the server's own memories, as its author's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from psycopg.types.json import Jsonb

from tests.server.live import serving
from tests.server.site import Site
from tests.server.test_sync_routes import take_part
from tests.sync.team import SHOP, Member
from told.memories.teams import unshare
from told.server.handlers import HANDLERS
from told.server.hybrid import register_table
from told.server.jobs import Worker
from told.store.memories.records import ACTIVE, Memory
from told.store.postgres.database import Viewer
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.people import find_person
from told.sync.transports.server import ServerTransport


class Team:
    """Max, whose machine is a client of the server."""

    def __init__(self, site: Site, member: Member, transport: ServerTransport) -> None:
        self.site, self.max, self.transport = site, member, transport

    def sync(self) -> None:
        """Sync, and let the server work until nothing is left."""
        self.max.time += 1000
        found = self.max.sync(self.transport, self.max.team)
        assert (found.problems, found.unsent) == ([], "")
        worker = Worker(self.site.server, "w1", HANDLERS)
        while worker.work():
            pass
        with self.site.server.database.owning() as connection:
            assert connection.execute("SELECT kind, error FROM job WHERE state <> 'done'").fetchall() == []

    def seen_by(self, name: str) -> list[Memory]:
        """Return the memories that somebody reads on the server."""
        team = self.site.server.team.team
        with self.site.server.database.owning() as connection:
            person = find_person(connection, team, name)
            assert person
        viewer = Viewer(team, person.person, self.site.server.team.team_name, name)
        with self.site.server.database.viewing(viewer) as connection:
            memories = PostgresMemories(connection, viewer)
            return [one for one in memories.get(memories.ids()).values() if one.status == ACTIVE]

    def bytes(self) -> str:
        """Return everything that the database has, but the queue's done items."""
        with self.site.server.database.owning() as connection:
            tables = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'told'"
            ).fetchall()
            rows = [connection.execute(f"SELECT t::text FROM {name} t").fetchall() for (name,) in tables]
            files = connection.execute("SELECT data FROM series_file").fetchall()
        return str(rows) + str(files)


@pytest.fixture
def team(site: Site, tmp_path: Path) -> Iterator[Team]:
    register_table(site.server.database)
    member = Member(tmp_path / "max-machine", "max")
    with serving(site) as url, closing(take_part(site, url, member, "max")) as transport:
        yield Team(site, member, transport)
    member.close()


def test_what_is_shared_is_the_authors_memory(team: Team) -> None:
    team.max.say("Always use pnpm in the shop.")
    team.max.say("Everybody reviews.", "global")
    team.max.remember("canary-unshared", SHOP)
    team.sync()
    found = {one.text: one for one in team.seen_by("rea")}
    assert found.keys() == {"Always use pnpm in the shop.", "Everybody reviews."}
    rule = found["Always use pnpm in the shop."]
    assert (rule.kind, rule.scope, rule.trust, rule.locked) == ("rule", SHOP, "team:acme/max", False)
    assert found["Everybody reviews."].scope == "shared:acme"
    assert found.keys() == {one.text for one in team.seen_by("max")}
    assert "canary" not in team.bytes()
    project = SHOP.removeprefix("project:")
    asked = {"prompt": "install the packages with npm or pnpm in the shop", "project": project}
    brief = team.site.of("rea").post("/api/v1/brief", json=asked).json()["text"]
    assert re.search(r"Context:\n- <team acme max \w+>Always use pnpm in the shop\.", brief)
    answer = team.site.of("rea").post("/api/v1/search", json={"query": "pnpm", "project": project})
    assert "Always use pnpm in the shop." in answer.text


def test_edits_and_what_is_taken_back_arrive(team: Team) -> None:
    first, second = team.max.say("Use npm."), team.max.say("The canary is yellow.")
    team.sync()
    team.max.time += 1000
    team.max.change("revise", first, text="Use pnpm.")
    unshare(team.max.writer(), team.max.memory(second), team.max.team)
    team.sync()
    assert [one.text for one in team.seen_by("rea")] == ["Use pnpm."]
    assert "canary" not in team.bytes()
    team.max.forget(first)
    team.sync()
    assert team.seen_by("rea") == []
    assert "pnpm" not in team.bytes()


def test_a_series_is_applied_once(team: Team) -> None:
    team.max.say("Use npm.")
    team.sync()
    with team.site.server.database.owning() as connection:
        connection.execute("UPDATE job SET state = 'ready', attempts = 0")
        payload = {"space": team.max.team.id, "series": next(iter(team.transport.heads()))}
        connection.execute("UPDATE job SET payload = %s", (Jsonb(payload),))
        before = connection.execute("SELECT count(*) FROM operation").fetchone()
    team.sync()
    with team.site.server.database.owning() as connection:
        assert connection.execute("SELECT count(*) FROM operation").fetchone() == before
    assert [one.text for one in team.seen_by("rea")] == ["Use npm."]
