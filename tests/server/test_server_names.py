"""Secrets in names: projects, agents, sessions and tokens; and whose session an id names."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.site import Site
from told.redact.engine import Redactor
from told.server.people import create_token
from told.store.postgres.database import Database

SECRET = "ghp_Zk3mQ9xT7bVw2LpR8sYc5NdF1aHjE6uGoIqX"
SHOP = "acme/shop"


def call(client: TestClient, name: str, **arguments: Any) -> str:
    """Return the answer of a tool."""
    body = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments},
    }  # fmt: skip
    return client.post("/mcp", json=body).text


def test_secrets_in_names_are_not_stored(site: Site, postgres: Database) -> None:
    redacting = site.with_settings(redact=Redactor(b"k" * 32).redact)
    max_, ada = redacting.of("max"), redacting.of("ada")
    saved = {"text": "Always use pnpm to install packages", "project": SHOP}
    for body in (
        saved,
        {"text": "The shop sells fish", "by": "agent", "agent": SECRET, "session": SECRET},
    ):
        assert max_.post("/api/v1/memories", json=body).status_code == 201
    brief = {"prompt": "install the packages", "project": SHOP, "session": SECRET}
    assert max_.post("/api/v1/brief", json=brief).json()["memories"]
    named = {"text": "Never use npm", "project": f"acme/{SECRET}"}
    assert max_.post("/api/v1/memories", json=named).status_code == 400
    assert "contains a secret" in call(max_, "remember", text="The cart has a cache", project=SECRET)
    assert "Wrote" in call(max_, "checkpoint", goal="Ship it", project=SECRET)
    assert ada.post("/api/v1/tokens", json={"person": "bo", "name": SECRET}).status_code == 201
    with postgres.owning() as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'told'").fetchall()
        for (table,) in tables:
            rows = connection.execute(f"SELECT x::text FROM told.{table} x").fetchall()
            assert not [row for (row,) in rows if SECRET[4:20] in row], table


def test_an_agent_shares_nothing(site: Site) -> None:
    max_ = site.of("max")
    body = {"text": "Always deploy with the blue script", "project": SHOP, "by": "agent"}
    assert max_.post("/api/v1/memories", json={**body, "share": True}).status_code == 400
    assert '"isError":true' in call(max_, "remember", text=body["text"], project=SHOP, scope="team")


def push(client: TestClient, native: str, **more: Any) -> str:
    """Push a shared session; return its id."""
    turns = [{"n": 0, "asked": "Why is the cart slow?", "at": 1_700_000_000_000}]
    body = {"agent": "claude", "native": native, "shared": True, "turns": turns, **more}
    return str(client.post("/api/v1/sessions", json=body).json()["id"])


def test_no_name_of_a_colleague_hides_a_session(site: Site) -> None:
    ada, max_ = site.of("ada"), site.of("max")
    own = push(ada, "one")
    for letter in "ab":
        push(max_, f"{own}{letter}", ended=1_800_000_000_000)
    assert ada.get(f"/api/v1/sessions/{own}").json()["native"] == "one"
    assert ada.delete(f"/api/v1/sessions/{own}").status_code == 200


def test_a_checkpoint_of_ones_own_comes_before_a_colleagues_of_the_same_id(site: Site) -> None:
    for name in ("ada", "max"):
        client = site.of(name)
        session = push(client, "same")
        made = client.post("/api/v1/checkpoints", json={"session": session, "goal": f"Goal of {name}"}).json()
        assert made["goal"] == f"Goal of {name}"
    changed = site.of("max").patch(f"/api/v1/checkpoints/{made['id']}", json={"status": "closed"}).json()
    assert (changed["goal"], changed["status"]) == ("Goal of max", "closed")
    latest = site.of("ada").get("/api/v1/audit", params={"limit": 1}).json()[0]
    assert (latest["action"], latest["target"]) == ("checkpoint.change", made["id"])


def test_the_audit_log_names_the_token_that_made_or_revoked_one(site: Site) -> None:
    ada = site.of("ada")
    made = ada.post("/api/v1/tokens", json={"person": "eve"}).json()
    ada.delete(f"/api/v1/tokens/{made['token']}")
    own = next(one["token"] for one in ada.get("/api/v1/tokens").json() if one["person_name"] == "ada")
    assert [one["token"] for one in ada.get("/api/v1/audit", params={"limit": 2}).json()] == [own, own]


def test_figures_are_of_the_own_team(site: Site, postgres: Database) -> None:
    assert site.of("max").post("/api/v1/memories", json={"text": "Use pnpm"}).status_code == 201
    assert "told_jobs{" in site.of("rea").get("/metrics").text
    with postgres.owning() as connection:
        connection.execute("INSERT INTO team(team, name) VALUES ('tother', 'other')")
    other = site.client(create_token(postgres, "tother", "oz").secret)
    assert "told_jobs{" not in other.get("/metrics").text


def test_the_local_socket_is_not_for_a_former_admin(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("told.server.guard._KNOWN_SECONDS", 0.0)
    local = site.client(local=True)
    assert local.get("/api/v1/me").json()["person"]["name"] == "ada"
    assert site.of("ada").patch("/api/v1/members/max", json={"role": "admin"}).status_code == 200
    assert site.of("ada").delete("/api/v1/members/ada").status_code == 200
    assert local.get("/api/v1/me").json()["person"]["name"] == "max"


def test_the_audit_log_does_not_name_private_memories(site: Site) -> None:
    max_ = site.of("max")
    body = {"text": "My desk is at the window", "project": SHOP, "scope": "private"}
    private = max_.post("/api/v1/memories", json=body).json()["memory"]["id"]
    assert max_.patch(f"/api/v1/memories/{private}", json={"locked": True}).status_code == 200
    assert max_.delete(f"/api/v1/memories/{private}").status_code == 200
    shown = site.of("ada").get("/api/v1/audit").json()
    assert [one["action"] for one in shown[:3]] == ["memory.forget", "memory.change", "memory.save"]
    assert private not in str(shown)
