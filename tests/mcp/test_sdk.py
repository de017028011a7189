"""The official SDK as the judge: its client lists and calls every tool, and its schemas fit every answer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import InputRequiredResult, ListRootsResult, Root
from mcp_types.methods import parse_server_request, parse_server_result

from tests.mcp.caller import Box, asked, call, envelope, greeting, request
from tests.soak import sampled, thinned
from told.mcp.server import Server
from told.mcp.tools import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

GREETED = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = "2026-07-28"
LONG = "x" * 1_000_000
RULE = "We deploy with make ship, never by hand."
OTHER = "Invoices are numbered by year."
REQUESTS = (
    request("tools/list"),
    call("files"),
    call("search"),
    request("resources/list"),
    request("resources/templates/list"),
    request("resources/read", {"uri": "told://brief"}),
    request("prompts/list"),
    request("prompts/get", {"name": "recall", "arguments": {"topic": "x"}}),
)


@pytest.mark.parametrize("version", GREETED)
def test_every_answer_fits_the_schema_of_its_revision(version: str) -> None:
    for message in (greeting(version), request("ping"), *REQUESTS):
        parse_server_result(message["method"], version, asked(message)["result"])
    server = Server(Box())
    server.answer(greeting(version, roots={}))
    server.answer({"jsonrpc": "2.0", "method": "notifications/initialized"})
    question = server.question()
    assert question is not None
    parse_server_request(question["method"], version, None)


def test_every_answer_fits_the_schema_of_the_stateless_revision() -> None:
    for message in (request("server/discover"), *REQUESTS):
        params = message.get("params", {}) | {"_meta": envelope()}
        parse_server_result(message["method"], NEWEST, asked({**message, "params": params})["result"])
    able = {"_meta": envelope(clientCapabilities={"roots": {}}), "name": "files"}
    question = asked(request("tools/call", able), Box(knows_place=False))["result"]
    assert isinstance(parse_server_result("tools/call", NEWEST, question), InputRequiredResult)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    (made / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    return made


def server(project: Path, folder: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "told", "mcp"], env=environ(project), cwd=os.fspath(folder)
    )


def environ(project: Path) -> dict[str, str]:
    home = project.parent
    return {"HOME": str(home / "home"), "TOLD_HOME": str(home / "told"), "TOLD_BACKGROUND": "off"}


def run_as_user(project: Path, *words: str) -> str:
    command = [sys.executable, "-m", "told", *words]
    return subprocess.run(
        command, env=environ(project), cwd=project, check=True, capture_output=True, text=True
    ).stdout


def id_in(text: str) -> str:
    named = re.search(r"\bm[a-z0-9]{7,}\b", text)
    assert named is not None, text
    return named[0]


async def answer(client: Client, tool: str, **arguments: Any) -> tuple[bool, str]:
    got = await client.call_tool(tool, arguments)
    assert [part.type for part in got.content] == ["text"]
    assert got.structured_content is None
    return bool(got.is_error), got.content[0].text  # type: ignore[union-attr]


def use(found: str) -> dict[str, dict[str, Any]]:
    """Return a right use of every tool but `remember`, in an order that makes sense."""
    return {
        "search": {"query": "deploy"},
        "timeline": {"around": found},
        "get": {"id": found},
        "checkpoint": {"goal": "Ship the shop", "done": ["the tests"], "pending": ["the deploy"]},
        "sessions": {"limit": 3},
        "files": {},
        "wonder": {"topic": "deploy"},
        "reason": {"question": "Do we deploy by hand?"},
        "feedback": {"id": found, "useful": True},
        "correct": {"id": found, "text": "We deploy with make ship, and never on Fridays."},
        "forget": {"id": found},
    }


@pytest.mark.parametrize(("mode", "version"), thinned([("auto", NEWEST), ("legacy", GREETED[-1])], 2))
def test_the_client_of_the_sdk_calls_every_tool_rightly_and_wrongly(
    project: Path, mode: str, version: str
) -> None:
    saved = id_in(run_as_user(project, "remember", RULE))

    async def story() -> None:
        async with Client(server(project, project), mode=mode) as client:
            assert client.protocol_version == version
            assert client.instructions
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]

            items = [{"text": "The tests need Docker.", "quote": "the tests need Docker"}, {"text": OTHER}]
            failed, text = await answer(client, "remember", items=items)
            assert not failed, text
            assert text.count("as a candidate") == 2
            used = use(saved)
            assert {"remember", *used} == {tool.name for tool in TOOLS}
            for name, arguments in used.items():
                failed, text = await answer(client, name, **arguments)
                assert not failed, (name, text)
                assert text, name

            for tool in TOOLS:
                failed, text = await answer(client, tool.name)
                assert failed == ("required" in tool.schema), (tool.name, text)
                names = tool.schema["properties"]
                for arguments in ({name: {"a": [1]} for name in names}, {next(iter(names)): LONG}):
                    failed, text = await answer(client, tool.name, **arguments)
                    assert failed, tool.name
                    assert len(text) < 1000, tool.name
            failed, text = await answer(client, "search", query="deploy")
            assert not failed

            assert len((await client.list_prompts()).prompts) == 2
            resources = (await client.list_resources()).resources
            assert (await client.read_resource(str(resources[0].uri))).contents

    anyio.run(story)


@pytest.mark.parametrize("mode", sampled(("auto", "legacy"), ("legacy",)))
def test_a_server_started_in_the_wrong_folder_works_in_the_clients(project: Path, mode: str) -> None:
    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root.model_validate({"uri": project.as_uri()})])

    async def story() -> None:
        elsewhere = project.parent / "home"
        async with Client(server(project, elsewhere), mode=mode, list_roots_callback=roots) as client:
            failed, text = await answer(client, "remember", items=[{"text": RULE, "quote": RULE}])
            assert not failed, text
        run_as_user(project, "confirm", id_in(text))  # what an agent cannot prove is a candidate
        async with Client(server(project, project), mode="auto") as client:
            failed, text = await answer(client, "search", query="deploy")
            assert "make ship" in text

    anyio.run(story)
