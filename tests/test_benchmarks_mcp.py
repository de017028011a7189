"""The measuring of MCP servers talks to them as agents do, and prints every figure. No time is asserted."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

# The measuring room is not installed; it stands beside the tests.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks import CannotMeasureError, mcp, mcp_peers, report, tools
from benchmarks.__main__ import main
from benchmarks.mcp_talk import Talk
from benchmarks.measure import Command
from told.mcp.tools import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

# One that answers its first call with an error of the tool's, and then ends.
SERVER = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}), flush=True)
    answers = {
        "initialize": {"instructions": "Do."}, "tools/list": {"tools": [{"name": "one"}]},
        "tools/call": {"content": [{"type": "text", "text": "no"}], "isError": True},
    }
    print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": answers[said["method"]]}), flush=True)
    if said["method"] == "tools/call":
        sys.exit("that was all")
"""


@pytest.mark.soak
def test_every_figure_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--quick", "--rounds", "1", "--alone", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert set(figures["goals"]) == {
        "tools listed, multiple", "memory after calls, MB", "tokens of all schemas",
    }  # fmt: skip
    assert all(set(goal) == {"figure", "goal", "reached"} for goal in figures["goals"].values())
    assert list(figures["start"]) == [mcp.BARE, mcp.TOLD]
    row = figures["start"][mcp.TOLD]
    assert all(row[name] > 0 for name in ("listed_ms", "listed_min_ms", "listed_x", "cpu_ms", "cpu_x"))
    assert figures["start"][mcp.BARE]["listed_x"] == 1
    assert all(value > 0 for value in figures["memory"][mcp.TOLD].values())
    assert figures["schemas"][mcp.TOLD]["tools"] == len(TOOLS)
    assert figures["schemas"][mcp.TOLD]["tokens"] > figures["schemas"][mcp.TOLD]["tokens_by_4"] > 0
    assert figures["call"][mcp.TOLD]["median_ms"] > 0
    assert figures["calls_that_failed"] == "none"
    assert list(figures["tools_of_told"]) == [tool.name for tool in TOOLS]
    assert figures["other_servers"] == dict.fromkeys(mcp_peers.NAMES, "left out")
    assert (figures["sessions"], figures["memories"]) == (10, 103)
    assert "initialize" in figures["how"]
    assert max(map(len, report.table(figures).splitlines())) <= report.WIDTH


def test_a_server_that_fails_is_heard_out(tmp_path: Path) -> None:
    command = Command([sys.executable, "-c", SERVER], {}, str(tmp_path))
    with Talk(command) as talk:
        assert talk.listed() == [{"name": "one"}]
        assert talk.instructions == "Do."
        assert talk.memory().peak >= talk.memory().now > 1
        assert talk.call("one", {})[1:] == ("no", True)
        with pytest.raises(CannotMeasureError, match="that was all"):
            talk.call("one", {})
        assert talk.end() > 0


def test_a_tool_that_cannot_be_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tools, "install", lambda *_, **__: tools.Peer("", "could not be installed: no network")
    )
    found = mcp_peers.installed(str(tmp_path / "cache"), str(tmp_path / "work"), {})
    assert found.servers == {}
    assert set(found.state) == set(mcp_peers.NAMES)
    assert all(why.startswith("not measured; ") for why in found.state.values())
    assert "no network" in found.state[mcp_peers.SDK]


def test_a_folder_without_a_history_is_said(tmp_path: Path) -> None:
    given = argparse.Namespace(
        data=str(tmp_path), quick=True, rounds=1, alone=True, peers="", source=[], json=True
    )
    with pytest.raises(CannotMeasureError, match="no session"):
        mcp.run(given)
