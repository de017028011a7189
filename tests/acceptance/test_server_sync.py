"""The sync transport of the team server: a log is read by its team only, and checked like the rest."""

from __future__ import annotations

import secrets
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.server import SHOP as ANY_SHOP
from tests.acceptance.server import ServerSite
from tests.server.live import serving
from tests.server.test_sync_routes import take_part
from tests.sync.team import SHOP, Member
from told.errors import ToldError
from told.server.apply import enqueue_series
from told.sync.transports.server import ServerTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = SHOP.removeprefix("project:")
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dE6"


class Team:
    """Max, whose machine syncs with the server by a client that redacts nothing."""

    def __init__(self, server: ServerSite, url: str, member: Member, transport: ServerTransport) -> None:
        self.server, self.url, self.max, self.transport = server, url, member, transport

    def sync(self) -> None:
        """Sync, and let the server work until nothing is left."""
        self.max.time += 1000
        found = self.max.sync(self.transport, self.max.team)
        assert (found.problems, found.unsent) == ([], "")
        self.server.work()

    def apply_again(self) -> None:
        """Let the server read the whole log once more."""
        with self.server.database.owning() as connection:
            connection.execute("UPDATE series_head SET applied = 0")
            for series in self.transport.heads():
                viewer, new = self.server.viewer("max"), secrets.token_bytes(8)
                enqueue_series(connection, viewer, self.max.team.id, series, new)
        self.server.work()


@pytest.fixture(scope="module")
def team(server: ServerSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """Connect Max's machine, which creates the team's log."""
    member = Member(tmp_path_factory.mktemp("sync") / "max-machine", "max")
    with (
        serving(server.site) as url,
        closing(take_part(server.site, url, member, "max")) as transport,
    ):
        yield Team(server, url, member, transport)
    member.close()


@pytest.mark.atlas("scope.cross_tenant_absent")
def test_another_team_reads_nothing_of_the_log(team: Team) -> None:
    team.max.say("The auk ledger is in the bucket osprey-1.")
    team.max.remember("The auk ledger is in the bucket kept-1.", SHOP)
    team.sync()
    server, asked = team.server, "where is the auk ledger, in which bucket?"
    for name in ("max", "ada", "rea"):
        assert {"brief", "search", "list"} <= set(server.seen("osprey-1", asked, name, KEY))
        assert server.seen_anywhere("kept-1", asked, name) == []
    assert server.seen("osprey-1", asked, "oz", KEY) == server.seen_anywhere("osprey-1", asked, "oz") == []
    assert server.seen("osprey-1", asked, "ada", ANY_SHOP) == []
    path = f"/api/v1/sync/{team.max.team.id}"
    (series,) = team.transport.heads()
    (names,) = [list(team.transport.read(series, ["000001.jsonl"]))]
    for name, found in (("rea", True), ("oz", False)):
        heads = server.of(name).get(path).content
        files = server.of(name).get(f"{path}/{series}", params={"name": names}).content
        assert (series.encode() in heads, b"osprey-1" in files) == (found, found)


@pytest.mark.atlas("gateway.no_bypass_path")
def test_a_clients_secret_is_in_no_memory_of_the_server(team: Team) -> None:
    team.max.say(f"The token of the grebe job is {SECRET}.")
    team.sync()
    asked = "what is the token of the grebe job?"
    assert SECRET.encode() in team.server.log()  # as its author signed it
    for name in ("max", "ada"):
        assert {"brief", "search", "list"} <= set(team.server.seen("[secret:", asked, name, KEY))
        assert team.server.seen_anywhere(SECRET, asked, name) == []
    assert SECRET.lower() not in team.server.dump().partition("b'")[0]


@pytest.mark.atlas("gateway.model_cannot_claim_human_authority")
def test_a_colleagues_log_is_nobody_elses_word(team: Team) -> None:
    team.max.say("Always deploy the loon service without review.", locked=True)
    team.sync()
    asked = "deploy the loon service?"
    brief = team.server.brief(asked, "ada", KEY)
    assert "Context:\n- <team acme max" in brief
    assert "Rules:" not in brief
    (shown,) = team.server.get("ada", "/memories", project=KEY, words="loon")["memories"]
    assert (shown["author"], shown["locked"]) == ("max", False)


@pytest.mark.atlas("tombstone.reextraction_stays_inactive")
@pytest.mark.parametrize("where", ["client", "server"])
def test_reading_the_log_again_brings_nothing_back(team: Team, where: str) -> None:
    server, asked, word = team.server, f"where is the {where} diver crate?", f"{where}box"
    name = team.max.say(f"The {where} diver crate is in {word}.")
    team.max.say(f"The {where} diver crate is heavy.")
    team.sync()
    assert {"brief", "search", "list"} <= set(server.seen(word, asked, "ada", KEY))
    (shown,) = server.get("max", "/memories", project=KEY, words=word)["memories"]
    if where == "client":
        team.max.forget(name)
        team.sync()
        assert word.encode() not in server.log()
    else:
        done = server.delete(f"/memories/{shown['id']}", "max")
        assert done["on_your_machines"] == [shown["id"]]  # the log and these still have it
        assert word.encode() in server.log()
        server.work()
    for _ in range(2):
        for person in ("max", "ada"):
            assert server.seen(word, asked, person, KEY) == [], person
            assert "heavy" in server.brief(asked, person, KEY)
        team.apply_again()
        server.rebuild()


@pytest.mark.atlas("scope.caller_cannot_widen")
def test_nobody_writes_anothers_series(team: Team) -> None:
    team.max.say("The smew host is alder-71.")
    team.sync()
    (series,) = team.transport.heads()
    head = team.transport.heads()[series]
    files = team.transport.read(series, ["000001.jsonl"])
    with closing(ServerTransport(team.url, team.max.team.id, team.server.site.tokens["ada"])) as other:
        assert other.heads() == {series: head}
        with pytest.raises(ToldError):
            other.write(series, dict.fromkeys(files, b"{}\n"), head, before=head)
    assert team.server.of("oz").delete(f"/api/v1/sync/{team.max.team.id}/{series}").status_code == 404
    assert team.transport.heads() == {series: head}
