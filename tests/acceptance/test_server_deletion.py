"""Deletion and evidence on the team server: a claim has its source, and goes with it, for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.server import PAY, SHOP, ServerSite
from tests.reader.model_server import ModelServer, model_server
from tests.server.live import serving
from tests.server.test_sync_commands import Person
from told.reader.models import open_reader
from told.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVERY = {"brief", "brief tool", "search", "recall", "search tool", "list"}


class Judged:
    """A server with a reader that keeps every message in words of its own."""

    def __init__(self, server: ServerSite, model: ModelServer) -> None:
        settings = Settings("", reader_mode="endpoint", reader_url=model.url, reader_model="toy")
        self.server = server.with_settings(reader=open_reader(settings, {}), reader_daily_tokens=100_000)
        self.model = model
        model.answer = self.keep_all

    def keep_all(self, asked: dict[str, Any]) -> dict[str, Any]:
        items = [
            {"text": one["text"].partition(", ")[2], "kind": "rule", "scope": "project", "quote": one["text"],
             "turn": one["turn"]}
            for one in asked["messages"]
        ]  # fmt: skip
        return {"items": items, "candidates": [], "summary": None}


@pytest.fixture
def judged(server: ServerSite) -> Iterator[Judged]:
    with model_server() as model:
        made = Judged(server, model)
        yield made
        made.server.close()


@pytest.mark.atlas("evidence.claim_resolves_to_source")
def test_a_line_of_a_brief_leads_to_the_words_it_comes_from(judged: Judged) -> None:
    server, prompt = (
        judged.server,
        "From now on, always deploy the parcel service with the blue-green script.",
    )
    session = server.push("parcel", "Fix the flaky test.", prompt)
    typed = server.save("The parcel service answers on port 4711.", agent="terminal", quote="it is 4711")
    server.pass_time()
    found = server.post("ada", "/brief", prompt="deploy the parcel service, which port?", project=SHOP)
    assert len(found["memories"]) == 2
    for name in found["memories"]:
        shown = server.get("ada", f"/memories/{name}")
        (place,) = shown["evidence"]
        if name == typed:
            assert (place["agent"], place["quote"]) == ("terminal", "it is 4711")
            continue
        assert (shown["trust"], place["agent"]) == ("agent", "codex")
        (source,) = [
            one for one in server.get("ada", "/sessions")["sessions"] if one["native"] == place["session"]
        ]
        assert source["id"] == session
        turns = server.get("ada", f"/sessions/{session}")["turns_shown"]
        assert place["quote"] in turns[place["turn"]]["asked"]


@pytest.mark.atlas("evidence.source_delete_reaches_derived")
def test_deleting_a_session_reaches_everything_made_of_it(judged: Judged) -> None:
    server, asked = judged.server, "deploy the turnstone service with a script?"
    said = ("From now on, always deploy the turnstone service with the avocet script.", "Go on.")
    session = server.push(
        "turnstone", *said, title="Deploy with avocet", files=[{"path": "avocet.sh", "how": "edit"}]
    )
    server.post("ada", "/checkpoints", session=session, goal="Deploy turnstone with avocet")
    server.save("Avocet logs go to the bucket teal.", by="agent", session="turnstone")
    server.save("The turnstone service is written in Go.", agent="codex", session="another")
    server.pass_time()
    assert {*EVERY, "timeline", "sessions", "checkpoints"} <= set(server.seen("avocet", asked))
    assert len(server.delete(f"/sessions/{session}")["forgotten"]) == 2
    for step in ("deleted", "pushed again", "worked", "rebuilt"):
        if step == "pushed again":
            again = {
                "agent": "codex",
                "native": "turnstone",
                "project": SHOP,
                "turns": [{"n": 0, "asked": said[0]}],
            }
            answer = server.of("ada").post("/api/v1/sessions", json=again)
            assert answer.status_code == 409
            assert answer.json()["detail"].startswith("You deleted this session")
        elif step == "worked":
            server.pass_time()
        elif step == "rebuilt":
            server.rebuild()
        assert "avocet" not in server.dump(), step
        assert "in Go" in server.brief(asked), step
    assert server.seen("avocet", asked) == server.seen_anywhere("avocet", asked) == []
    assert set(server.seen("in Go", asked)) >= EVERY


@pytest.mark.atlas("evidence.source_delete_reaches_derived")
def test_what_is_deleted_while_the_judge_reads_it_teaches_nothing(judged: Judged) -> None:
    server = judged.server
    keep = server.push("dunlin-1", "From now on, always pack the dunlin crate twice.")
    gone = server.push("dunlin-2", "From now on, always ship the dunlin crate by rail.")

    def delete_first(asked: dict[str, Any]) -> dict[str, Any]:
        if "rail" in str(asked["messages"]):
            server.delete(f"/sessions/{gone}")
        return judged.keep_all(asked)

    judged.model.answer = delete_first
    server.pass_time()
    assert len(judged.model.requests) == 2
    assert [text for text in server.texts() if "dunlin" in text] == ["always pack the dunlin crate twice."]
    assert server.get("ada", f"/sessions/{keep}")["turns"] == 1
    assert "by rail" not in server.dump()


@pytest.mark.atlas("evidence.rebuild_from_retained")
def test_the_journal_alone_gives_the_same_answers(server: ServerSite) -> None:
    old = server.save("The staging host of Ruff is alder-71.", share=True)
    server.save("The staging host of Ruff is now birch-72, not alder-71.", share=True)
    rejected = server.save("Ruff is deployed by hand.")
    server.change(rejected, status="rejected")
    server.change(server.save("Never deploy Ruff on Fridays.", share=True), locked=True)
    server.delete(f"/memories/{server.save('The tenant of Ruff is called bittern.')}")
    server.work()

    def answers() -> list[Any]:
        asked = "which host is staging of Ruff, and when is it deployed?"
        lists = [
            server.get("ada", "/memories", project=SHOP, status=one)
            for one in ("active", "superseded", "dismissed")
        ]
        return [
            server.brief(asked),
            server.brief(asked, "max"),
            lists,
            server.get("max", "/memories", project=SHOP),
            server.tool("brief", prompt=asked, project=SHOP),
            server.post("ada", "/search", query=asked, project=SHOP),
        ]

    before = answers()
    assert "birch-72" in before[0]
    server.rebuild()
    assert answers() == before
    assert server.status(old) == "superseded"
    assert "bittern" not in str(before)


DOOMED, SIBLING = "larkspur-6612", "hollyhock-2048"
SAID, KEPT = f"The tenant of the beta is called {DOOMED}.", f"Invoices of the beta are stored in {SIBLING}."
QUESTION = "who is the tenant of the beta, and where are its invoices stored?"


@pytest.mark.atlas("deletion.absent_after_reindex_and_restart")
def test_every_probe_comes_back_empty(server: ServerSite) -> None:
    prompt = (f"Remember: the tenant of the beta is called {DOOMED}. Then invite them.", "Go on.")
    session = server.push("beta", *prompt, title=f"The tenant of the beta is called {DOOMED}")
    note = {"session": session, "goal": "Invite them", "decisions": SAID}
    server.post("ada", "/checkpoints", **note)
    made = server.save(SAID, session="beta", agent="codex", quote=SAID)
    server.save(SAID, project=PAY)
    server.save(KEPT)
    server.brief(QUESTION, session="live-1")
    server.tool("correct", id=made, text=f"{SAID} It moved.")  # a proposal
    server.work()
    assert {*EVERY, "review", "timeline", "sessions", "checkpoints"} <= set(server.seen(DOOMED, QUESTION))
    assert "brief" in server.seen(DOOMED, QUESTION, project=PAY)
    assert len(server.delete(f"/memories/{made}")["same_words"]) == 2
    now = server
    for step in ("forgotten", "source again", "background", "rebuilt", "restarted"):
        if step == "source again":
            server.push(
                "beta", *prompt, "And a third prompt.", title=f"The tenant of the beta is called {DOOMED}"
            )
            server.post("ada", "/checkpoints", **note)
            server.tool("checkpoint", session=session, goal=SAID)
        elif step == "background":
            server.pass_time()
        elif step == "rebuilt":
            server.rebuild()
        elif step == "restarted":
            now = server.with_settings()
        assert DOOMED not in now.dump(), step
        assert SIBLING in now.brief(QUESTION), step
        assert now.of("ada").get(f"/api/v1/memories/{made}").status_code == 404
    assert now.seen(DOOMED, QUESTION) == now.seen_anywhere(DOOMED, QUESTION) == []
    assert set(now.seen(SIBLING, QUESTION)) >= EVERY
    assert "third prompt" in str(now.get("ada", f"/sessions/{session}"))  # the rest of the session is there
    assert "Then invite them" in str(now.get("ada", f"/sessions/{session}"))
    kinds = [one["kind"] for one in now.get("ada", "/operations", limit=5000) if one["memory"] == made]
    assert "forget" in kinds  # the audit
    now.close()


@pytest.mark.atlas("deletion.absent_from_shared_copies")
def test_a_shared_memory_goes_everywhere(server: ServerSite) -> None:
    asked = "what is the tenant of the gamma called?"
    made = server.save("The tenant of the gamma is called sanderling.", share=True)
    team = server.save("Sanderling Ltd. pays in euros.", scope="team")
    server.brief(asked, "max", session="max-1")
    server.work()
    for name in ("ada", "max", "rea"):
        assert set(server.seen("sanderling", asked, name)) >= EVERY
    server.save("The tenant of the gamma is called sanderling.", "max", project=PAY)  # his own word
    for name in (made, team):
        server.delete(f"/memories/{name}")
    server.work()
    server.rebuild("max")
    for name in ("ada", "max", "rea"):
        assert server.seen("sanderling", asked, name) == [], name
    assert "brief" in server.seen("sanderling", asked, "max", project=PAY)  # nobody forgets for a colleague


@pytest.mark.atlas("deletion.absent_from_shared_copies")
def test_it_goes_from_the_teams_log_and_a_colleagues_machine(
    server: ServerSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "github.com/acme/shop"
    with serving(server.site) as url:
        max_ = Person(tmp_path / "max", monkeypatch, url)
        max_.connect(server.site.tokens["max"])
        made = server.save("The tenant of the delta is called whimbrel.", project=key, share=True)
        server.save("The delta has one godwit.", project=key, share=True)
        server.work()
        max_.says("sync")
        assert b"whimbrel" in server.log()
        assert "whimbrel" in max_.says("memories")
        server.delete(f"/memories/{made}")
        server.work()
        assert b"whimbrel" not in server.log()
        max_.says("sync")
        server.work()
        assert b"whimbrel" not in max_.bytes()
        assert "whimbrel" not in server.dump()
        assert "godwit" in max_.says("memories")
