"""What is shared over REST reaches the clients of the team through its log, as its author's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.live import serving
from tests.server.site import Site
from tests.server.test_sync_commands import Office, Person
from told.server.backup import back_up, restore
from told.server.handlers import HANDLERS
from told.server.hybrid import register_table
from told.server.jobs import Worker
from told.store.postgres.database import Viewer
from told.store.postgres.people import find_person

FENCE = re.compile(r"</?team [^>]*>")
THINGS = ("apples", "bridges", "clocks", "dolphins", "engines", "forests", "glaciers", "harbours")
SHOP = "github.com/acme/shop"
RULE = "Always use pnpm to install packages in the shop."


@pytest.fixture
def office(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    register_table(site.server.database)
    with serving(site) as url:
        yield Office(site, url, lambda name: Person(tmp_path / name, monkeypatch, url))


def connect(office: Office, name: str) -> Person:
    """Return somebody whose machine syncs with the server."""
    person = office.person(name)
    person.connect(office.site.tokens[name])
    return person


def work(office: Office) -> None:
    """Let the server work until nothing is left."""
    worker = Worker(office.site.server, "w1", HANDLERS)
    while worker.work():
        pass
    with office.site.server.database.owning() as connection:
        assert connection.execute("SELECT kind, error FROM job WHERE state <> 'done'").fetchall() == []


def save(office: Office, text: str, name: str = "ada", **more: Any) -> str:
    """Save and share something over REST; return its id."""
    given = {"text": text, "project": SHOP, "share": True} | more
    answer = office.site.of(name).post("/api/v1/memories", json=given)
    assert answer.status_code == 201, answer.text
    work(office)
    found: str = answer.json()["memory"]["id"]
    return found


def texts(person: Person) -> list[str]:
    """Return what somebody's own machine knows after a sync."""
    person.says("sync")
    code, out, _ = person.told("memories", "--json")
    assert code in (0, 1)  # 1: there are none
    return sorted(FENCE.sub("", one["text"]) for one in json.loads(out)["memories"])


def files(office: Office) -> bytes:
    """Return every byte of the team's log."""
    with office.site.server.database.owning() as connection:
        return b"".join(bytes(one) for (one,) in connection.execute("SELECT data FROM series_file"))


def series(office: Office) -> list[str]:
    """Return the names of the series that the server writes."""
    with office.site.server.database.owning() as connection:
        return [name for (name,) in connection.execute("SELECT series FROM server_series ORDER BY 1")]


def test_a_colleague_gets_it_as_context_and_edits_and_forgetting_follow(office: Office) -> None:
    max_ = connect(office, "max")
    name = save(office, RULE, lock=True)
    assert texts(max_) == [RULE]
    brief = max_.says("brief", "--prompt", "install the npm packages")
    assert re.search(r"Context:\n- <team acme ada-\w{4} \w+>Always use pnpm to install", brief)
    assert "Rules:" not in brief
    found = max_.json("memories")["memories"][0]
    assert (found["locked"], found["trust"][:14]) == (False, "team:acme/ada-")
    ada = office.site.of("ada")
    new = ada.patch(f"/api/v1/memories/{name}", json={"text": "Always use canary in the shop."}).json()["id"]
    work(office)
    assert texts(max_) == ["Always use canary in the shop."]
    assert ada.delete(f"/api/v1/memories/{new}").status_code == 200
    work(office)
    assert texts(max_) == []
    assert b"canary" not in files(office) + max_.bytes()


def test_what_is_taken_back_goes_and_may_come_back(office: Office) -> None:
    max_ = connect(office, "max")
    ada = office.site.of("ada")
    name = save(office, "The canary is yellow.", share=False)
    assert texts(max_) == []
    for _ in range(2):
        assert ada.patch(f"/api/v1/memories/{name}", json={"shared": True}).status_code == 200
        work(office)
        assert texts(max_) == ["The canary is yellow."]
        assert ada.patch(f"/api/v1/memories/{name}", json={"shared": False}).status_code == 200
        work(office)
        assert texts(max_) == []
        assert b"canary" not in files(office) + max_.bytes()


