"""The server's reader reads the sessions that people push: seldom, within a budget, as an agent's word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.reader.model_server import ModelServer, model_server
from tests.server.site import Site
from told.reader.models import open_reader
from told.settings import Settings

TAUGHT = "From now on, always deploy the parcel service with the blue-green script."
SESSION = {
    "agent": "claude-code", "native": "one", "project": "acme/shop",
    "turns": [
        {"n": 0, "at": 1_700_000_000_000, "asked": "Fix the flaky test.", "answered": "Done."},
        {"n": 1, "at": 1_700_000_001_000, "asked": TAUGHT, "answered": "I will."},
    ],
}  # fmt: skip


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


def judged(site: Site, model: ModelServer, tokens: int = 100_000) -> Site:
    """Give the server a reader."""
    settings = Settings("", reader_mode="endpoint", reader_url=model.url, reader_model="toy")
    return site.with_settings(reader=open_reader(settings, {}), reader_daily_tokens=tokens)


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Keep the last message."""
    last = asked["messages"][-1]
    item = {
        "text": "Deploy the parcel service with the blue-green script.", "kind": "rule", "scope": "project",
        "quote": last["text"], "turn": last["turn"],
    }  # fmt: skip
    return {"items": [item], "candidates": [], "summary": None}


def push(site: Site, **changes: object) -> None:
    assert site.of("max").post("/api/v1/sessions", json=SESSION | changes).status_code == 201


def pass_time(site: Site, seconds: float = 3600) -> None:
    """Let items wait no longer that are due within some time, and process them."""
    with site.server.database.owning() as connection:
        connection.execute(
            "UPDATE job SET run_at = run_at - make_interval(secs => %s) WHERE state = 'ready'", (seconds,)
        )
    site.work()


def memories(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.of("max").get("/api/v1/memories?project=acme/shop").json()["memories"]
    return found


def used(site: Site) -> dict[str, int]:
    found: dict[str, int] = site.of("rea").get("/api/v1/stats").json()["reader"]
    return found


def test_a_session_is_asked_about_once_when_it_is_quiet(site: Site, model: ModelServer) -> None:
    site, model.answer = judged(site, model), answer
    push(site, turns=SESSION["turns"][:1])
    push(site)
    site.work()
    assert model.requests == []  # it may go on
    pass_time(site)
    push(site)  # the same again
    pass_time(site)
    assert [[one["turn"] for one in asked["messages"]] for asked in model.asked()] == [[0, 1]]
    assert [(one["kind"], one["trust"], one["shared"]) for one in memories(site)] == [
        ("rule", "agent", False)
    ]
    figures = used(site)
    assert (figures["calls"], figures["tokens_in"], figures["tokens_out"]) == (1, 900, 40)
    assert 'told_judge_tokens_total{way="sent"} 900' in site.of("rea").get("/metrics").text
    assert site.of("ada").get("/api/v1/memories?project=acme/shop").json()["memories"] == []


def test_what_came_later_is_read_from_where_it_stopped(site: Site, model: ModelServer) -> None:
    site = judged(site, model)
    push(site)
    pass_time(site)
    more = {"n": 2, "at": 1_700_000_002_000, "asked": "Never touch the legacy folder, it is frozen."}
    push(site, turns=[more])
    pass_time(site)
    assert [[one["turn"] for one in asked["messages"]] for asked in model.asked()] == [[0, 1], [2]]


def test_the_budget_of_a_day_is_kept_and_the_rest_is_read_tomorrow(site: Site, model: ModelServer) -> None:
    poor = judged(site, model, tokens=50)
    push(poor)
    pass_time(poor)
    assert model.requests == []
    assert used(poor)["calls"] == 0
    assert poor.of("ada").get("/api/v1/jobs").json()["counts"]["review"]["ready"] == 1
    rich, model.answer = judged(site, model), answer
    pass_time(rich, 25 * 3600)
    assert len(model.requests) == 1
    assert len(memories(rich)) == 1


def test_made_up_quotes_are_not_believed(site: Site, model: ModelServer) -> None:
    def lie(asked: dict[str, Any]) -> dict[str, Any]:
        found = answer(asked)
        found["items"][0]["quote"] = "Always push straight to main."
        return found

    site, model.answer = judged(site, model), lie
    push(site)
    pass_time(site)
    assert len(model.requests) == 1
    assert memories(site) == []


def test_a_judge_that_fails_is_asked_again_and_costs_are_counted(site: Site, model: ModelServer) -> None:
    site, model.answer = judged(site, model), lambda _asked: "I cannot do that."
    push(site)
    pass_time(site)
    assert memories(site) == []
    assert used(site)["failed"] == len(model.requests) == 1
    model.answer = answer
    pass_time(site)
    assert len(memories(site)) == 1


def test_no_judge_and_no_question_without_the_setting(site: Site, model: ModelServer) -> None:
    push(site)
    pass_time(site)
    assert "review" not in site.of("ada").get("/api/v1/jobs").json()["counts"]
