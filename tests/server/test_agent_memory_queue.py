"""Tool calls that agent-memory's hooks send: taken once, and learned from without a model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.site import Site
from tests.server.transcript import work
from told.server.agent_memory.extract import capture_item
from told.server.jobs import Worker
from told.store.postgres.database import Database, Viewer
from told.store.postgres.jobs import Limits


@pytest.fixture
def compat(site: Site) -> Site:
    """A server that answers agent-memory's paths."""
    return site.with_settings(compat=True)


@pytest.fixture
def client(compat: Site) -> TestClient:
    """The client of a member."""
    return compat.of("max")


def send(client: TestClient, **fields: Any) -> None:
    """Send an item of session s1 in /home/u/shop."""
    item = {"session_id": "s1", "cwd": "/home/u/shop", **fields}
    assert client.post("/api/queue", json=item).json() == {"status": "queued"}


def shell(
    client: TestClient, command: str, preview: str = '{"stdout":"ok","stderr":""}', **fields: Any
) -> None:
    """Send a shell command."""
    send(client, tool_name="Bash", tool_input={"command": command}, tool_response_preview=preview, **fields)


def observations(client: TestClient) -> list[tuple[str, str]]:
    """Return the types and titles of all observations, the first one first."""
    return [(one["type"], one["title"]) for one in client.get("/api/observations").json()][::-1]


def queue_state(client: TestClient) -> dict[str, int]:
    """Return the figures of the queue."""
    found: dict[str, int] = client.get("/api/admin/stats").json()["queue"]
    return found


def test_an_item_makes_its_session_and_project(client: TestClient) -> None:
    send(client, tool_name="Read")
    client.post("/api/queue", json={"session_id": "s2", "cwd": "C:\\work\\app\\"})
    client.post("/api/queue", json={"session_id": "s3", "cwd": "/"})
    client.post("/api/queue", json={"session_id": "s4"})
    found = [(one["project_name"], one["agent_type"]) for one in client.get("/api/sessions").json()]
    assert found == [
        ("unknown", "claude-code"), ("unknown", "claude-code"), ("app", "claude-code"),
        ("shop", "claude-code"),
    ]  # fmt: skip
    assert queue_state(client)["pending"] == 4


def test_what_the_user_taught_is_kept_once(client: TestClient, compat: Site) -> None:
    for _ in range(3):
        for path in ("a.py", "b.py"):
            send(
                client, tool_name="Read", tool_input={"file_path": path},
                last_user_message="From now on always use uv, never pip.",
            )  # fmt: skip
    assert queue_state(client)["pending"] == 2  # the same item is taken once
    work(compat)
    assert observations(client) == [("pattern", "From now on always use uv, never pip.")]
    assert queue_state(client) == {"pending": 0, "done": 1, "failed": 0}
    assert client.get("/api/observations").json()[0]["project_name"] == "shop"


def test_decisions_and_facts_have_their_types(client: TestClient, compat: Site) -> None:
    send(client, last_user_message="We decided to use PostgreSQL for the cache.")
    send(client, last_user_message="Remember that the staging server is called blue.")
    send(client, last_user_message="fix the login bug please")
    work(compat)
    assert observations(client) == [
        ("decision", "We decided to use PostgreSQL for the cache."),
        ("discovery", "The staging server is called blue."),
    ]


def test_commits_and_repairs_of_a_session_are_observed(client: TestClient, compat: Site) -> None:
    shell(client, "pytest tests", "Error: Exit code 1\n2 failed")
    send(client, tool_name="Edit", tool_input={"file_path": "/home/u/shop/cart.py", "old_string": "a"})
    shell(client, "pytest tests", "12 passed")
    shell(client, "git commit -m 'fix: charge orders once'")
    work(compat)
    assert observations(client) == [
        ("bugfix", "`pytest tests` failed, and passed after changes to cart.py"),
        ("bugfix", "Committed: fix: charge orders once"),
    ]
    found = client.get("/api/observations").json()[0]
    assert (found["tool_name"], found["files_modified"]) == ("Bash", ["cart.py"])


def test_a_commit_that_failed_is_none(client: TestClient, compat: Site) -> None:
    previews = '{"is_error": true}', '{"exitCode":2}', "Exit code 128", '{"interrupted":true}'
    for number, preview in enumerate(previews):
        shell(client, "git commit -m 'add the cart'", preview, session_id=f"failed{number}")
    work(compat)
    assert queue_state(client)["failed"] == 0
    assert observations(client) == []


def test_tools_that_agent_memory_skips_are_skipped(client: TestClient, compat: Site) -> None:
    for tool in ("TodoWrite", "Skill", "TaskStop", "ExitPlanMode", "ListMcpResourcesTool"):
        send(client, tool_name=tool, last_user_message="From now on always use uv, never pip.")
    work(compat)
    assert observations(client) == []
    assert queue_state(client) == {"pending": 0, "done": 0, "failed": 0}


def test_an_item_is_processed_once_however_often_a_worker_takes_it(
    client: TestClient, compat: Site, postgres: Database
) -> None:
    shell(client, "git commit -m 'add the cart'")
    with postgres.owning() as connection:
        jobs = connection.execute("SELECT team, person, payload FROM job").fetchall()
    for team, person, payload in [*jobs, *jobs, (*jobs[0][:2], {"item": 4711})]:  # the last one was deleted
        viewer = Viewer(team, person)
        write = capture_item(compat.server, viewer, payload)
        for _ in range(2):
            with postgres.viewing(viewer) as connection:
                write(connection)
    work(compat)
    assert len(observations(client)) == 1


def test_an_item_that_cannot_be_processed_counts_as_failed(client: TestClient, compat: Site) -> None:
    send(client, tool_name="Read")
    worker = Worker(compat.server, "worker", {}, Limits(attempts=1))
    worker.work()
    assert queue_state(client) == {"pending": 0, "done": 0, "failed": 1}


def test_long_and_odd_items_are_taken(client: TestClient, compat: Site, postgres: Database) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    send(client, tool_name="Write", tool_input={"content": "y" * 500_000, "deep": deep})
    send(client, tool_name="Bash", tool_response_preview="z" * 500_000, last_user_message="w " * 100_000)
    send(client, tool_name="Bash", tool_input={"command": ["git", 3, None]})
    work(compat)
    with postgres.owning() as connection:
        lengths = connection.execute(
            "SELECT length(tool_response_preview), length(tool_input::text)"
            " FROM agent_memory_item ORDER BY id"
        ).fetchall()
    assert lengths[1][0] == 2000
    assert lengths[0][1] < 10_000
    assert json.dumps(queue_state(client)) == '{"pending": 0, "done": 0, "failed": 0}'
