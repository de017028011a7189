"""agent-memory's REST beyond the recording: search, teams, secrets, roles and odd input."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.site import Site
from tests.server.transcript import work
from told.redact.engine import Redactor
from told.server.people import create_token
from told.store.postgres.agent_memory.memories import delete_of_memories, find_memory, note_memory
from told.store.postgres.agent_memory.observations import get_observation
from told.store.postgres.database import Database
from told.store.postgres.people import add_team

JSON = {"content-type": "application/json"}
CANARY = "ghp_" + "x7Kq2mVb9Ltz4RwYc8Nd3HfJ6sPg1AeTu5Bo"


@pytest.fixture
def compat(site: Site) -> Site:
    """A server that answers agent-memory's paths, with tokens."""
    return site.with_settings(compat=True)


@pytest.fixture
def client(compat: Site) -> TestClient:
    """The client of an admin."""
    return compat.of("ada")


def observe(client: TestClient, title: str, project: str = "shop", **fields: Any) -> dict[str, Any]:
    """Create an observation."""
    body = {"session_id": "s1", "project": project, "title": title, **fields}
    answer = client.post("/api/observations", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def search(client: TestClient, query: str, **fields: Any) -> list[str]:
    """Return the titles that a search finds."""
    answer = client.post("/api/observations/search", json={"query": query, **fields})
    assert answer.status_code == 200, answer.text
    return [one["title"] for one in answer.json()["observations"]]


def test_search_by_words_needs_all_of_the_first_ten(client: TestClient) -> None:
    observe(client, "Orders use an idempotency key", narrative="one two three four five six seven eight nine")
    observe(client, "Orders are shipped on Monday")
    assert search(client, "orders idempotency", mode="fts") == ["Orders use an idempotency key"]
    assert search(client, "ordering keys", mode="fts") == ["Orders use an idempotency key"]  # word stems
    assert search(client, "orders missing", mode="fts") == []
    ten = "one two three four five six seven eight nine orders"
    assert search(client, f"{ten} missing", mode="fts") == ["Orders use an idempotency key"]


def test_punctuation_works_in_every_mode(client: TestClient) -> None:
    observe(client, "what's this key")
    for query in (
        "what's (this)?", "a & b | !c", "key:*", "<->", "'", "\\", '"', "((", "a\x00b", "\ud83d", "x" * 9000,
    ):  # fmt: skip
        for mode in ("fts", "hybrid", "vector", "bogus"):
            body = json.dumps({"query": query, "mode": mode})
            answer = client.post("/api/observations/search", content=body, headers=JSON)
            assert answer.status_code == 200, (query, mode, answer.text)


def test_search_by_meaning_and_filters(client: TestClient) -> None:
    observe(client, "The database keeps customers' postal addresses", type="decision")
    observe(client, "The cat sat on the mat", project="zoo")
    assert search(client, "feline on a rug", mode="vector")[0] == "The cat sat on the mat"
    assert search(client, "cat", project="shop") == ["The database keeps customers' postal addresses"]
    assert search(client, "cat", project="shop", cross_project=True)[0] == "The cat sat on the mat"
    assert search(client, "cat", type=["decision"]) == ["The database keeps customers' postal addresses"]
    assert search(client, "cat", type=["nope"]) == []
    assert search(client, "cat", limit=1) == ["The cat sat on the mat"]
    assert len(search(client, "cat", limit=2_000_000_000)) == 2


def test_older_observations_count_less(client: TestClient, postgres: Database) -> None:
    old = observe(client, "Deploy with make release")["id"]
    observe(client, "Deploy with make ship")
    with postgres.owning() as connection:
        connection.execute(
            "UPDATE agent_memory_observation SET created_at = created_at - %s WHERE id = %s",
            (timedelta(days=10), old),
        )
    found = client.post("/api/observations/search", json={"query": "deploy", "mode": "fts"}).json()
    # Equal matches: the later one is first. Ranks 0 and 1, ages 0 and 10 days.
    assert [one["score"] for one in found["observations"]] == [0.0333, 0.0224]


def test_a_search_is_not_cut_by_the_index_of_vectors(client: TestClient, postgres: Database) -> None:
    observe(client, "first")
    with postgres.owning() as connection:
        connection.execute(
            "INSERT INTO agent_memory_observation(team, id, session_id, project_id, title, raw_text,"
            " embedding, created_by)"
            " SELECT team, n, session_id, project_id, 'copy ' || n, 'copy', embedding, '' FROM"
            " agent_memory_observation, generate_series(2, 1500) n"
        )
        connection.execute("ANALYZE agent_memory_observation")
    assert len(search(client, "first", mode="vector", limit=100)) == 100
    assert len(search(client, "first", mode="vector", limit=1400)) == 1400


def test_another_team_sees_and_changes_nothing(compat: Site, postgres: Database) -> None:
    with postgres.owning() as connection:
        add_team(connection, "other", "other")
    stranger = compat.client(create_token(postgres, "other", "eve", role="admin").secret)
    mine = compat.of("ada")
    number = observe(mine, "ours")["id"]
    lesson = mine.post("/api/lessons", json={"title": "t", "rule": "r"}).json()["id"]
    mine.post("/api/queue", json={"session_id": "q"})
    for path in ("observations", "sessions", "lessons", "lessons/match?tool_name=Bash"):
        assert stranger.get(f"/api/{path}").json() == []
    assert stranger.get(f"/api/observations/{number}").status_code == 404
    assert search(stranger, "ours") == []
    assert stranger.patch(f"/api/lessons/{lesson}", json={"rule": "x"}).status_code == 404
    assert stranger.patch("/api/sessions/s1", json={"summary": "x"}).status_code == 404
    assert stranger.post(f"/api/lessons/{lesson}/trigger").json() == {"triggered": True}
    assert stranger.get("/api/admin/stats").json()["sessions"] == 0
    assert mine.get("/api/lessons").json()[0]["trigger_count"] == 0
    # Numbers are counted for each team.
    assert observe(stranger, "theirs")["id"] == number
    assert mine.get("/api/observations").json()[0]["title"] == "ours"


def test_a_reader_reads_and_a_member_writes(compat: Site) -> None:
    reader, member = compat.of("rea"), compat.of("max")
    body = {"session_id": "s", "project": "p", "title": "t"}
    assert reader.post("/api/observations", json=body).status_code == 403
    assert reader.post("/api/queue", json=body).status_code == 403
    assert reader.get("/api/observations").status_code == 200
    assert member.post("/api/observations", json=body).status_code == 200
    assert member.post("/api/admin/re-embed").status_code == 403


def test_no_table_has_a_secret(compat: Site, postgres: Database) -> None:
    site = compat.with_settings(redact=Redactor(b"k" * 32).redact)
    client = site.of("ada")
    secret = f"token {CANARY} end"
    observation = dict.fromkeys(
        ("session_id", "project", "title", "subtitle", "narrative", "tool_name"), secret
    ) | {name: [secret] for name in ("facts", "concepts", "files_read", "files_modified")}
    item: dict[str, Any] = dict.fromkeys(
        ("session_id", "tool_name", "tool_response_preview", "cwd", "last_user_message"), secret
    )
    item["tool_response_preview"] = "x" * 1980 + CANARY  # where the preview is cut
    item["tool_input"] = {
        "command": secret,
        "deep": [{"a": secret, secret: 1}],
        "password": "Hunter2Hunter2!",
    }
    lesson = dict.fromkeys(("title", "rule", "project", "trigger_tool", "trigger_pattern"), secret)
    session = dict.fromkeys(("session_id", "project", "project_path", "agent_type"), f"other {CANARY}")
    for path, body in (
        ("observations", observation),
        ("queue", item),
        ("lessons", lesson),
        ("sessions", session),
    ):
        assert client.post(f"/api/{path}", json=body).status_code == 200
    assert client.patch(f"/api/sessions/other {CANARY}", json={"summary": secret}).status_code == 200
    assert client.patch("/api/lessons/1", json=lesson | {"project": None}).status_code == 200
    assert client.get("/api/observations", params={"project": secret}).json() != []
    work(site)
    with postgres.owning() as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'told'"
        ).fetchall()
        stored = "".join(
            str(connection.execute(f"SELECT t::text FROM {name} t").fetchall()) for (name,) in tables
        )
    assert "secret:github" in stored
    for part in (CANARY, CANARY[:24], "Hunter2Hunter2!"):
        assert part not in stored


