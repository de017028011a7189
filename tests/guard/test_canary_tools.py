"""A secret that an agent gives to a tool is neither in what told writes nor in what it answers."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.guard.canary import TEXT, TOKEN, leaks, told_files, variables
from tests.guard.test_canary import assert_clean, assert_prints_nothing
from tests.guard.ways_in import TOOLS
from tests.hook.desk import Desk
from tests.serve.mcp.caller import call, greeting, request
from told.cli.tools import Tools
from told.serve.mcp.server import Server
from told.serve.mcp.tools import TOOLS as TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDED: dict[str, Any] = {
    "query": "pnpm", "id": "pnpm", "text": "We use pnpm in this house.", "goal": "Move to pnpm",
    "topic": "pnpm", "question": "Do we use pnpm?", "useful": True,
}  # fmt: skip


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """A machine that logs all it can, and whose variables hold secrets."""
    made = Desk(tmp_path, capsys)
    made.environ |= {**variables(), "TOLD_DEBUG": "1"}
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.folder("code/shop"))
    assert made.told("remember", "We use pnpm here, never npm.").code == 0
    yield made
    gc.enable()


class Agent:
    """A client of told's server; no answer that it gets has a secret."""

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
        """Send a message, and look at what comes back."""
        answer = self._server.answer(message)
        if message["method"] != "resources/read":
            said = answer
        elif "error" in answer:  # which address was asked for is said again beside it, as the protocol wants
            said = answer["error"]["message"]
        else:
            said = [one["text"] for one in answer["result"]["contents"]]
        assert leaks([(json.dumps(message)[:300], json.dumps(said).encode())]) == []


def given(tool: str, name: str, text: str) -> dict[str, Any]:
    """Return arguments of which one is this text, and the others are what is usual."""
    table = next(one for one in TABLE if one.name == tool)
    needed = {one: NEEDED[one] for one in table.schema.get("required", ())}
    kind = {**table.schema["properties"], **table.more}[name]["type"]
    return needed | {name: [text, "and more"] if kind == "array" else text}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_text_that_a_tool_takes(desk: Desk, tool: str) -> None:
    agent = Agent(desk, "codex-mcp-client", str(Path.cwd()))
    for name in TOOLS[tool]:
        for text in (TOKEN, TEXT, f"We keep {TOKEN} at hand.", f"--{name}={TOKEN}", f"/srv/{TOKEN}/x"):
            agent.ask(call(tool, **given(tool, name, text)))
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_what_a_client_says_of_itself_and_of_its_folders(desk: Desk) -> None:
    folder = desk.folder(f"code/{TOKEN}")
    for name, root in ((TOKEN, folder), (f"codex {TEXT}", folder), ("codex", f"/no/{TOKEN}")):
        agent = Agent(desk, name, root)
        for tool in TOOLS:
            first = TOOLS[tool][0]
            agent.ask(call(tool, **given(tool, first, NEEDED.get(first, "pnpm"))))
        agent.ask(call("remember", text="The shelf is green.", project=folder))
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_what_is_no_tool_and_no_resource(desk: Desk) -> None:
    agent = Agent(desk, "codex")
    agent.ask(call(TOKEN))
    agent.ask(call("search", **{TOKEN: TOKEN, "query": 7}))
    for uri in ("told://brief", "told://memories", f"told://show/{TOKEN}", f"told://{TOKEN}"):
        agent.ask(request("resources/read", {"uri": uri}))
    agent.ask(request("prompts/get", {"name": TOKEN}))
    assert leaks(told_files(desk.told_home).items()) == []


def test_every_tool_and_all_its_texts_are_named() -> None:
    taken = {
        tool.name: {
            name for name, one in {**tool.schema["properties"], **tool.more}.items()
            if one["type"] in ("string", "array")
        }
        for tool in TABLE
    }  # fmt: skip
    assert {name: set(texts) for name, texts in TOOLS.items()} == taken
