"""Requests that are too large, too many or too long for what stores them."""

from __future__ import annotations

import asyncio
import json
import random
import time
from typing import Any

import pytest

from tests.server.site import Site
from told.errors import BusyError
from told.server.guard import Guard
from told.store.postgres.database import Database

SHOP = "acme/shop"
CHOICE = random.Random(7)


def wide(length: int) -> str:
    """Return a text of letters with four bytes that cannot be compressed."""
    return "".join(chr(0x20000 + CHOICE.randrange(40_000)) for _ in range(length))


def test_wrong_tokens_are_slowed_down_and_valid_ones_are_not(site: Site) -> None:
    with site.client() as client:
        valid = {"authorization": f"Bearer {site.tokens['max']}"}
        assert client.get("/api/v1/me", headers=valid).status_code == 200
        wrong = [
            client.get("/api/v1/me", headers={"authorization": f"Bearer told_{n}"}).status_code
            for n in range(130)
        ]
        assert (wrong[0], wrong[-1]) == (401, 429)
        assert client.get("/api/v1/me", headers=valid).status_code == 200


def test_only_series_may_be_large(site: Site) -> None:
    limited = site.with_settings(max_json=1000).of("max")
    refused = limited.post("/api/v1/memories", json={"text": "x" * 2000})
    assert (refused.status_code, refused.json()["detail"].count(".")) == (413, 2)
    series = limited.put("/api/v1/sync/tabc/abcdefgh", content=b"x" * 2000)
    assert series.status_code == 400


def test_many_bodies_at_a_time_are_refused(site: Site) -> None:
    client = site.with_settings(max_held=1000).of("max")
    refused = client.post("/api/v1/memories", json={"text": "x" * 2000})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    small = client.post("/api/v1/memories", json={"text": "Always use pnpm here.", "project": SHOP})
    assert small.status_code == 201


def test_an_answer_does_not_repeat_a_large_wrong_request(site: Site) -> None:
    wrong = site.of("max").post("/api/v1/memories", json={"text": ["x" * 100_000]})
    assert wrong.status_code == 422
    assert len(wrong.content) < 1000
    many = site.with_settings(compat=True).of("max")
    facts = {"session_id": "s", "project": "p", "title": "t", "facts": [1] * 1000}
    assert len(many.post("/api/observations", json=facts).json()["detail"]) == 20


def test_names_that_no_index_takes_are_left_out_of_it(site: Site) -> None:
    client = site.with_settings(compat=True).of("max")
    path = "/".join(wide(90) for _ in range(20))
    saved = client.post(
        "/api/v1/memories", json={"text": f"Never edit /{path}/x.py by hand", "project": wide(200)}
    )
    assert saved.status_code == 201, saved.text
    row = {"session_id": "s", "project": wide(500), "title": "A finding", "concepts": [wide(2500)]}
    assert client.post("/api/observations", json=row).status_code == 200
    queued = {"session_id": "s", "tool_name": "Bash", "cwd": f"/{wide(3000)}"}
    assert client.post("/api/queue", json=queued).status_code == 200
    site.work()
    counts = site.of("ada").get("/api/v1/jobs").json()["counts"]
    assert all(states["ready"] == states["dead"] == 0 for states in counts.values()), counts


def test_a_project_of_an_agent_is_not_longer_than_others(site: Site) -> None:
    call = {"name": "remember", "arguments": {"text": "Use pnpm here", "project": "x" * 300}}
    answer = site.of("max").post(
        "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    )
    assert "at most 200" in answer.text


@pytest.mark.parametrize("part", ["_a", "@1a", "/."])
def test_a_long_word_is_indexed_in_time(site: Site, part: str) -> None:
    client = site.with_settings(compat=True).of("max")
    began = time.monotonic()
    row = {"session_id": "s", "project": "p", "title": "long", "narrative": part * (20_000 // len(part))}
    assert client.post("/api/observations", json=row).status_code == 200
    found = client.post("/api/observations/search", json={"query": part * 20_000, "mode": "fts"})
    assert (found.status_code, time.monotonic() - began < 2) == (200, True)


def test_a_statement_that_takes_too_long_says_so(postgres: Database) -> None:
    def sleep() -> None:
        with postgres.owning() as connection:
            connection.execute("SET LOCAL statement_timeout = 50")
            connection.execute("SELECT pg_sleep(5)")

    with pytest.raises(BusyError, match="took too long"):
        sleep()


def test_a_request_at_the_end_of_the_server_is_told_to_retry(site: Site) -> None:
    sent: list[dict[str, Any]] = []

    async def hang(*_: object) -> None:
        await asyncio.sleep(60)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        scope = {
            "type": "http", "method": "GET", "path": "/api/health", "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 1),
        }  # fmt: skip
        task = asyncio.create_task(Guard(hang, site.server)(scope, receive, send))
        await asyncio.sleep(0.05)
        task.cancel()
        await task

    asyncio.run(run())
    assert sent[0]["status"] == 503
    assert "Retry" in json.loads(sent[1]["body"])["detail"]
