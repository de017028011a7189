"""Test that no secret gets from tool calls into told's files or answers."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.hook.desk import Desk
from tests.mcp.caller import call, greeting, request
from tests.redact.canary import TEXT, TOKEN, leaks, told_files, variables
from tests.redact.test_canary import assert_clean, assert_prints_nothing
from tests.redact.ways_in import FIELDS, ITEMS, TOOLS
from tests.soak import points
from told.cli.mcp import Tools
from told.mcp.server import Server
from told.mcp.tools import STATEMENT
from told.mcp.tools import TOOLS as TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDED: dict[str, Any] = {
    "ids": ["mnobody"],
    "query": "pnpm", "id": "pnpm", "text": "We use pnpm in this house.", "goal": "Move to pnpm",
    "topic": "pnpm", "question": "Do we use pnpm?", "useful": True,
    "items": [{"text": "We use pnpm in this house."}],
}  # fmt: skip


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """A machine with debug logs and with secrets in its variables."""
    made = Desk(tmp_path, capsys)
    made.environ |= {**variables(), "TOLD_DEBUG": "1"}
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.folder("code/shop"))
    assert made.told("remember", "We use pnpm here, never npm.").code == 0
    yield made
    gc.enable()


class Agent:
    """An MCP client that checks every answer for secrets."""

    def __init__(self, desk: Desk, name: str, *roots: str) -> None:
        self._server = Server(Tools(desk.environ))
        hello = greeting(roots={})
        hello["params"]["clientInfo"]["name"] = name
        self.ask(hello)
        self._server.answer({"jsonrpc": "2.0", "method": "notifications/initialized"})
        question = self._server.question()
        assert question is not None
        found = {"roots": [{"uri": f"file://{root}"} for root in roots]}
        self._server.answer({"jsonrpc": "2.0", "id": question["id"], "result": found})

    def ask(self, message: dict[str, Any]) -> None:
        """Send a message and check the answer."""
        answer = self._server.answer(message)
        if message["method"] != "resources/read":
            said = answer
        elif "error" in answer:  # which address was asked for is said again beside it, as the protocol wants
            said = answer["error"]["message"]
        else:
            said = [one["text"] for one in answer["result"]["contents"]]
        assert leaks([(json.dumps(message)[:300], json.dumps(said).encode())]) == []


def given(tool: str, name: str, text: str) -> dict[str, Any]:
    """Return valid arguments of which one is this text."""
    table = next(one for one in TABLE if one.name == tool)
    needed = {one: NEEDED[one] for one in table.schema.get("required", ())}
    kind = {**table.schema["properties"], **table.more}[name]["type"]
    return needed | {name: [text, "and more"] if kind == "array" else text}


@pytest.mark.parametrize("tool", TOOLS)
def test_no_leak_from_tool_arguments(desk: Desk, tool: str) -> None:
    agent = Agent(desk, "codex-mcp-client", str(Path.cwd()))
    for name in TOOLS[tool]:
        texts = (TEXT, f"/srv/{TOKEN}/x", TOKEN, f"We keep {TOKEN} at hand.", f"--{name}={TOKEN}")
        for text in texts[: points(everyday=2, soak=5)]:
            agent.ask(call(tool, **given(tool, name, text)))
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_no_leak_from_statements(desk: Desk) -> None:
    agent = Agent(desk, "codex-mcp-client", str(Path.cwd()))
    agent.ask(call("remember", items=ITEMS))
    for item in (*ITEMS, {"text": "The shelf is red.", TOKEN: TOKEN}, [TOKEN], {"quote": TOKEN}):
        agent.ask(call("remember", items=[item]))
        agent.ask(call("remember", items=json.dumps([item])))
    rows = desk.told("memories", "--status", "candidate", "--json").json["memories"]
    assert any("[secret:" in one["text"] for one in rows), "the words around it are kept"
    assert any("number 2 is green" in one["text"] for one in rows)
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_no_leak_from_client_info_and_roots(desk: Desk) -> None:
    folder = desk.folder(f"code/{TOKEN}")
    for name, root in ((TOKEN, folder), (f"codex {TEXT}", folder), ("codex", f"/no/{TOKEN}")):
        agent = Agent(desk, name, root)
        for tool in TOOLS:
            first = TOOLS[tool][0]
            agent.ask(call(tool, **given(tool, first, NEEDED.get(first, "pnpm"))))
        agent.ask(call("remember", text="The shelf is green.", project=folder))
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_no_leak_from_unknown_tools_and_resources(desk: Desk) -> None:
    agent = Agent(desk, "codex")
    agent.ask(call(TOKEN))
    agent.ask(call("search", **{TOKEN: TOKEN, "query": 7}))
    for uri in ("told://brief", "told://memories", f"told://show/{TOKEN}", f"told://{TOKEN}"):
        agent.ask(request("resources/read", {"uri": uri}))
    agent.ask(request("prompts/get", {"name": TOKEN}))
    assert leaks(told_files(desk.told_home).items()) == []


def test_every_tool_and_argument_is_listed() -> None:
    taken = {
        tool.name: {
            name for name, one in {**tool.schema["properties"], **tool.more}.items()
            if one["type"] in ("string", "array")
        }
        for tool in TABLE
    }  # fmt: skip
    assert {name: set(texts) for name, texts in TOOLS.items()} == taken
    assert set(FIELDS) == set(STATEMENT)