def test_what_was_shared_before_there_was_a_log_comes_with_it(office: Office) -> None:
    save(office, "Everybody reviews.", scope="team", share=False)
    save(office, RULE)
    assert series(office) == []
    max_ = connect(office, "max")
    work(office)
    assert texts(max_) == [RULE, "Everybody reviews."]


def test_only_the_persons_own_shared_word_leaves_and_only_once(office: Office) -> None:
    ada, max_ = connect(office, "ada"), connect(office, "max")
    save(office, "canary-unshared", share=False)
    save(office, "canary-private", scope="private", share=False)
    agents = save(office, "canary-agent", by="agent", agent="claude-code", share=False)
    assert office.site.of("ada").patch(f"/api/v1/memories/{agents}", json={"shared": True}).json()["shared"]
    said = ada.json("remember", "Ada said this on her machine.")["id"]
    ada.says("share", said)
    ada.says("sync")
    work(office)
    save(office, RULE)
    assert texts(max_) == ["Ada said this on her machine.", RULE]
    assert texts(ada) == ["Ada said this on her machine."]  # what she saved on the server stays there
    assert len(series(office)) == 1
    assert b"canary" not in files(office)


def test_many_memories_fill_several_files(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("told.server.publish.SEGMENT_BYTES", 2000)
    max_ = connect(office, "max")
    names = [save(office, f"The canary of {thing} lives in {thing}.py.") for thing in THINGS]
    assert len(texts(max_)) == len(THINGS)
    for name in names[:4]:
        assert office.site.of("ada").delete(f"/api/v1/memories/{name}").status_code == 200
    work(office)
    assert len(texts(max_)) == len(THINGS) - 4
    with office.site.server.database.owning() as connection:
        many = connection.execute("SELECT count(*) FROM series_file WHERE series = %s", series(office))
        assert (many.fetchone() or (0,))[0] > 2
    left = files(office) + max_.bytes()
    assert [thing for thing in THINGS if f"canary of {thing}".encode() in left] == list(THINGS[4:])


def test_a_colleagues_forget_is_confirmed_for_the_servers_series(office: Office) -> None:
    max_ = connect(office, "max")
    save(office, RULE)
    name = max_.json("remember", "The canary is yellow.")["id"]
    max_.says("share", name)
    max_.says("sync")
    max_.says("forget", name, "--force")
    max_.says("sync")
    work(office)
    max_.says("sync")
    (_, receipt) = max_.json("forget", "--receipt", name)["receipts"]
    assert [(one["name"], one["confirmed"]) for one in receipt["machines"]] == [("ada", True)]


def test_a_deleted_series_is_written_anew(office: Office) -> None:
    max_ = connect(office, "max")
    save(office, RULE)
    assert texts(max_) == [RULE]
    (old,) = series(office)
    space = office.site.of("ada").get("/api/v1/sync").json()["space"]
    assert office.site.of("ada").delete(f"/api/v1/sync/{space}/{old}").status_code == 200
    save(office, "Everybody reviews.")
    assert series(office) != [old]
    assert texts(max_) == [RULE, "Everybody reviews."]


def test_clients_go_on_after_a_restore(office: Office, tmp_path: Path) -> None:
    max_ = connect(office, "max")
    save(office, RULE)
    database = office.site.server.database
    back_up(database.url, str(tmp_path / "told.dump"))
    save(office, "Lost with the database.")
    assert len(texts(max_)) == 2
    restore(database, str(tmp_path / "told.dump"), replace=True)
    save(office, "Everybody reviews.")
    assert {RULE, "Everybody reviews."} <= set(texts(max_))
    name = office.site.of("ada").get("/api/v1/memories", params={"project": SHOP}).json()["memories"][0]["id"]
    office.site.of("ada").delete(f"/api/v1/memories/{name}")
    work(office)
    assert "Everybody reviews." not in texts(max_)


def test_nobody_else_reads_the_keys(office: Office) -> None:
    connect(office, "max")
    save(office, RULE)
    server = office.site.server
    for name, count in (("ada", 1), ("max", 0)):
        with server.database.owning() as connection:
            person = find_person(connection, server.team.team, name)
        assert person
        with server.database.viewing(Viewer(server.team.team, person.person)) as connection:
            assert len(connection.execute("SELECT secret FROM server_series").fetchall()) == count