ODD: list[tuple[str, str, str]] = [
    ("POST", "/api/observations", '{"session_id": "s", "project": "p", "title": NaN}'),
    ("POST", "/api/observations", '{"session_id": "\\ud800", "project": "p", "title": 3}'),
    ("POST", "/api/observations", "[" * 3000),
    ("POST", "/api/observations", '{"session_id": "s", "project": "p", "title": "t", "prompt_number": 1e30}'),
    ("POST", "/api/observations", json.dumps({"session_id": "s", "project": "p" * 5000, "title": "t"})),
    ("POST", "/api/observations", json.dumps({"session_id": "s", "project": "p", "title": "t" * 300_000})),
    ("POST", "/api/observations/search", '{"query": "x", "limit": -1}'),
    ("POST", "/api/observations/search", '{"query": "x", "limit": 99999999999999999999}'),
    ("GET", "/api/observations?offset=-1", ""),
    ("GET", "/api/observations?offset=99999999999999999999", ""),
    ("GET", "/api/observations/99999999999999999999", ""),
    ("PATCH", "/api/lessons/99999999999999999999", '{"rule": "x"}'),
    ("PATCH", "/api/lessons/1", '{"severity": "bad"}'),
    ("PATCH", "/api/lessons/1", '{"trigger_pattern": "("}'),
    ("PATCH", "/api/lessons/1", '{"rule": null}'),
    ("POST", "/api/lessons", '{"title": "t", "rule": "r", "source_observation_id": 99999999999999999999}'),
    ("GET", "/api/lessons?limit=-1", ""),
    ("PATCH", "/api/sessions/none", '{"status": ""}'),
    ("POST", "/api/admin/re-embed?batch_size=0", ""),
]


