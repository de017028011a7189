"""What was deleted is in no file of the database any more, once a worker had time for it."""

from __future__ import annotations

from pathlib import Path

import psycopg

from tests.server.site import Site
from told.server.handlers import HANDLERS
from told.server.jobs import Worker
from told.store.postgres.database import Database, Viewer, connect
from told.store.postgres.jobs import Limits, count_jobs
from told.store.postgres.people import find_person
from told.store.postgres.purge import PURGE
from told.store.postgres.series import digest_of, write_series

LIMITS = Limits(wait_seconds=0)


def work(site: Site) -> None:
    """Process the queue until nothing is left to do now."""
    worker = Worker(site.server, "w", HANDLERS, LIMITS)
    while worker.work():
        pass


def files_with(database: Database, word: str) -> list[str]:
    """Return the files below base/ of a database that have a word, in any letter case."""
    with connect(database.url) as connection:
        connection.execute("CHECKPOINT")  # until then, pages are in memory
        row = connection.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database"
            " WHERE datname = current_database()"
        ).fetchone()
    assert row
    folder = Path(row[0]) / "base" / str(row[1])
    return [one.name for one in folder.iterdir() if word.encode() in one.read_bytes().lower()]


def states(site: Site) -> dict[str, int]:
    with site.server.database.owning() as connection:
        found = count_jobs(connection, site.server.team.team).get(PURGE, {})
    return {state: number for state, number in found.items() if number}


def test_no_file_has_a_word_of_what_was_deleted(site: Site, postgres: Database) -> None:
    max_ = site.of("max")
    said = {"text": "The zeppelin lands at Friedrichshafen", "share": True}
    saved = max_.post("/api/v1/memories", json=said).json()["memory"]["id"]
    kept = max_.post("/api/v1/memories", json={"text": "The submarine dives"}).json()["memory"]["id"]
    turns = [{"n": 0, "asked": "Where is the aerostat?", "answered": "At Cardington. " * 2000}]
    pushed = {"agent": "codex", "native": "n", "turns": turns, "title": "Blimps"}
    session = max_.post("/api/v1/sessions", json=pushed).json()["id"]
    other = max_.post("/api/v1/sessions", json={"agent": "codex", "native": "m", "turns": []}).json()["id"]
    note = max_.post("/api/v1/checkpoints", json={"session": other, "goal": "Moor the dirigible"}).json()[
        "id"
    ]
    work(site)
    with postgres.owning() as connection:
        connection.execute("ANALYZE")  # the planner samples texts
    words = ("zeppelin", "friedrichshafen", "aerostat", "cardington", "blimp", "dirigible")
    assert all(files_with(postgres, word) for word in words)
    assert max_.delete(f"/api/v1/memories/{saved}").status_code == 200
    assert max_.delete(f"/api/v1/sessions/{session}").status_code == 200
    assert max_.delete(f"/api/v1/checkpoints/{note}").status_code == 200
    assert states(site) == {"ready": 3}
    work(site)
    assert states(site) == {"done": 3}
    assert {word: files_with(postgres, word) for word in words if files_with(postgres, word)} == {}
    assert files_with(postgres, "submarine")
    assert max_.get(f"/api/v1/memories/{kept}").json()["text"] == "The submarine dives"


def test_many_deletions_rewrite_a_table_once(site: Site, postgres: Database) -> None:
    max_ = site.of("max")
    for text in ("The zeppelin flies", "The zeppelin lands"):
        made = max_.post("/api/v1/memories", json={"text": text}).json()["memory"]["id"]
        assert max_.delete(f"/api/v1/memories/{made}").status_code == 200
    numbers = set()
    for _ in range(6):
        Worker(site.server, "w", HANDLERS, LIMITS._replace(batch=1)).work()
        with postgres.owning() as connection:
            numbers.add(connection.execute("SELECT pg_relation_filenode('told.operation')").fetchone())
    assert states(site) == {"done": 2}
    assert len(numbers) == 2  # before and after one rewrite
    assert files_with(postgres, "zeppelin") == []


