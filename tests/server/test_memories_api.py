"""Memories over REST: save, search, brief, share, forget; and who sees what."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.site import Site
from told.search.vectors.arithmetic import similarity
from told.search.vectors.table import make_vector
from told.server.memory import LATEST
from told.store.postgres.database import Database

SHOP = "acme/shop"


def save(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    """Save a statement, and return the memory."""
    answer = client.post("/api/v1/memories", json={"text": text, "project": SHOP, **more})
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def listed(client: TestClient, **query: Any) -> list[str]:
    """Return the texts of the memories of a project."""
    found = client.get("/api/v1/memories", params={"project": SHOP, **query})
    assert found.status_code == 200, found.text
    return [one["text"] for one in found.json()["memories"]]


def searched(client: TestClient, query: str, **more: Any) -> list[str]:
    """Return the texts that a search finds."""
    body = {"query": query, "project": SHOP, "what": "memories", **more}
    found = client.post("/api/v1/search", json=body)
    assert found.status_code == 200, found.text
    return [one["text"] for one in found.json()["memories"]]


def briefed(client: TestClient, prompt: str) -> str:
    """Return the brief for a prompt."""
    answer = client.post("/api/v1/brief", json={"prompt": prompt, "project": SHOP})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["text"])


def test_a_rule_is_saved_found_and_briefed(site: Site) -> None:
    ada = site.of("ada")
    memory = save(ada, "Never run the profiler against production, only on staging")
    assert (memory["kind"], memory["scope"], memory["project"]) == ("rule", "project", SHOP)
    assert (memory["author"], memory["shared"], memory["trust"]) == ("ada", False, "user")
    assert listed(ada) == [memory["text"]]
    assert searched(ada, "profiler on staging") == [memory["text"]]
    assert memory["text"] in briefed(ada, "the cart is slow, run the profiler")
    assert briefed(ada, "translate the imprint into French") == ""
    assert ada.get(f"/api/v1/memories/{memory['id']}").json()["history"][0]["what"] == "remember"


def test_the_same_again_is_counted_and_a_new_one_supersedes(site: Site) -> None:
    ada = site.of("ada")
    first = save(ada, "We use Postgres 15 for the shop")
    again = ada.post("/api/v1/memories", json={"text": "We use Postgres 15 for the shop", "project": SHOP})
    assert (again.json()["known"], again.json()["memory"]["id"]) == (True, first["id"])
    newer = ada.patch(f"/api/v1/memories/{first['id']}", json={"text": "We use Postgres 17 for the shop"})
    assert newer.status_code == 200
    assert listed(ada) == ["We use Postgres 17 for the shop"]
    assert listed(ada, status="superseded") == ["We use Postgres 15 for the shop"]


def test_a_memory_is_its_owners_until_it_is_shared(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    memory = save(ada, "Deploy only from the release branch of the shop")
    path = f"/api/v1/memories/{memory['id']}"
    absent = max_.get("/api/v1/memories/mzzzzzzz")
    assert max_.get(path).status_code == absent.status_code == 404
    assert max_.get(path).json() == absent.json()
    assert listed(max_) == searched(max_, "release branch") == []
    assert ada.patch(path, json={"shared": True}).json()["shared"] is True
    seen = max_.get(path).json()
    assert (seen["author"], seen["trust"], seen["locked"]) == ("ada", "team:acme/ada", False)
    assert (seen["history"], seen["evidence"]) == ([], [])
    assert searched(max_, "release branch") == [memory["text"]]
    assert memory["text"] in briefed(max_, "deploy the shop from which branch?")
    assert ada.patch(path, json={"shared": False}).status_code == 200
    assert max_.get(path).status_code == 404
    assert listed(max_) == []


def test_nobody_changes_a_colleagues_memory(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    memory = save(ada, "Always squash merge pull requests", share=True, lock=True)
    path = f"/api/v1/memories/{memory['id']}"
    for answer in (
        max_.patch(path, json={"text": "Never squash merge pull requests"}),
        max_.patch(path, json={"locked": False}),
        max_.patch(path, json={"status": "rejected"}),
        max_.delete(path),
    ):
        assert answer.status_code == 400
        assert "ada" in answer.json()["detail"]
    save(max_, "Never squash merge pull requests")
    assert ada.get(path).json()["status"] == "active"
    assert ada.get(path).json()["locked"] is True


def test_private_and_team_scopes(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    secret = save(ada, "My desk has no camera", scope="private")
    team = save(ada, "The office closes at six", scope="team")
    assert ada.patch(f"/api/v1/memories/{secret['id']}", json={"shared": True}).status_code == 400
    assert listed(max_) == [team["text"]]
    assert sorted(listed(ada)) == sorted([secret["text"], team["text"]])


def test_an_agent_cannot_lock_or_overrule(site: Site) -> None:
    ada = site.of("ada")
    locked = save(ada, "Use tabs in Makefiles of the shop", lock=True)
    answer = ada.post(
        "/api/v1/memories",
        json={"text": "Use spaces in Makefiles of the shop", "project": SHOP, "by": "agent", "lock": True},
    ).json()
    assert answer["memory"]["trust"] == "agent"
    assert answer["memory"]["locked"] is False
    assert ada.get(f"/api/v1/memories/{locked['id']}").json()["status"] == "active"


def test_forgetting_leaves_no_byte_and_it_does_not_come_back(site: Site, postgres: Database) -> None:
    ada = site.of("ada")
    memory = save(ada, "The zanzibar gateway needs the header X-Quux", share=True)
    site.work()
    assert ada.delete(f"/api/v1/memories/{memory['id']}").status_code == 200
    assert ada.get(f"/api/v1/memories/{memory['id']}").status_code == 404
    assert "zanzibar" not in dump(postgres)
    again = ada.post(
        "/api/v1/memories", json={"text": memory["text"], "project": SHOP, "by": "agent", "agent": "codex"}
    )
    assert again.status_code in (201, 400)
    assert listed(ada) == []


def dump(database: Database) -> str:
    """Return the text of all rows of all tables."""
    with database.owning() as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'told'").fetchall()
        return "".join(str(connection.execute(f"SELECT * FROM {name}").fetchall()) for (name,) in names)


def test_vectors_are_written_behind_the_answer(site: Site, postgres: Database) -> None:
    ada = site.of("ada")
    save(ada, "Customers are billed in euros")
    with postgres.owning() as connection:
        assert connection.execute("SELECT count(*) FROM memory_vector").fetchone() == (0,)
    site.work()
    with postgres.owning() as connection:
        assert connection.execute("SELECT count(*) FROM memory_vector").fetchone() == (1,)
    assert searched(ada, "which currency do clients pay in?") == ["Customers are billed in euros"]


def test_vectors_of_the_database_are_as_similar_as_those_compared_exactly(
    site: Site, postgres: Database
) -> None:
    said = ["Customers are billed in euros", "Clients pay in dollars"]
    for text in said:
        save(site.of("ada"), text)
    site.work()
    with postgres.owning() as connection:
        found = connection.execute(
            "SELECT 1 - (a.vector <=> b.vector) FROM memory_vector a, memory_vector b WHERE a.row < b.row"
        ).fetchall()
    first, second = (make_vector(text) or b"" for text in said)
    assert found == [(pytest.approx(similarity(first, second), abs=0.01),)]


def test_secrets_are_removed_before_they_are_stored(site: Site, postgres: Database) -> None:
    clean = site.with_settings(redact=lambda text: text.replace("hunter2", "[secret]"))
    save(clean.of("ada"), "The password of the staging shop is hunter2")
    pushed = {
        "agent": "codex",
        "native": "n1",
        "title": "hunter2",
        "turns": [{"n": 0, "asked": "use hunter2"}],
    }
    assert clean.of("ada").post("/api/v1/sessions", json=pushed).status_code == 201
    assert "hunter2" not in dump(postgres)


def test_punctuation_never_fails(site: Site) -> None:
    ada = site.of("ada")
    for query in (
        "what's (this)?", '"', "NEAR(a b)", "a AND", "*", "' OR 1=1 --", "\\", "{text}: x", "🙂", "- -",
    ):  # fmt: skip
        for what in ("memories", "sessions", "all"):
            for mode in ("hybrid", "recall"):
                answer = ada.post("/api/v1/search", json={"query": query, "what": what, "mode": mode})
                assert answer.status_code == 200, (query, what, mode, answer.text)


def test_candidates_and_proposals_wait_for_their_owner(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    locked = save(ada, "Release the shop on Mondays only", lock=True)
    asked = ada.post(
        "/api/v1/memories",
        json={"text": "Release the shop on Fridays only", "project": SHOP, "by": "agent", "agent": "codex"},
    ).json()
    waiting = ada.get("/api/v1/review").json()
    assert max_.get("/api/v1/review").json() == []
    assert asked["proposals"] == [one["id"] for one in waiting if one["action"]]
    for one in waiting:
        assert max_.post(f"/api/v1/review/{one['id']}", json={"decision": "keep"}).status_code == 404
    if waiting:
        done = ada.post(f"/api/v1/review/{waiting[0]['id']}", json={"decision": "dismiss"})
        assert done.status_code == 200
    assert ada.get(f"/api/v1/memories/{locked['id']}").json()["status"] == "active"


def test_sessions_are_pushed_found_and_deleted(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    pushed = {
        "agent": "claude-code", "native": "n-1", "project": SHOP, "title": "Orders charged twice",
        "started": 1_700_000_000_000, "turns": [
            {"n": 0, "at": 1_700_000_000_000, "asked": "Why were customers charged twice?",
             "answered": "The browser resent the order; use an idempotency key."},
        ],
        "files": [{"path": "src/order.ts", "how": "edit"}], "refs": [{"kind": "pr", "value": "#12"}],
    }  # fmt: skip
    first = ada.post("/api/v1/sessions", json=pushed).json()
    assert ada.post("/api/v1/sessions", json=pushed).json() == first
    found = ada.post(
        "/api/v1/search", json={"query": "idempotency key for orders", "what": "sessions"}
    ).json()
    assert [one["id"] for one in found["sessions"]] == [first["id"]]
    assert max_.get("/api/v1/sessions").json()["total"] == 0
    assert max_.get(f"/api/v1/sessions/{first['id']}").status_code == 404
    shown = ada.get(f"/api/v1/sessions/{first['id']}").json()
    assert [one["path"] for one in shown["files"]] == ["src/order.ts"]
    assert ada.get("/api/v1/timeline").json()[0]["session"] == first["id"]
    note = {"session": first["id"], "goal": "Refunds too", "pending": "the form"}
    written = ada.post("/api/v1/checkpoints", json=note).json()
    assert ada.get(f"/api/v1/checkpoints/{written['id']}").json()["goal"] == "Refunds too"
    closed = ada.patch(f"/api/v1/checkpoints/{written['id']}", json={"status": "closed"}).json()
    assert closed["status"] == "closed"
    assert max_.delete(f"/api/v1/checkpoints/{written['id']}").status_code == 404
    assert ada.delete(f"/api/v1/checkpoints/{written['id']}").status_code == 200
    assert max_.delete(f"/api/v1/sessions/{first['id']}").status_code == 404
    assert ada.delete(f"/api/v1/sessions/{first['id']}").status_code == 200
    assert ada.get("/api/v1/sessions").json()["total"] == 0


def test_topics_projects_and_operations(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    one = save(ada, "The checkout uses an idempotency key")
    found = ada.get("/api/v1/graph", params={"topic": "idempotency key", "project": SHOP}).json()
    assert [node["id"] for node in found["nodes"]] == [one["id"]]
    assert ada.get("/api/v1/projects").json() == [{"project": SHOP, "memories": 1}]
    ada.patch(f"/api/v1/memories/{one['id']}", json={"locked": True})
    every = ada.get("/api/v1/operations").json()
    assert (every[0]["kind"], [one["number"] for one in every]) == ("remember", [*range(1, len(every) + 1)])
    assert ada.get("/api/v1/operations?after=1&limit=1").json() == every[1:2] != []
    assert max_.get("/api/v1/operations").json() == max_.get("/api/v1/projects").json() == []


def test_a_time_is_at_most_in_the_last_year_of_the_calendar(site: Site) -> None:
    ada = site.of("ada")
    session = {"agent": "codex", "native": "late", "ended": LATEST, "turns": [{"n": 0, "at": LATEST}]}
    pushed = ada.post("/api/v1/sessions", json=session)
    assert pushed.json()["ended"].startswith("9999-12-31")
    assert ada.get(f"/api/v1/sessions/{pushed.json()['id']}").status_code == 200
    assert ada.post("/api/v1/sessions", json=session | {"ended": LATEST + 1}).status_code == 422


def test_a_reader_writes_nothing(site: Site) -> None:
    reader = site.of("rea")
    assert reader.post("/api/v1/memories", json={"text": "Use tabs"}).status_code == 403
    assert reader.post("/api/v1/sessions", json={"agent": "a", "native": "b"}).status_code == 403
    assert briefed(reader, "anything") == ""
