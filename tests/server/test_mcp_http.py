"""MCP over HTTP with the official client: agent-memory's seven tools, with its results."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.server.site import Site
from told.server.app import make_app

_NAMES = {
    "memory_search_guide", "search", "timeline", "get_observations", "save_memory", "create_lesson",
    "search_lessons",
}  # fmt: skip


class Caller:
    """Calls tools of a running server with the token of a person."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token

    def call(self, name: str, **arguments: Any) -> str:
        """Return the text that a tool answers."""
        return self.ask(name, **arguments)[0]

    def ask(self, name: str, **arguments: Any) -> tuple[str, bool]:
        """Return the text that a tool answers, and whether it is an error."""

        async def ask() -> tuple[str, bool]:
            async with self._connected() as client:
                result: Any = await client.call_tool(name, arguments)
                return "".join(one.text for one in result.content), result.is_error

        return asyncio.run(ask())

    def names(self) -> set[str]:
        """Return the names of the tools."""

        async def ask() -> set[str]:
            async with self._connected() as client:
                return {one.name for one in (await client.list_tools()).tools}

        return asyncio.run(ask())

    @contextlib.asynccontextmanager
    async def _connected(self) -> Any:
        headers = {"authorization": f"Bearer {self._token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{self._url}/mcp", http_client=http)) as client,
        ):
            yield client


@contextlib.contextmanager
def running(site: Site) -> Iterator[str]:
    """Run the server of a site on a free port; return its URL."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # small answers at once
    bound.bind(("127.0.0.1", 0))
    config = uvicorn.Config(make_app(site.server), log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


@pytest.fixture
def caller(site: Site) -> Iterator[Caller]:
    """Run a server with agent-memory's tools for a member."""
    with running(site.with_settings(compat=True)) as url:
        yield Caller(url, site.tokens["max"])


def test_the_seven_tools_answer_as_agent_memory_does(caller: Caller) -> None:
    assert caller.names() == _NAMES
    assert "timeline" in caller.call("memory_search_guide")
    for text in ("Orders use an idempotency key", "Retries wait two seconds", "x" * 100):
        saved = json.loads(caller.call("save_memory", text=text))
        assert list(saved) == ["saved", "id", "title"]
        assert saved["title"] == text[:80]
    text = caller.call("search", query="idempotency (key)?", limit=1)
    rows, _, reminder = text.partition("\n\n")
    assert reminder.startswith("Show the user")
    found = json.loads(rows)
    assert [list(one) for one in found] == [["id", "title", "type", "project", "created_at", "score"]]
    assert (found[0]["title"], found[0]["type"], found[0]["project"]) == (
        "Orders use an idempotency key", "discovery", "manual",
    )  # fmt: skip
    assert caller.call("search", query="key", project="other").startswith("[]")
    assert caller.call("search", query="key", dateEnd="2020-01-01").startswith("[]")
    timeline = json.loads(caller.call("timeline", anchor=2, depth_after=5))
    assert [(one["id"], one["position"]) for one in timeline] == [(1, "before"), (2, "anchor"), (3, "after")]
    assert list(timeline[0]) == ["id", "title", "type", "position", "created_at"]
    assert json.loads(caller.call("timeline", query="retries", depth_before=0, depth_after=0))[0]["id"] == 2
    whole = json.loads(caller.call("get_observations", ids=[1, 99]).partition("\n\n")[0])
    assert [one["narrative"] for one in whole] == ["Orders use an idempotency key"]
    assert not {"raw_text", "score"} & whole[0].keys()


def test_lessons_by_tool(caller: Caller) -> None:
    made = json.loads(
        caller.call("create_lesson", rule="never push", title="push", severity="odd", project="p")
    )
    assert made == {"saved": True, "id": 1, "title": "push", "severity": "warning", "project": "p"}
    assert [one["rule"] for one in json.loads(caller.call("search_lessons", query="pushing"))] == [
        "never push"
    ]
    assert json.loads(caller.call("search_lessons", query="pushing", project="q")) == []


def test_errors_are_texts(caller: Caller) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("timeline", {}),
        ("timeline", {"anchor": 77}),
        ("get_observations", {"ids": "x"}),
        ("save_memory", {}),
        ("create_lesson", {"rule": "r", "trigger_pattern": "("}),
        ("search", {"query": "x", "limit": 0}),
    ]
    for name, arguments in calls:
        assert list(json.loads(caller.call(name, **arguments))) == ["error"], name


def test_a_reader_saves_nothing_and_an_unknown_tool_is_named(site: Site) -> None:
    with running(site.with_settings(compat=True)) as url:
        reader = Caller(url, site.tokens["rea"])
        assert reader.ask("save_memory", text="x") == (
            "This needs the role member, and your token has reader.", True,
        )  # fmt: skip
        assert reader.ask("nope") == ('Unknown tool "nope".', True)


def test_without_the_setting_there_is_none_of_these_tools(site: Site) -> None:
    with running(site) as url:
        assert Caller(url, site.tokens["max"]).names() & _NAMES == {"search"}  # told's own


def test_mcp_needs_a_token_even_where_the_rest_does_not(site: Site) -> None:
    open_site = site.with_settings(compat=True, compat_open=True)
    assert open_site.client().post("/mcp", json={}).status_code == 401
    assert site.of("max").get("/mcp").status_code == 405
