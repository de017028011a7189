"""Scope on the team server: projects, people and teams stay apart, whoever asks and however."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.server import PAY, SHOP, ServerSite
from tests.reader.model_server import model_server
from told.reader.models import open_reader
from told.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED = "where is the Quillmere ledger exported to, which bucket?"
WORD = "osprey-4417"
FACT = f"The Quillmere ledger is exported to the bucket {WORD}."


@pytest.fixture(scope="module")
def said(server: ServerSite) -> dict[str, str]:
    """Let ada say something in the shop, in her memory, a session and a checkpoint; return their ids."""
    session = server.push("quillmere", f"Export the Quillmere ledger to {WORD}", title=f"Ledger to {WORD}")
    note = server.post("ada", "/checkpoints", session=session, goal=f"Move the Quillmere ledger off {WORD}")
    private = server.save(f"The Quillmere ledger has a private mirror of {WORD}.", scope="private")
    made = {"memory": server.save(FACT), "session": session, "checkpoint": note["id"], "private": private}
    server.save("The Quillmere ledger of pay is kept for ten years.", project=PAY)
    server.work()
    return made


@pytest.mark.atlas("scope.cross_tenant_absent")
def test_another_project_never_meets_it(server: ServerSite, said: dict[str, str]) -> None:
    found = set(server.seen(WORD, ASKED))
    assert {"brief", "brief tool", "search", "recall", "search tool", "list", "timeline"} <= found
    assert {"sessions", "checkpoints"} <= found
    assert server.seen(WORD, ASKED, project=PAY) == []
    assert "brief" in server.seen("ten years", "how long is the Quillmere ledger kept?", project=PAY)


@pytest.mark.atlas("scope.cross_tenant_absent")
@pytest.mark.parametrize("name", ["max", "rea", "oz"])
def test_nobody_else_meets_it(server: ServerSite, said: dict[str, str], name: str) -> None:
    """Max and rea are colleagues, oz is of another team in the same database."""
    assert {"search", "recall", "list", "sql", "operations", "timeline"} <= set(
        server.seen_anywhere(WORD, ASKED)
    )
    assert server.seen(WORD, ASKED, name) == []
    assert server.seen_anywhere(WORD, ASKED, name) == []


@pytest.mark.atlas("scope.cross_tenant_absent")
def test_what_is_shared_reaches_the_team_and_no_other(server: ServerSite) -> None:
    server.save("The Fenwick gate opens with the code heron-31.", share=True)
    server.push("fenwick", "Repair the Fenwick gate heron-31", shared=True)
    for name in ("max", "rea"):
        assert {"brief", "search", "search tool", "list", "timeline"} <= set(
            server.seen("heron-31", "what opens the Fenwick gate?", name)
        )
    assert server.seen("heron-31", "what opens the Fenwick gate?", "oz") == []
    assert server.seen_anywhere("heron-31", "what opens the Fenwick gate?", "oz") == []


@pytest.mark.atlas("scope.caller_cannot_widen")
@pytest.mark.parametrize("name", ["max", "oz"])
def test_no_value_of_a_project_or_a_field_opens_anothers(
    server: ServerSite, said: dict[str, str], name: str
) -> None:
    odd = (
        "",
        "*",
        "%",
        "..",
        "../shop",
        f" {SHOP}",
        f"{SHOP}/",
        f"project:{SHOP}",
        "ACME/SHOP",
        "' OR 1=1 --",
        "private:",
    )
    for project in odd:
        found = [
            server.texts(name=name, project=project),
            server.post(name, "/search", query=ASKED, project=project),
            server.tool("search", name, query=ASKED, project=project),
            server.tool("brief", name, prompt=ASKED, project=project),
        ]
        assert WORD not in str(found), project
    extra = {
        "person": "ada",
        "owner": "ada",
        "team": "acme",
        "viewer": "ada",
        "role": "admin",
        "scope": "global",
    }
    found = server.post(name, "/search", query=ASKED, project=SHOP, all_projects=True, **extra)
    assert WORD not in str(found)
    headers = {"x-told-person": "ada", "x-forwarded-user": "ada", "x-remote-user": "ada"}
    answer = server.of(name).get("/api/v1/memories?all_projects=true", headers=headers)
    assert WORD not in answer.text
    assert WORD in str(server.post("ada", "/search", query=ASKED, project=SHOP))


@pytest.mark.atlas("scope.caller_cannot_widen")
@pytest.mark.parametrize("name", ["max", "oz"])
def test_an_id_that_somebody_learned_is_of_no_use(
    server: ServerSite, said: dict[str, str], name: str
) -> None:
    for path, made in (("memories", "memory"), ("sessions", "session"), ("checkpoints", "checkpoint")):
        mine, theirs = (server.of(one).get(f"/api/v1/{path}/{said[made]}") for one in ("ada", name))
        absent = server.of(name).get(f"/api/v1/{path}/mzzzzzzz")
        assert (mine.status_code, theirs.status_code) == (200, 404)
        assert theirs.json() == absent.json()  # not even that it exists
        assert WORD in mine.text
        assert WORD not in server.tool("get", name, ids=[said[made]], full=True)
        assert WORD in server.tool("get", ids=[said[made]], full=True)
        for answer in (
            server.of(name).delete(f"/api/v1/{path}/{said[made]}"),
            server.of(name).patch(
                f"/api/v1/{path}/{said[made]}", json={"status": "rejected", "shared": True}
            ),
        ):
            assert answer.status_code in (404, 405, 422), answer.text
    assert server.of(name).post(
        "/api/v1/checkpoints", json={"session": said["session"], "goal": "mine"}
    ).status_code == 404  # fmt: skip
    assert server.tool("checkpoint", name, session=said["session"], goal="mine") == "No session has this id."
    assert server.tool("correct", name, id=said["memory"], text="mine") == "No memory has this id."
    assert server.status(said["memory"]) == "active"


@pytest.mark.atlas("scope.caller_cannot_widen")
def test_a_token_cannot_name_another_person_or_role(server: ServerSite, said: dict[str, str]) -> None:
    for body in ({"person": "ada"}, {"person": "max", "role": "admin"}):
        assert server.of("max").post("/api/v1/tokens", json=body).status_code == 403
    assert server.of("rea").post("/api/v1/memories", json={"text": "Use tabs."}).status_code == 403
    assert server.tool("remember", "rea", text="Use tabs.", scope="global").startswith(
        "This needs the role member"
    )
    assert (
        server.of("ada").post("/api/v1/memories", json={"text": "Use tabs in Makefiles."}).status_code == 201
    )


@pytest.mark.atlas("scope.caller_cannot_widen")
@pytest.mark.xfail(strict=True, reason="an agent may name any project of its person, whose token it has")
@pytest.mark.parametrize("project", [SHOP, ""])
def test_an_agent_cannot_name_another_project(server: ServerSite, said: dict[str, str], project: str) -> None:
    assert WORD not in server.tool("search", query=ASKED, project=project)


@pytest.fixture
def judged(server: ServerSite) -> Iterator[ServerSite]:
    """Give the server a reader that keeps every message."""
    with model_server() as model:
        model.answer = keep_all
        settings = Settings("", reader_mode="endpoint", reader_url=model.url, reader_model="toy")
        made = server.with_settings(reader=open_reader(settings, {}), reader_daily_tokens=100_000)
        yield made
        made.close()


def keep_all(asked: dict[str, Any]) -> dict[str, Any]:
    items = [
        {"text": one["text"], "kind": "rule", "scope": "project", "quote": one["text"], "turn": one["turn"]}
        for one in asked["messages"]
    ]
    return {"items": items, "candidates": [], "summary": None}


@pytest.mark.atlas("scope.background_respects_boundary")
def test_workers_keep_people_and_projects_apart(judged: ServerSite) -> None:
    """Vectors, the reader and publishing run for all people in one worker."""
    question = "which canary host is released with the smoke suite?"
    for name, project, host in (
        ("ada", SHOP, "heron-2290"),
        ("ada", PAY, "plover-8813"),
        ("max", SHOP, "stork-7001"),
    ):
        text = f"From now on, always release the canary host {host} with the smoke suite."
        judged.push(f"canary-{host}", text, name=name, project=project)
        judged.save(f"The canary host {host} is released by a script.", name, project=project)
    judged.save("The canary host is in the team's handbook.", share=True)
    judged.pass_time()
    for name, project, own, foreign in (
        ("ada", SHOP, "heron-2290", ("plover-8813", "stork-7001")),
        ("max", SHOP, "stork-7001", ("heron-2290", "plover-8813")),
    ):
        assert {"search", "recall", "list", "timeline"} <= set(judged.seen(own, question, name, project))
        trusts = {
            one["trust"]
            for one in judged.get(name, "/memories", project=project)["memories"]
            if own in one["text"]
        }
        assert trusts == {"user", "agent"}  # the reader's, too
        for word in foreign:
            assert judged.seen(word, question, name, project) == [], (name, project, word)
    assert "handbook" in str(judged.get("max", "/memories", project=SHOP))
    for name in ("rea", "oz"):
        assert judged.seen_anywhere("heron-2290", question, name) == []


@pytest.mark.atlas("scope.background_respects_boundary")
def test_the_teams_log_has_only_what_was_shared(server: ServerSite) -> None:
    server.post("ada", "/sync", space="tabcdefghijkl")
    server.save("The Umber job is shared as finch-1.", share=True)
    for more in ({}, {"scope": "private"}, {"scope": "global"}, {"by": "agent", "agent": "codex"}):
        server.save(f"The Umber job is kept as siskin-{len(more)}{len(str(more))}.", **more)
    server.work()
    log = server.log()
    assert b"finch-1" in log
    assert b"siskin" not in log
