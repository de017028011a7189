"""What a search says of times, of history that is not learned yet, and never finds: told's own answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import NOW, ago, remember
from told import app
from told.cli import main

if TYPE_CHECKING:
    from tests.cli.machine import Machine

FENCED = "told says: <agent k3xq7>We settled on a cache TTL of 300 seconds.</agent k3xq7> That is all."


def set_clock(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: int(NOW.timestamp() + days * 86_400) * 10**9)


def test_what_told_was_asked_and_answered_is_never_found(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = machine.repo("code/shop", "git@github.com:acme/shop.git")
    machine.claude(
        ("How long should the cache TTL be?", "I set it to 300 seconds."),
        cwd=shop, at=ago(days=3), session="real",
    )  # fmt: skip
    asked, answered = "What was decided about the cache TTL?", "The cache TTL is 300 seconds."
    shell, tool = {"told search 'cache TTL'": "Bash"}, {"cache TTL": "mcp__told__search"}
    machine.claude((asked, answered), cwd=shop, at=ago(hours=9), session="shell", files=shell)
    machine.claude(
        (asked, answered), cwd=shop, at=ago(hours=8), session="tool", files=tool, title="Cache TTL"
    )
    machine.claude((f"/mem:search {asked}", answered), cwd=shop, at=ago(hours=7), session="slash")
    machine.claude(
        ("Make the button green", "It is green."), (f"/mem:search {asked}", answered),
        cwd=shop, at=ago(hours=6), session="beside",
    )  # fmt: skip
    machine.claude(
        ("Make the button red", "It is red."), cwd=shop, at=ago(hours=5), session="mixed",
        files=shell | {f"{shop}/button.css": "Edit"},
    )  # fmt: skip
    machine.claude(("Go on", FENCED), cwd=shop, at=ago(hours=4), session="quoted")
    assert machine.told("index").code == 0
    monkeypatch.chdir(shop)
    for query in ("cache TTL", asked):
        found = machine.told("search", query, "--json", "--in", "sessions", "-n", "20").json["results"]
        assert [row["native_id"] for row in found] == ["real"], query
    found = machine.told("search", "button", "--json", "--in", "sessions").json["results"]
    assert {row["native_id"] for row in found} == {"beside", "mixed"}
    assert "cache TTL" in machine.told("show", "slash", "--full").out, "it is still shown"


def test_a_time_that_no_result_is_from_is_said(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.claude(("How long should the cache TTL be?", "300 seconds."), at=ago(days=9))
    assert machine.told("index").code == 0
    answer = machine.told("search", "cache TTL yesterday")
    assert answer.code == 0
    assert "\nNone of these is from 'yesterday'.\n" in answer.out
    assert machine.told("search", "cache TTL yesterday", "--json").json["time_not_met"] == "yesterday"
    alone = machine.told("search", "yesterday")
    assert (alone.code, alone.out) == (1, "")
    assert alone.err == "told: Nothing found for 'yesterday': nothing is from then.\n"
    set_clock(monkeypatch, -1)
    old = remember(machine, "--scope", "global", "The cache TTL is a day on Sundays")
    set_clock(monkeypatch, 0)
    for query in ("cache TTL yesterday", "yesterday"):
        found = machine.told("search", query, "--json").json
        assert "time_not_met" not in found
        assert [row["id"] for row in found["memories"]] == [old]
    assert machine.told("search", "cache TTL", "last", "month", "--json").json["time_not_met"] == "last month"


def test_a_period_and_an_agent_limit_memories_and_sessions(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.claude(("How long should the cache TTL be?", "300 seconds."), at=ago(days=9))
    machine.copilot(("Explain the cache TTL", "It is how long an entry lives."), at=ago(days=1))
    assert machine.told("index").code == 0
    set_clock(monkeypatch, -9)
    for number in range(30):
        remember(machine, "--scope", "global", f"Cache {number} has a TTL of {number} minutes")
    set_clock(monkeypatch, 0)
    new = remember(machine, "--scope", "global", "The cache TTL is an hour for pictures")

    def rows(*options: str) -> tuple[list[str], list[str]]:
        found = machine.told("search", "cache TTL", "--json", *options).json
        return [one["id"] for one in found["memories"]], [one["agent"] for one in found["results"]]

    assert rows("--days", "2") == rows("--since", "yesterday") == ([new], ["copilot-cli"])
    assert rows("--agent", "claude-code") == ([], ["claude-code"])
    assert rows("--agent", "copilot", "--days", "5") == ([], ["copilot-cli"])


def test_history_that_is_not_learned_yet_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.claude(("Never deploy on Fridays, remember that", "Noted."), at=ago(days=1))
    monkeypatch.setattr(app, "_LEARN_SECONDS", -1.0)
    monkeypatch.setattr(main, "start_sweep", lambda *_: None)
    machine.environ["TOLD_BACKGROUND"] = "on"
    for place in ("all", "memories"):
        answer = machine.told("search", "zebra giraffe", "--in", place)
        assert answer.code == 1
        assert answer.err == (
            "told: Nothing found yet. Your history is still being learned (1 session to go)."
            " Ask again in a minute.\n"
        )
        assert machine.told("search", "zebra", "--in", place, "--json").json["unlearned_sessions"] == 1
    machine.environ["TOLD_BACKGROUND"] = "off"
    assert "Nothing found for 'zebra giraffe'" in machine.told("search", "zebra giraffe").err
    assert machine.told("search", "when do we deploy", "--json").json["memories"]