def test_what_somebody_may_still_read_is_removed_later(
    site: Site, postgres: Database, postgres_url: str
) -> None:
    max_ = site.of("max")
    made = max_.post("/api/v1/memories", json={"text": "The zeppelin flies"}).json()["memory"]["id"]
    with psycopg.connect(postgres_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM pg_class LIMIT 1")
        max_.delete(f"/api/v1/memories/{made}")
        Worker(site.server, "w", HANDLERS, LIMITS).work()
        assert states(site) == {"ready": 1}
        reader.rollback()
    work(site)
    assert states(site) == {"done": 1}
    assert files_with(postgres, "zeppelin") == []


def test_what_the_log_leaves_out_is_removed(site: Site, postgres: Database) -> None:
    viewer = Viewer(site.server.team.team, find_id(postgres, site, "max"))
    parts = ({"a": b"zeppelin 1"}, {"a": b"zeppelin 1, submarine 2"}, {"a": b"erased     submarine 2"})
    before, asked = None, []
    for number, files in enumerate(parts):
        head = b"head %d" % number
        with postgres.viewing(viewer) as connection:
            assert write_series(connection, viewer, "o1", "abcdefgh", files, head=head, before=before)
        before = digest_of(head)
        asked.append(states(site).get("ready", 0))
    assert asked == [0, 0, 1]
    work(site)
    assert files_with(postgres, "zeppelin") == []
    assert files_with(postgres, "submarine")


def find_id(database: Database, site: Site, name: str) -> str:
    with database.owning() as connection:
        found = find_person(connection, site.server.team.team, name)
    assert found
    return found.person


def test_what_clients_of_agent_memory_sent_can_be_deleted(site: Site, postgres: Database) -> None:
    compat = site.with_settings(compat=True)
    max_, ada = compat.of("max"), compat.of("ada")
    seen = {"session_id": "s1", "project": "shop", "title": "Zeppelin", "narrative": "The zeppelin leaks."}
    observation = max_.post("/api/observations", json=seen).json()["id"]
    said = {"session_id": "s1", "tool_name": "Bash", "last_user_message": "From now on inflate the zeppelin."}
    assert max_.post("/api/queue", json=said).status_code == 200
    max_.patch("/api/sessions/s1", json={"summary": "Zeppelin repairs"})
    lesson = max_.post(
        "/api/lessons", json={"title": "Helium", "rule": "Fill the aerostat with helium."}
    ).json()["id"]
    of_ada = ada.post("/api/observations", json=seen | {"session_id": "s2"}).json()["id"]
    work(compat)
    assert files_with(postgres, "zeppelin")
    for path in (f"observations/{of_ada}", "sessions/s2", "lessons/77", "sessions/none"):
        assert max_.delete(f"/api/v1/agent-memory/{path}").status_code == 404
    assert compat.of("rea").delete(f"/api/v1/agent-memory/observations/{observation}").status_code == 403
    assert site.of("max").delete(f"/api/v1/agent-memory/observations/{observation}").status_code == 404
    done = max_.delete("/api/v1/agent-memory/sessions/s1").json()
    assert done["forgotten"]
    assert ada.delete("/api/v1/agent-memory/sessions/s2").status_code == 200
    assert len(max_.delete(f"/api/v1/agent-memory/lessons/{lesson}").json()["forgotten"]) == 1
    assert max_.get("/api/observations").json() == max_.get("/api/lessons").json() == []
    work(compat)
    assert set(states(compat)) == {"done"}
    assert [files_with(postgres, word) for word in ("zeppelin", "aerostat")] == [[], []]


def test_a_former_member_can_be_erased(site: Site, postgres: Database) -> None:
    compat = site.with_settings(compat=True)
    max_, ada = compat.of("max"), compat.of("ada")
    shared = {"text": "The zeppelin lands at noon", "share": True}
    assert max_.post("/api/v1/memories", json=shared).status_code == 201
    assert (
        max_.post("/api/v1/memories", json={"text": "The zeppelin key", "scope": "private"}).status_code
        == 201
    )
    kept = ada.post("/api/v1/memories", json={"text": "The submarine dives", "share": True}).json()["memory"][
        "id"
    ]
    turns = [{"n": 0, "asked": "Where is the zeppelin?", "answered": "In the hangar."}]
    assert (
        max_.post("/api/v1/sessions", json={"agent": "codex", "native": "n", "turns": turns}).status_code
        == 201
    )
    assert max_.post(
        "/api/lessons", json={"title": "Zeppelin", "rule": "Never smoke in the zeppelin."}
    ).is_success
    seen = {"session_id": "s1", "project": "shop", "title": "Zeppelin"}
    assert max_.post("/api/observations", json=seen).is_success
    work(compat)
    assert ada.delete("/api/v1/members/max/data").status_code == 400
    assert max_.delete("/api/v1/members/max/data").status_code == 403
    assert ada.delete("/api/v1/members/nobody/data").status_code == 404
    assert ada.delete("/api/v1/members/max").status_code == 200
    assert ada.delete("/api/v1/members/max/data").status_code == 200
    work(compat)
    assert files_with(postgres, "zeppelin") == []
    found = ada.get("/api/v1/memories", params={"all_projects": True}).json()["memories"]
    assert [one["id"] for one in found] == [kept]
