"""Tombstones on the team server: what a person rejected or forgot stays away."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.acceptance.server import SHOP, ServerSite
from tests.reader.model_server import model_server
from tests.search.test_value_key import LOOK_ALIKES
from tests.search.test_value_key import VALUE as COMMON
from told.reader.models import open_reader
from told.settings import Settings
from told.store.postgres.jobs import prune

AWAY = ("active", "candidate", "superseded", "archived")
YEAR_MS = 365 * 86_400_000


def put_away(server: ServerSite, how: str, memory: str) -> None:
    """Reject or forget a memory, as its person."""
    if how == "reject":
        server.change(memory, status="rejected")
    else:
        server.delete(f"/memories/{memory}")


def say_everywhere(server: ServerSite, value: str, rejected: str) -> None:
    """Restate a value on every path but the person's own word."""
    other = server.save("The bundler of the shop is esbuild.", by="agent", agent="codex")
    server.save(value, by="agent", agent="codex", session="s-1", quote=value)
    server.save(value, by="agent", scope="global")
    server.tool(
        "remember", items=[{"text": value, "kind": "rule", "quote": value, "replaces": other}], project=SHOP
    )
    server.tool("remember", text=value, scope="global")
    server.tool("correct", id=rejected, text=value, quote=value)
    server.tool("correct", id=other, text=value)
    server.push(f"said-{len(value)}", value, "thanks, go on")
    server.push(f"said-{len(value)}", value, "thanks, go on", agent="claude-code")
    server.work()


def units(server: ServerSite, word: str) -> list[str]:
    """Return the statements with a word that are not put away."""
    return [
        text for status in AWAY for text in server.texts(status, all_projects=True) if word in text.lower()
    ]


@pytest.mark.atlas("tombstone.laundering_sequence")
def test_a_rejected_value_is_not_walked_back(server: ServerSite) -> None:
    value, asked = "Always install the ibis packages with pnpm.", "install the ibis packages with what?"
    rejected = server.save(value, share=True)
    assert {"brief", "search"} <= set(server.seen("pnpm", asked)) & set(server.seen("pnpm", asked, "max"))
    put_away(server, "reject", rejected)
    server.save("Always install the ibis packages with yarn.")
    say_everywhere(server, value, rejected)
    for _ in range(2):
        assert units(server, "ibis packages with pnpm") == []
        assert server.status(rejected) == "dismissed"
        assert "pnpm" not in server.brief(asked) + server.brief(asked, "max")
        assert "yarn" in server.brief(asked)
        server.rebuild()
    server.save(value)  # the person's own word is the way back
    assert server.status(rejected) == "active"


@pytest.mark.atlas("tombstone.laundering_sequence")
def test_a_colleagues_word_is_theirs_and_ends_no_rejection(server: ServerSite) -> None:
    value = "Always lint the egret folder twice."
    rejected = server.save(value)
    put_away(server, "reject", rejected)
    server.save(value, "max", share=True)
    server.work()
    assert server.status(rejected) == "dismissed"
    assert server.get("max", "/memories", project=SHOP, words="egret")["total"] == 1
    (shown,) = server.get("ada", "/memories", project=SHOP, words="egret")["memories"]
    assert (shown["author"], shown["trust"]) == ("max", "team:acme/max")  # fenced, as a colleague's
    assert "Rules:" not in server.brief("lint the egret folder twice?")


