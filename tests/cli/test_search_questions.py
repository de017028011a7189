"""`told search`, MCP `search` and a brief find the same memory for a question in other words."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.asking import Asking
from tests.cli.machine import ago, remember
from tests.soak import points

if TYPE_CHECKING:
    from tests.cli.machine import Machine

DATA = tomllib.loads(
    (Path(__file__).parent.parent / "data" / "search_questions.toml").read_text(encoding="utf-8")
)


def test_a_paraphrased_question_finds_its_memory_everywhere(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = machine.repo("code/shop", "git@github.com:acme/shop.git")
    for days, talk in enumerate(DATA["sessions"], 1):
        machine.claude((talk["asked"], talk["answered"]), cwd=shop, at=ago(days=days))
    monkeypatch.chdir(shop)
    assert machine.told("index").code == 0
    others = [line for one in DATA["others"] for line in one["text"].strip().splitlines()]
    others = others[:: points(everyday=3, soak=1)]
    for text in others[::2]:
        remember(machine, text)
    wanted = {one["question"]: remember(machine, one["memory"]) for one in DATA["asked"]}
    for text in others[1::2]:
        remember(machine, text)
    agent = Asking(machine, "codex-mcp-client", shop)
    missed: dict[str, list[str]] = {}
    for question, memory in list(wanted.items())[:: points(everyday=3, soak=1)]:
        rows = machine.told("search", question, "--json").json["memories"]
        brief = machine.told("brief", "--prompt", question, "--json")
        found = {
            "search": memory in [row["id"] for row in rows if row["rank"] <= 5],
            "mcp": memory in agent.say("search", query=question),
            "brief": memory in brief.out,
        }
        if not all(found.values()):
            missed[question] = [door for door in found if not found[door]]
    assert missed == {}
    assert len(wanted) >= 16