def test_odd_input_is_refused_with_a_reason(client: TestClient) -> None:
    client.post("/api/lessons", json={"title": "t", "rule": "r"})
    for method, path, body in ODD:
        answer = client.request(method, path, content=body, headers=JSON)
        assert 400 <= answer.status_code < 500, (method, path, body[:80], answer.text)
        assert answer.json()["detail"]


def test_odd_text_is_kept_without_what_cannot_be_stored(client: TestClient) -> None:
    body = '{"session_id": "s\\u0000", "project": "p", "title": "a\\u0000b\\ud800", "facts": ["\\u0000x"]}'
    made = client.post("/api/observations", content=body, headers=JSON)
    assert made.status_code == 200
    assert made.json()["title"].startswith("ab")
    for value in ("\\u0000", "\\ud800"):
        item = '{"session_id": "q", "tool_input": {"aV": "V"}, "tool_response_preview": "V"}'.replace(
            "V", value
        )
        assert client.post("/api/queue", content=item, headers=JSON).json() == {"status": "queued"}


def test_a_pattern_that_never_ends_matches_nothing_and_holds_nobody_up(client: TestClient) -> None:
    for pattern in (r"(a+)+$", r"git\s+push", None):
        client.post("/api/lessons", json={"title": str(pattern), "rule": "r", "trigger_pattern": pattern})
    preview = "git push " + "a" * 4000 + "!"
    found = client.get(
        "/api/lessons/match", params={"tool_name": "Bash", "tool_input_preview": preview}
    ).json()
    assert {one["title"] for one in found} == {"None", r"git\s+push"}


def test_matches_are_five_of_the_first_twenty_and_of_the_project(client: TestClient) -> None:
    for number in range(7):
        client.post("/api/lessons", json={"title": f"info {number}", "rule": "r", "severity": "info"})
    for title, fields in {
        "mine": {"project": "shop"}, "theirs": {"project": "zoo"}, "edit": {"trigger_tool": "Edit"},
        "off": {"severity": "critical"},
    }.items():  # fmt: skip
        made = client.post("/api/lessons", json={"title": title, "rule": "r", **fields}).json()
    client.patch(f"/api/lessons/{made['id']}", json={"active": False})
    found = client.get("/api/lessons/match", params={"tool_name": "Bash", "project": "shop"}).json()
    assert [one["title"] for one in found] == ["mine", "info 6", "info 5", "info 4", "info 3"]
    client.post(f"/api/lessons/{found[0]['id']}/trigger")
    lesson = client.get("/api/lessons", params={"project": "shop"}).json()[0]
    assert (lesson["trigger_count"], lesson["last_triggered_at"] is None) == (1, False)


def test_health_shows_the_queue_and_the_model(site: Site, compat: Site) -> None:
    compat.of("ada").post("/api/queue", json={"session_id": "q"})
    observe(compat.of("ada"), "one")
    found = compat.client().get("/api/health").json()
    assert list(found) == ["db", "embeddings", "queue", "status", "version"]
    assert list(found["embeddings"]) == ["status", "model", "dimensions", "provider"]
    # The item, and the vector of the observation's memory.
    assert found["queue"] == {"pending": 2, "observations_total": 1, "running": 0, "dead": 0}
    assert "embeddings" not in site.client().get("/api/health").json()