@pytest.mark.atlas("tombstone.survives_ttl_and_prune")
@pytest.mark.parametrize("how", ["reject", "forget"])
def test_it_outlives_every_expiry(server: ServerSite, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the server ages a memory; it deletes finished items of the queue, and rewrites tables."""
    value = f"Always tag the {how} curlew images twice."
    made = server.save(value)
    put_away(server, how, made)
    later = time.time_ns() + 20 * YEAR_MS * 10**6
    monkeypatch.setattr(time, "time_ns", lambda: later)
    server.work()
    with server.database.owning() as connection:
        connection.execute("UPDATE job SET finished = finished - interval '20 years'")
        prune(connection, server.site.server.team.team)
        assert connection.execute("SELECT count(*) FROM job").fetchone() == (0,)
    server.rebuild()
    say_everywhere(server, value, made)
    assert units(server, f"{how} curlew") == []
    server.save(f"Never tag the {how} curlew images on Fridays.")
    assert len(units(server, f"{how} curlew")) == 1


@pytest.mark.atlas("tombstone.key_normalization_attack")
@pytest.mark.parametrize("how", ["reject", "forget"])
def test_look_alikes_are_refused_and_a_paraphrase_is_not(server: ServerSite, how: str) -> None:
    project = {"project": f"acme/{how}"}
    made = server.save(COMMON, **project)
    put_away(server, how, made)
    told = server.tool("remember", items=[{"text": text} for text in LOOK_ALIKES.values()], **project)
    assert told.splitlines() == [f"Known as {made}."] * len(LOOK_ALIKES)
    for name, text in LOOK_ALIKES.items():
        answer = server.post("ada", "/memories", text=text, by="agent", **project)
        assert (answer["memory"]["id"], answer["known"]) == (made, True), name
    assert server.texts(**project) == server.texts("candidate", **project) == []
    paraphrase = "Packages are installed with pnpm and nothing else."
    server.tool("remember", text=paraphrase, **project)
    assert server.texts(**project) == [paraphrase]


@pytest.mark.atlas("tombstone.reextraction_stays_inactive")
@pytest.mark.parametrize("how", ["reject", "forget"])
def test_reading_the_source_again_brings_nothing_back(server: ServerSite, how: str) -> None:
    """A reader reads the same session again, a copy of it, and another agent's."""
    word, project = f"{how}-dipper", f"acme/{how}-dipper"
    value, other = f"Always pack the {word} crate twice.", f"Never ship the {word} crate by rail."
    prompts = [f"From now on, {text[0].lower()}{text[1:]}" for text in (value, other)]

    def keep_all(asked: dict[str, Any]) -> dict[str, Any]:
        items = [
            {"text": text, "kind": "rule", "scope": "project", "quote": one["text"], "turn": one["turn"]}
            for one in asked["messages"]
            for text in (value, other)
            if text[1:] in one["text"]
        ]
        return {"items": items, "candidates": [], "summary": None}

    with model_server() as model:
        model.answer = keep_all
        settings = Settings("", reader_mode="endpoint", reader_url=model.url, reader_model="toy")
        judged = server.with_settings(reader=open_reader(settings, {}), reader_daily_tokens=100_000)
        judged.push(f"{word}-1", *prompts, project=project)
        judged.pass_time()
        found = judged.get("ada", "/memories", project=project)["memories"]
        assert {one["text"] for one in found} == {value, other}
        put_away(judged, how, next(one["id"] for one in found if one["text"] == value))
        judged.push(
            f"{word}-1", *prompts, f"From now on, {value[0].lower()}{value[1:]} Please.", project=project
        )
        judged.push(f"{word}-2", *prompts, project=project)
        judged.push(f"{word}-3", *prompts, project=project, agent="claude-code")
        asked = len(model.requests)
        judged.pass_time()
        assert len(model.requests) > asked  # it was read again
        judged.rebuild()
        assert judged.texts(project=project) == [other]
        assert "twice" not in judged.brief(f"pack or ship the {word} crate?", project=project)
        assert "by rail" in judged.brief(f"pack or ship the {word} crate?", project=project)
        judged.close()


@pytest.mark.atlas("tombstone.no_second_memory_unit")
def test_a_value_said_again_makes_no_second_unit(server: ServerSite) -> None:
    value = "Always format the plover folder with black."
    first = server.save(value)
    assert server.save(value) == server.save(f"{value[:-1]}!") == first
    put_away(server, "reject", first)

    def every() -> set[str]:
        lists = [
            server.get("ada", "/memories", all_projects=True, status=one)["memories"]
            for one in (*AWAY, "dismissed")
        ]
        return {one["id"] for found in lists for one in found if "plover" in one["text"]}

    say_everywhere(server, value, first)
    assert every() == {first}
    kinds = [one["kind"] for one in server.get("ada", "/operations", limit=5000) if one["memory"] == first]
    assert kinds.count("refuse") >= 5  # the write collides with it and makes nothing
