"""The page about the tools says what the server does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from told.mcp.server import SESSION_VERSIONS
from told.mcp.tools import PROMPTS, RESOURCES, TEMPLATES, TOOLS

if TYPE_CHECKING:
    from tests.cli.machine import Machine

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")


def test_every_tool_is_in_the_table_with_all_that_agents_are_told_of() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE))
    assert list(rows) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        assert (
            re.findall(r"`(\w+)`", rows[tool.name].partition("(")[0])[:1]
            == list(tool.schema["properties"])[:1]
        )
        named = set(re.findall(r"`(\w+)`", rows[tool.name])) - {"memories", "sessions", "checkpoints", "all"}
        fields = {name for one in tool.schema["properties"].values()
                  for name in one.get("items", {}).get("properties", ())}  # fmt: skip
        assert named == set(tool.schema["properties"]) | fields, tool.name
        for name in tool.more:
            assert f"`{name}`" in PAGE


def test_what_there_is_to_read_is_named() -> None:
    for one in (*RESOURCES, *PROMPTS):
        assert f"`{one.get('uri') or one['name']}`" in PAGE
    for one in TEMPLATES:
        assert f"`{str(one['uriTemplate']).replace('{id}', 'ID')}`" in PAGE
    assert f"({SESSION_VERSIONS[0]} to {SESSION_VERSIONS[-1]})" in PAGE


def test_the_entry_that_is_shown_starts_the_server(machine: Machine) -> None:
    entry = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])["mcpServers"]["told"]
    assert entry["command"] == "told"
    messages = re.findall(r"'(\{\"jsonrpc\".*?\})'", PAGE)
    done = subprocess.run(
        [sys.executable, "-m", "told", *entry["args"]], input="\n".join(messages) + "\n", text=True,
        check=True, capture_output=True, env=machine.environ, cwd=machine.home, timeout=120,
    )  # fmt: skip
    hello, tools = map(json.loads, done.stdout.splitlines())
    assert hello["result"]["serverInfo"]["name"] == "told"
    assert len(tools["result"]["tools"]) == len(TOOLS) == 12