def test_re_embedding_replaces_missing_vectors_or_all(client: TestClient, postgres: Database) -> None:
    for number in range(5):
        observe(client, f"title {number}")
    with postgres.owning() as connection:
        connection.execute("UPDATE agent_memory_observation SET embedding = NULL WHERE id < 3")
    assert client.get("/api/admin/stats").json()["observations"]["without_embedding"] == 2
    assert client.post("/api/admin/re-embed").json() == {
        "status": "started", "only_missing": True, "batch_size": 100,
    }  # fmt: skip
    done = client.get("/api/admin/re-embed/status").json()
    assert (done["status"], done["total"], done["processed"]) == ("done", 2, 2)
    assert client.get("/api/admin/stats").json()["observations"]["without_embedding"] == 0
    client.post("/api/admin/re-embed", params={"only_missing": False, "batch_size": 2})
    assert client.get("/api/admin/re-embed/status").json()["processed"] == 5


def test_a_second_re_embedding_waits_for_the_first(client: TestClient, postgres: Database) -> None:
    observe(client, "one")
    client.post("/api/admin/re-embed")
    with postgres.owning() as connection:  # as if another server were at it
        connection.execute("UPDATE agent_memory_embedding_run SET status = 'running', noted_at = now()")
    again = client.post("/api/admin/re-embed").json()
    assert again["error"] == "Re-embed already in progress"
    assert again["status"]["status"] == "running"
    assert client.post("/api/admin/re-embed/cancel").json() == {"status": "cancelling"}
    with postgres.owning() as connection:  # that server was killed
        connection.execute("UPDATE agent_memory_embedding_run SET noted_at = now() - interval '5 minutes'")
    assert client.get("/api/admin/re-embed/status").json()["status"] == "cancelled"
    assert client.post("/api/admin/re-embed").json()["status"] == "started"


def test_what_was_forgotten_leaves_its_row(client: TestClient, compat: Site, postgres: Database) -> None:
    number = observe(client, "forget me")["id"]
    client.post("/api/lessons", json={"title": "t", "rule": "r"})
    viewer = compat.server.team._replace(person="ada")
    with postgres.viewing(viewer) as connection:
        row = get_observation(connection, viewer.team, number)
        assert row
        note_memory(connection, viewer.team, row, "m1")
        assert find_memory(connection, viewer.team, row) == "m1"
        assert delete_of_memories(connection, viewer, ["m1", "m2"]) == 1
    assert client.get(f"/api/observations/{number}").status_code == 404
    assert len(client.get("/api/lessons").json()) == 1


def test_what_a_client_saves_is_a_memory_of_its_person(compat: Site) -> None:
    ada, other = compat.of("ada"), compat.of("max")
    observe(ada, "Orders use an idempotency key", type="decision")
    ada.post("/api/lessons", json={"title": "push", "rule": "Never push to main.", "project": "shop"})
    compat.work()
    of_shop = {"project": "shop"}
    found = {one["text"]: one for one in ada.get("/api/v1/memories", params=of_shop).json()["memories"]}
    assert set(found) == {"Orders use an idempotency key", "Never push to main."}
    rule = found["Never push to main."]
    assert (rule["kind"], rule["trust"], rule["shared"]) == ("rule", "agent", False)
    # What an agent says is not shared until its person does; in agent-memory's own answers the team sees it.
    assert other.get("/api/v1/memories", params=of_shop).json()["memories"] == []
    assert len(other.get("/api/lessons").json()) == 1
    ada.patch("/api/lessons/1", json={"active": False})
    compat.work()
    assert ada.get(f"/api/v1/memories/{rule['id']}").json()["status"] == "superseded"
    decision = found["Orders use an idempotency key"]["id"]
    assert ada.delete(f"/api/v1/memories/{decision}").status_code == 200
    assert ada.get("/api/observations").json() == []


def test_writes_are_audited(client: TestClient, compat: Site) -> None:
    observe(client, "one")
    client.post("/api/lessons", json={"title": "t", "rule": "r"})
    client.patch("/api/lessons/1", json={"active": False})
    actions = [one["action"] for one in client.get("/api/v1/audit").json()]
    assert {"observation.create", "lesson.create", "lesson.change"} <= set(actions)


def test_many_clients_at_once_get_ids_of_their_own(client: TestClient) -> None:
    def write(number: int) -> list[int]:
        made = [
            observe(client, f"{number} {one}", project=f"p{one}", session_id=f"s{one}") for one in range(5)
        ]
        return [one["id"] for one in made]

    with ThreadPoolExecutor(8) as pool:
        ids = [number for found in pool.map(write, range(8)) for number in found]
    assert sorted(ids) == list(range(1, 41))
    stats = client.get("/api/admin/stats").json()
    assert (stats["projects"], stats["sessions"], stats["observations"]["total"]) == (5, 5, 40)
